"""Checks and reports: the part of the kit that all kinds of component share.

A check is a plain function. It returns None if it passes, raises `AssertionError` with the problem if it
fails, and `unittest.SkipTest` with the reason if it does not apply. Every test runner understands these
exceptions. `for_each` makes a check of a component from a check of one trial.
"""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache, partial, wraps
from types import ModuleType
from typing import Any, Protocol, TypeVar
from unittest import SkipTest

from attrs import field, frozen

from faithkit.errors import InputError
from faithkit.plugin import did_you_mean
from faithkit_conformance.wording import describe

_PREFIX = "check_"
C = TypeVar("C", bound="Context")


@frozen
class Check:
    """A promise of the written contract, bound to the component that should keep it.

    Attributes
    ----------
    name : str
        The promise: ``one_explanation_per_row``.
    kind : str
        "plugin", or the kind of the component.
    component : str
        The name of the component; for a plugin, the name of its module.
    run : callable
        Returns None, or a remark: a text about what is no failure. Raises `AssertionError` if the promise is
        broken, and `unittest.SkipTest` if it cannot be checked.
    why : str
        The reason for the promise.
    expected : str
        The reason why the plugin is expected to break it; empty if it is not.

    Examples
    --------
    >>> def is_even():
    ...     require(3 % 2 == 0, "3 is odd", "Add 1")
    >>> check = Check("is_even", "estimator", "mine", is_even)
    >>> check.id
    'mine-is_even'
    >>> check.run()
    Traceback (most recent call last):
    faithkit_conformance.checks.BrokenPromiseError: 3 is odd. Add 1.
    """

    name: str
    kind: str
    component: str
    run: Callable[[], str | None] = field(repr=False)
    why: str = field(default="", repr=False)
    expected: str = field(default="", repr=False)

    @property
    def id(self) -> str:
        """The id for test runners: ``shap-one_explanation_per_row``."""
        return f"{self.component}-{self.name}"


@frozen
class Report:
    """The outcomes of a list of checks. Printed, it shows how many ran and what to fix.

    Attributes
    ----------
    passed : tuple of str
        The ids of the checks that passed.
    failed, skipped, expected : dict
        The ids of the other checks, each with the reason. `expected` are failures that the plugin announces.
    errors : dict
        The exceptions of the failed checks, for tracebacks.
    remarks : dict
        What else there is to say, by the ids of the checks, which passed.

    Examples
    --------
    >>> print(Report(("mine-is_odd",), {"mine-is_even": "mine: 3 is odd."}, {}))
    2 checks ran: 1 passed, 1 failed. 0 skipped.
    failed   mine-is_even: mine: 3 is odd.
    """

    passed: tuple[str, ...]
    failed: dict[str, str]
    skipped: dict[str, str]
    errors: dict[str, AssertionError] = field(factory=dict, eq=False, repr=False)
    expected: dict[str, str] = field(factory=dict)
    remarks: dict[str, str] = field(factory=dict)

    def __str__(self) -> str:
        n_run = len(self.passed) + len(self.failed) + len(self.expected)
        expected = f", {len(self.expected)} failed as expected" if self.expected else ""
        counts = (
            f"{len(self.passed)} passed, {len(self.failed)} failed{expected}. {len(self.skipped)} skipped."
        )
        lines = [f"{n_run} {'check' if n_run == 1 else 'checks'} ran: {counts}"]
        lines += [f"failed   {check}: {message}" for check, message in self.failed.items()]
        lines += [f"expected {check}: {reason}" for check, reason in self.expected.items()]
        lines += [f"skipped  {check}: {reason}" for check, reason in self.skipped.items()]
        lines += [f"remark   {check}: {remark}" for check, remark in self.remarks.items()]
        return "\n".join(lines)


def run(checks: Iterable[Check]) -> Report:
    """Run checks one after another and report their outcomes."""
    passed: list[str] = []
    failed: dict[str, str] = {}
    skipped: dict[str, str] = {}
    expected: dict[str, str] = {}
    errors: dict[str, AssertionError] = {}
    remarks: dict[str, str] = {}
    for check in checks:
        try:
            remark = check.run()
        except SkipTest as reason:
            skipped[check.id] = str(reason)
        except AssertionError as error:
            if check.expected:
                expected[check.id] = check.expected
            else:
                failed[check.id], errors[check.id] = str(error) or describe(error), error
        else:
            if check.expected:
                remedy = "Take it out of the kit's expected_failures."
                failed[check.id] = f"{check.component}: it is expected to fail, and passes. {remedy}"
            else:
                passed.append(check.id)
                if remark:
                    remarks[check.id] = remark
    return Report(tuple(passed), failed, skipped, errors, expected, remarks)


def check_expected_failures(expected: Mapping[str, str], checks: list[Check]) -> None:
    """Raise an error if an expected failure names a check that does not exist."""
    known = {name for check in checks for name in (check.name, check.id)}
    for name in expected:
        if name not in known:
            raise InputError(f"there is no check {name!r} to fail here. {did_you_mean(name, known)}".rstrip())


class BrokenPromiseError(AssertionError):
    """A broken promise that a check found. Other errors, such as a failed `assert`, are not of this class."""

    def __init__(self, *sentences: str, place: str = "") -> None:
        ended = (text if text.endswith((".", "?")) else f"{text}." for text in sentences)
        super().__init__(" ".join(" ".join(ended).split()))
        self.place = place  # such as " on mixed_frame"


