"""Checks of reporters: they write reports of every class, or say why not, and equal reports alike."""

import re
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
from attrs import frozen

from faithkit import compare
from faithkit.errors import FaithkitError
from faithkit.plugin import Report, Sheet, Table
from faithkit_conformance.checks import BrokenPromiseError, for_each, forbid, require, skip_unless_passes
from faithkit_conformance.equality import are_equal
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kinds.diagnostic_checks import example_results
from faithkit_conformance.kit import Candidate
from faithkit_conformance.wording import describe

_TYPE = re.compile(r"\.[a-z0-9][a-z0-9.+-]*|[a-z]+/[a-z0-9][a-z0-9.+-]*")


@frozen(repr=False)
class Awkward(Report):
    """A report of a plugin whose texts are awkward: markup, quotes, lines, and letters of other languages."""

    texts: tuple[str, ...] = ("<b> & </b>", "\"'`|,;", "two\nlines", "π ≤ ½ 你好")

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"texts": list(self.texts)}

    def line(self) -> str:
        """Return the text for `repr`."""
        return "of awkward texts"

    def sheet(self) -> Sheet:
        """Return a table of the texts."""
        rows = [(text, position / 3) for position, text in enumerate(self.texts)]
        return Sheet.of("Awkward <texts>", Table.of(["text", "number"], rows))


@frozen(eq=False)
class ReporterTrial:
    """A reporter, a copy of one of the kit's reports as the reporter left it, and what it wrote."""

    candidate: Candidate
    name: str
    report: Any
    content: Any


def check_types_are_suffixes_or_media_types(candidate: Candidate) -> None:
    """Check that `types` are suffixes of files (".html") and media types ("text/html"), in small letters.

    `--out page.html` finds the reporter by its suffix, and a notebook by its media type.
    """
    types = candidate.component.types
    remedy = 'Write for example types=(".html", "text/html")'
    require(bool(types), "it names no types", remedy)
    odd = [type_name for type_name in types if not _TYPE.fullmatch(type_name)]
    require(not odd, f"{', '.join(map(repr, odd))} is neither a suffix nor a media type", remedy)


def check_needs_are_texts(candidate: Candidate) -> None:
    """Check that `needs`, if there are any, is a tuple of diagnostics, each as a user writes it.

    They are run before the reporter writes, so that writing computes nothing.
    """
    needs = getattr(create(candidate), "needs", ())
    is_valid = isinstance(needs, tuple) and all(isinstance(text, str) for text in needs)
    require(is_valid, f"needs is {needs!r:.60}", 'Write for example needs = ("contradictions:k=5", "labels")')


def _write(candidate: Candidate, name: str) -> ReporterTrial | FaithkitError:
    """Return what a new reporter writes of one of the kit's reports, or the error that refuses it."""
    reporter, report = create(candidate), deepcopy(example_reports()[name])
    try:
        return ReporterTrial(candidate, name, report, reporter.write(report))
    except FaithkitError as error:
        return error
    except Exception as error:
        remedy = "Write it, or raise a FaithkitError that says what the format needs"
        raise BrokenPromiseError(describe(error), remedy, place=f" on {name}") from error


def check_writes_something(candidate: Candidate) -> None:
    """Check that at least one of the kit's reports is written, and that others raise a `FaithkitError`.

    People write whatever they have: an evaluation, a comparison, an estimate, the report of a plugin.
    """
    outcomes = {name: _write(candidate, name) for name in example_reports()}
    refusals = [f"{name}: {error}" for name, error in outcomes.items() if isinstance(error, FaithkitError)]
    problem = f"it writes no report. {' '.join(refusals)}"
    require(len(refusals) < len(outcomes), problem, "Write at least one of them")


def _reporter_trials(candidate: Candidate) -> list[ReporterTrial]:
    skip_unless_passes(check_writes_something, candidate)
    outcomes = [_write(candidate, name) for name in example_reports()]
    return [outcome for outcome in outcomes if isinstance(outcome, ReporterTrial)]


@for_each(_reporter_trials)
def check_content_is_text_or_bytes(trial: ReporterTrial) -> None:
    """Check that `write` returns what a file shall hold: bytes, or a text that UTF-8 has, and not nothing.

    The kernel writes the file, so that there is never half of one.
    """
    content, remedy = trial.content, "Return a str or bytes; the kernel opens and closes files"
    problem = f"write returned a {type(content).__name__}; expected str or bytes"
    require(isinstance(content, str | bytes), problem, remedy)
    require(len(content) > 0, "write returned nothing", remedy)
    if isinstance(content, str):
        with forbid(UnicodeError, "the text cannot be encoded", "Replace what is no character"):
            content.encode()


@for_each(_reporter_trials, check_content_is_text_or_bytes)
def check_equal_reports_are_written_alike(trial: ReporterTrial) -> None:
    """Check that the same report is written to the same bytes, by another instance too.

    Files can then be compared, and kept with code. A result knows neither the time nor the machine.
    """
    again = _write(trial.candidate, trial.name)
    is_same = isinstance(again, ReporterTrial) and again.content == trial.content
    remedy = "Leave out times, random ids, and the order of sets"
    require(is_same, "one report was written in two ways", remedy)


@for_each(_reporter_trials)
def check_the_report_is_left_alone(trial: ReporterTrial) -> None:
    """Check that writing a report does not change it.

    Several reporters write one result.
    """
    before, after = (report.to_dict() for report in (example_reports()[trial.name], trial.report))
    require(are_equal(before, after), "write changed the report", "Work on a copy")


@cache
def example_reports() -> dict[str, Any]:
    """Return reports to write, of every class that a user may hold.

    Examples
    --------
    >>> list(example_reports())
    ['a_log_of_labels', 'a_log_of_numbers', 'a_model', 'an_estimate', 'a_comparison', 'a_report_of_a_plugin']
    """
    results = example_results()
    X = np.random.default_rng(0).normal(size=(40, 3)).round(1)
    return {
        **results,
        "an_estimate": results["a_log_of_labels"].consistency,
        "a_comparison": compare(_is_positive, X, [np.sign, np.rint], progress=False),
        "a_report_of_a_plugin": Awkward(),
    }


def _is_positive(X: Any) -> Any:
    return X[:, 0] > 0
