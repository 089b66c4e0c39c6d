"""Write a report: the suffix of the file finds the reporter, and the file is whole or does not exist."""

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from faithkit.errors import ContractError, InputError, ParameterError, PluginError, UnknownComponentError
from faithkit.extension.creation import build
from faithkit.extension.entries import Entry, find_owner
from faithkit.extension.known_plugins import unknown_suffix_message
from faithkit.extension.registry import registry
from faithkit.files import write_atomically
from faithkit.third_party import guard
from faithkit.wording import did_you_mean, join_words

NOTEBOOK = "text/html"


def write_report(report: Any, path: str | Path, **options: Any) -> None:
    """Write a report to a file, by the reporter of its suffix; `options` are the reporter's."""
    write_atomically(path, render_report(find_reporter(path), report, **options))


def find_reporter(path: str | Path) -> Entry:
    """Return the reporter that writes files of this suffix.

    Raises
    ------
    UnknownComponentError
        If there is none; the message says which are installed, or what to install.
    InputError
        If there are several.

    Examples
    --------
    >>> find_reporter("result.JSON").qualified
    'faithkit/json'
    >>> find_reporter("result.docx")
    Traceback (most recent call last):
    faithkit.errors.UnknownComponentError: no installed reporter writes .docx files; installed are ...
    """
    suffix = Path(path).suffix.lower()
    reporters = _reporters_of(suffix)
    owner = find_owner(reporters)
    if owner is not None:
        return owner
    if reporters:
        names = join_words(entry.qualified for entry in reporters)
        raise InputError(f"{path} would be written by {names}: disable one with FAITHKIT_DISABLE.")
    suffixes = {
        kind: entry.component.name
        for entry in registry().entries("reporter")
        for kind in entry.component.types
        if kind.startswith(".")
    }
    raise UnknownComponentError(unknown_suffix_message(str(path), suffix, suffixes, registry().broken))


def render_report(entry: Entry, report: Any, **options: Any) -> str | bytes:
    """Return the content of a report's file in the format of a reporter."""
    reporter = build(entry, {})
    _check_options(entry, reporter, options)
    report = add_needed(report, [entry])
    with guard(f"{entry}", "Tell its authors, or choose another format.", PluginError):
        content = reporter.write(report, **options)
    if not isinstance(content, str | bytes):
        raise ContractError(f"{entry} must return text or bytes. Got {type(content).__name__} instead.")
    return content


def add_needed(report: Any, reporters: Iterable[Entry]) -> Any:
    """Return a report with the diagnoses that reporters need, if it can have some."""
    needs = [name for entry in reporters for name in getattr(entry.component.load(), "needs", ())]
    return (
        report.with_needed(tuple(dict.fromkeys(needs)))
        if needs and hasattr(report, "with_needed")
        else report
    )


def fragment_html(sheet: Any) -> str | None:
    """Return the HTML of a sheet for a notebook; None if no reporter makes HTML, or several do."""
    owner = find_owner(_reporters_of(NOTEBOOK))
    fragment = None if owner is None else getattr(build(owner, {}), "fragment", None)
    return None if fragment is None else str(fragment(sheet))


def _reporters_of(kind: str) -> list[Entry]:
    """Return the reporters of a suffix or a media type."""
    entries = registry().entries("reporter")
    return [entry for entry in entries if kind in map(str.lower, entry.component.types)]


def _check_options(entry: Entry, reporter: Any, options: Mapping[str, Any]) -> None:
    """Refuse options that a reporter does not have."""
    _, *params = inspect.signature(reporter.write).parameters.values()
    if any(param.kind is inspect.Parameter.VAR_KEYWORD for param in params):
        return
    names = [param.name for param in params]
    for option in options:
        if option not in names:
            choice = f"Its options are {join_words(names)}." if names else "It has none."
            sentences = [f"{entry} has no option {option!r}.", did_you_mean(option, names), choice]
            raise ParameterError(" ".join(filter(None, sentences)))