class Remark(Exception):  # noqa: N818
    """What a check has to say that is no failure: the check passes, and the report shows it."""

    place = ""  # such as " on mixed_frame"


def require(is_kept: bool, problem: str, remedy: str) -> None:
    """Raise an `AssertionError` with the problem and the remedy unless a promise is kept."""
    if not is_kept:
        raise BrokenPromiseError(problem, remedy)


@contextmanager
def forbid(
    errors: type[Exception] | tuple[type[BaseException], ...], problem: str, remedy: str
) -> Iterator[None]:
    """Raise an `AssertionError` if the body raises an exception, which the message describes.

    Examples
    --------
    >>> with forbid(ValueError, "the text is no number", "Write digits"):
    ...     int("seven")
    Traceback (most recent call last):
    faithkit_conformance.checks.BrokenPromiseError: the text is no number: ValueError: invalid literal for
    int() with base 10: 'seven'. Write digits.
    """
    try:
        yield
    except SkipTest:
        raise
    except errors as error:
        raise BrokenPromiseError(f"{problem}: {describe(error)}", remedy) from error


class Context(Protocol):
    """The input of a check: a trial of a component on one model, batch or tally."""

    @property
    def name(self) -> str:
        """The name of the model, batch or tally, for messages."""


def for_each(
    contexts: Callable[[Any], Iterable[C]], *earlier_checks: Callable[[Any], None]
) -> Callable[[Callable[[C], None]], Callable[[Any], None]]:
    """Turn a check of one context into a check of a component, which must pass in every context.

    The check is skipped if an earlier check fails, so that one fault is reported once.
    """

    def decorate(check: Callable[[C], None]) -> Callable[[Any], None]:
        @wraps(check)
        def check_all(argument: Any) -> None:
            for earlier_check in earlier_checks:
                skip_unless_passes(earlier_check, argument)
            for context in contexts(argument):
                try:
                    check(context)
                except (BrokenPromiseError, Remark) as error:
                    error.place = f" on {context.name}"
                    raise

        return check_all

    return decorate


class BlockedCheck(SkipTest):
    """A check was skipped because an earlier check fails."""


def passes(check: Callable[..., None], argument: Any) -> bool:
    """Return whether a check passes or does not apply."""
    return _find_obstacle(check, argument) is None


def skip_unless_passes(check: Callable[..., None], argument: Any) -> None:
    """Skip the calling check if an earlier check fails, so that one fault is reported once."""
    obstacle = _find_obstacle(check, argument)
    if obstacle is not None:
        raise BlockedCheck(obstacle)


def _find_obstacle(check: Callable[..., None], argument: Any) -> str | None:
    """Return why an earlier check blocks later ones; None if it does not."""
    error = _run_cached(check, argument)
    if isinstance(error, BlockedCheck):
        return str(error)
    if error is None or isinstance(error, SkipTest | Remark):  # a check that does not apply blocks nothing
        return None
    return f"{check_name(check)} fails: fix that first."


@cache
def _run_cached(check: Callable[..., None], *arguments: Any) -> BaseException | None:
    """Run a check once, however many other checks depend on it, and return the exception it raised.

    What components print would be mixed with the report.
    """
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            check(*arguments)
    except (Exception, SystemExit) as error:  # SystemExit would end all checks
        return error
    return None


def clear_cache() -> None:
    """Forget the outcomes of checks, since the code may have changed between two runs."""
    _run_cached.cache_clear()


def check_name(check: Callable[..., None]) -> str:
    """Return the name of a check: that of its function without ``check_``."""
    return check.__name__.removeprefix(_PREFIX)


def check_reason(check: Callable[..., None]) -> str:
    """Return the reason for a check: its docstring without the first line."""
    return " ".join((check.__doc__ or "").partition("\n")[2].split())


def checks_in(module: ModuleType) -> list[Callable[..., None]]:
    """Return the check functions of a module, in the order of their definition."""
    return [
        member
        for name, member in vars(module).items()
        if name.startswith(_PREFIX) and member.__module__ == module.__name__
    ]


def bind(check: Callable[..., None], kind: str, component: str, *arguments: Any, name: str = "") -> Check:
    """Bind a check function to its arguments."""
    run = partial(_run_bound, check, component, arguments)
    return Check(name or check_name(check), kind, component, run, check_reason(check))


def bind_all(module: ModuleType, kind: str, component: str, argument: Any) -> list[Check]:
    """Bind every check function of a module to its argument."""
    return [bind(check, kind, component, argument) for check in checks_in(module)]


def _run_bound(check: Callable[..., None], subject: str, arguments: tuple[Any, ...]) -> str | None:
    """Run a check, and return its remark. An unexpected exception also counts as a broken promise."""
    error = _run_cached(check, *arguments)
    if error is None:
        return None
    if isinstance(error, Remark):
        return f"{subject}{error.place}: {error}"
    if isinstance(error, SkipTest):
        raise error
    if isinstance(error, BrokenPromiseError):
        raise BrokenPromiseError(f"{subject}{error.place}: {error}") from error.__cause__
    promise = (check.__doc__ or "").partition("\n")[0].removeprefix("Check that ")
    raise BrokenPromiseError(
        f"{subject}: {describe(error).rstrip('.')} was raised. Expected that {promise}",
        "The traceback shows where to fix it",
    ) from error
