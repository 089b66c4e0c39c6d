"""Output of results: a table on stdout, or files that are written completely or not at all."""

import codecs
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import click

from faithkit.cli.shared.gate_options import gate_steps
from faithkit.cli.shared.streams import print_result, result_stream
from faithkit.display import VERBOSE
from faithkit.errors import InputError
from faithkit.files import write_atomically
from faithkit.wording import describe, is_unprintable, to_printable

Step = Callable[[], None]

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


WRITERS: dict[str, Callable[[Any], str]] = {
    "json_path": lambda result: escape_json(result.to_json()),
    "csv_path": lambda result: result.to_frame().map(escape_formula).to_csv(index=False),
    "html_path": lambda result: result.to_html(),
}


def deliver(result: Any, paths: dict[str, str], limits: Mapping[str, Any] | None = None) -> None:
    """Print the result, write its files and check the limits, even if one of these steps fails.

    The failures are raised at the end. A file that could not be written counts more than a missed limit.
    """
    files = {
        name: path for name, path in paths.items() if name != "junit_path"
    }  # which is written at the end
    steps: list[Step] = [partial(_write, result, *file) for file in files.items()]
    if "-" not in paths.values():
        steps.insert(0, lambda: print_result(str(result)))
    run_all(steps if limits is None else [*steps, *gate_steps(result, **limits)])


def needed_diagnostics(diagnostics: Any, paths: Mapping[str, str]) -> Any:
    """Return the diagnostics to run; without a request, quick ones if an output shows them."""
    is_shown = VERBOSE.get() or not paths.keys().isdisjoint({"json_path", "html_path"})
    return () if diagnostics is None and not is_shown else diagnostics


def run_all(steps: Iterable[Step]) -> None:
    """Run every step, even after a failure; then raise the failures."""
    failures = []
    for step in steps:
        try:
            step()
        except Exception as error:
            failures.append(error)
    errors = [failure for failure in failures if not isinstance(failure, click.exceptions.Exit)]
    if len(errors) > 1:
        raise InputError(" ".join(map(describe, errors))) from errors[0]
    for failure in errors or failures:
        raise failure


def _write(result: Any, name: str, path: str) -> None:
    if name == "export_path":
        from faithkit.run.exported_rows import write_log

        write_log(result.result.to_frame("explanations"), path)
    else:
        write_output(name, path, WRITERS[name](result))


def write_output(name: str, path: str, text: str) -> None:
    """Write a result for programs to a file, or to stdout if the path is ``-``."""
    if path == "-":
        write_stdout(name, text)
    else:
        write_atomically(path, text)


def write_stdout(name: str, text: str) -> None:
    """Write a result for programs to stdout: the bytes of a file, or ASCII where stdout is not UTF-8.

    A terminal gets no control characters.
    """
    stream = result_stream()
    is_utf8 = _is_utf8(getattr(stream, "encoding", None))
    if name == "json_path" and not is_utf8:
        text = escape_json(text, ascii_only=True)
    if name in ("html_path", "junit_path") and not is_utf8:
        text = text.encode("ascii", "xmlcharrefreplace").decode("ascii")
    if stream.isatty():
        text = to_printable(text, keep="\n\t")
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
    else:
        stream.flush()
        buffer.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


def escape_json(text: str, ascii_only: bool = False) -> str:
    r"""Return JSON text with escapes for control characters, or for all characters outside ASCII.

    Examples
    --------
    >>> escape_json('["caf\u00e9", "\x9b"]'), escape_json('["caf\u00e9"]', ascii_only=True)
    ('["café", "\\u009b"]', '["caf\\u00e9"]')
    """
    if text.isascii() and "\x7f" not in text:  # json has escaped the rest
        return text
    return "".join(
        _json_escape(character)
        if is_unprintable(character) or (ascii_only and not character.isascii())
        else character
        for character in text
    )


def _json_escape(character: str) -> str:
    if character == "\n":  # between values; inside values it is escaped already
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _is_utf8(encoding: str | None) -> bool:
    try:
        return encoding is None or codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


def escape_formula(value: Any) -> Any:
    """Escape a value that a spreadsheet would read as a formula.

    Examples
    --------
    >>> escape_formula("=HYPERLINK(A1)"), escape_formula("yes"), escape_formula(-0.5)
    ("'=HYPERLINK(A1)", 'yes', -0.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value
