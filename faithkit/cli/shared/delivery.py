"""How results reach the person: the table on stdout, or files that are whole or not there."""

import codecs
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import click

from faithkit.cli.shared.gate_options import check_as_good, check_limits, check_unless, check_worse
from faithkit.cli.shared.streams import results, say
from faithkit.errors import InputError
from faithkit.files import write_whole
from faithkit.wording import describe, is_hidden, visible

Step = Callable[[], None]

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


WRITERS: dict[str, Callable[[Any], str]] = {
    "json_path": lambda found: escaped(found.to_json()),
    "csv_path": lambda found: found.to_frame().map(as_text).to_csv(index=False),
    "html_path": lambda found: found.to_html(),
}


def deliver(found: Any, paths: dict[str, str], limits: Mapping[str, Any] | None = None) -> None:
    """Print the result, write the files and judge it, each whatever became of the others.

    Then end with what went wrong: whatever could not be written comes before a limit that was missed.
    """
    files = {name: path for name, path in paths.items() if name in WRITERS}  # --junit comes when all is over
    steps: list[Step] = [partial(_write, found, *file) for file in files.items()]
    if "-" not in paths.values():
        steps.insert(0, lambda: say(str(found)))
    every(steps if limits is None else [*steps, *_gates(found, **limits)])


def _gates(
    found: Any,
    fail_under: dict[str, float],
    fail_unless: tuple[str, ...],
    fail_unless_as_good: dict[str, float],
    fail_if_worse: dict[str, float],
) -> list[Step]:
    steps: list[Step] = [
        partial(check_limits, found.result, fail_under),
        partial(check_unless, found.result, fail_unless, fail_under),
    ]
    if fail_unless_as_good:
        steps.append(partial(check_as_good, found, fail_unless_as_good))
    if fail_if_worse:
        steps.append(partial(check_worse, found, fail_if_worse))
    return steps


def every(steps: Iterable[Step]) -> None:
    """Take every step, whatever became of those before; then raise what went wrong."""
    troubles = []
    for step in steps:
        try:
            step()
        except Exception as error:
            troubles.append(error)
    errors = [trouble for trouble in troubles if not isinstance(trouble, click.exceptions.Exit)]
    if len(errors) > 1:
        raise InputError(" ".join(map(describe, errors))) from errors[0]
    for trouble in errors or troubles:
        raise trouble


def _write(found: Any, name: str, path: str) -> None:
    put(name, path, WRITERS[name](found))


def put(name: str, path: str, text: str) -> None:
    """Write a result for programs, to a file or to stdout."""
    if path == "-":
        hand_over(name, text)
    else:
        write_whole(path, text)


def hand_over(name: str, text: str) -> None:
    """Write a result for programs to stdout: the bytes of a file, or ASCII where stdout is not UTF-8.

    A terminal gets no control characters.
    """
    stream = results()
    utf8 = _is_utf8(getattr(stream, "encoding", None))
    if name == "json_path" and not utf8:
        text = escaped(text, ascii_only=True)
    if name in ("html_path", "junit_path") and not utf8:
        text = text.encode("ascii", "xmlcharrefreplace").decode("ascii")
    if stream.isatty():
        text = visible(text, keep="\n\t")
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(text)
    else:
        stream.flush()
        buffer.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


def escaped(text: str, ascii_only: bool = False) -> str:
    r"""Return JSON text in which what a terminal would obey, or all that is not ASCII, stands as its escape.

    Examples
    --------
    >>> escaped('["caf\u00e9", "\x9b"]'), escaped('["caf\u00e9"]', ascii_only=True)
    ('["café", "\\u009b"]', '["caf\\u00e9"]')
    """
    if text.isascii() and "\x7f" not in text:  # json has seen to the rest
        return text
    return "".join(
        _json_escape(one) if is_hidden(one) or (ascii_only and not one.isascii()) else one for one in text
    )


def _json_escape(character: str) -> str:
    if character == "\n":  # between values; in them it is an escape already
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def _is_utf8(encoding: str | None) -> bool:
    try:
        return encoding is None or codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


def as_text(cell: Any) -> Any:
    """Return a cell of a table such that no spreadsheet takes it for a formula.

    Examples
    --------
    >>> as_text("=HYPERLINK(A1)"), as_text("yes"), as_text(-0.5)
    ("'=HYPERLINK(A1)", 'yes', -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
