"""What a check is, how it fails, and how many ran: the part of the kit that all kinds of component share.

A check is a plain function that returns, or raises `AssertionError` with what it found, or
`unittest.SkipTest` with why it does not apply: exceptions that every test runner understands.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache, partial
from types import ModuleType
from typing import Any
from unittest import SkipTest

from attrs import field, frozen

from faithkit.errors import InputError
from faithkit.testing.fixtures import given_situations_key
from faithkit.wording import describe, did_you_mean

_PREFIX = "check_"


@frozen
class Check:
    """One promise of the written contract, bound to the component that should keep it.

    Attributes
    ----------
    name : str
        What is promised: ``one_explanation_per_row``.
    kind : str
        "plugin", or the kind of the component.
    component : str
        The component's name; for a plugin, its module's.
    run : callable
        Returns None; raises `AssertionError` where the promise is broken, and `unittest.SkipTest` where it
        cannot be tried.
    why : str
        Who relies on the promise.
    expected : str
        Why the plugin is known to break it; empty where it is not.

    Examples
    --------
    >>> check = Check("is_even", "estimator", "mine", lambda: demand(3 % 2 == 0, "mine", "3 is odd", "Add 1"))
    >>> check.id
    'mine-is_even'
    >>> check.run()
    Traceback (most recent call last):
    faithkit.testing.checks.BrokenPromiseError: mine: 3 is odd. Add 1.
    """

    name: str
    kind: str
    component: str
    run: Callable[[], None] = field(repr=False)
    why: str = field(default="", repr=False)
    expected: str = field(default="", repr=False)

    @property
    def id(self) -> str:
        """What a test runner shows: ``shap-one_explanation_per_row``."""
        return f"{self.component}-{self.name}"


@frozen
class Report:
    """What became of a list of checks; it prints how many ran and what is to be mended.

    Attributes
    ----------
    passed : tuple of str
        The ids of the checks that passed.
    failed, skipped, expected : dict
        The ids of the others, each with the reason; expected are failures that the plugin announces.
    errors : dict
        What was raised by those that failed, for whoever wants the traceback.

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

    def __str__(self) -> str:
        ran = len(self.passed) + len(self.failed) + len(self.expected)
        known = f", {len(self.expected)} failed as expected" if self.expected else ""
        counts = f"{len(self.passed)} passed, {len(self.failed)} failed{known}. {len(self.skipped)} skipped."
        lines = [f"{ran} {'check' if ran == 1 else 'checks'} ran: {counts}"]
        lines += [f"failed   {check}: {message}" for check, message in self.failed.items()]
        lines += [f"expected {check}: {reason}" for check, reason in self.expected.items()]
        lines += [f"skipped  {check}: {reason}" for check, reason in self.skipped.items()]
        return "\n".join(lines)


def run(checks: Iterable[Check]) -> Report:
    """Run checks one after another and note what became of each."""
    passed: list[str] = []
    skipped: dict[str, str] = {}
    expected: dict[str, str] = {}
    errors: dict[str, AssertionError] = {}
    for check in checks:
        found = _found(check)
        if isinstance(found, SkipTest):
            skipped[check.id] = str(found)
        elif check.expected and found is not None:
            expected[check.id] = check.expected
        elif found is not None:
            errors[check.id] = found
        elif check.expected:
            mend = "Take it out of the kit's expected_failures."
            errors[check.id] = BrokenPromiseError(
                f"{check.component}: it is expected to fail, and passes. {mend}"
            )
        else:
            passed.append(check.id)
    failed = {name: str(error) or describe(error) for name, error in errors.items()}
    return Report(tuple(passed), failed, skipped, errors, expected)


def _found(check: Check) -> AssertionError | SkipTest | None:
    try:
        check.run()
    except (AssertionError, SkipTest) as found:
        return found
    return None


def check_expected(expected: Mapping[str, str], checks: list[Check]) -> None:
    """Refuse failures that are announced of checks that there are not."""
    known = {name for check in checks for name in (check.name, check.id)}
    for name in expected:
        if name not in known:
            raise InputError(f"there is no check {name!r} to fail here. {did_you_mean(name, known)}".rstrip())


class BrokenPromiseError(AssertionError):
    """What a check found: who broke a promise, and how to mend it. An `assert` of others is none."""


def demand(fulfilled: bool, who: str, found: str, mend: str, cause: BaseException | None = None) -> None:
    """Raise an `AssertionError` that says who broke a promise, what was found, and how to mend it."""
    if not fulfilled:
        raise BrokenPromiseError(_folded(f"{who}: {_ended(found)} {_ended(mend)}")) from cause


class Blocked(SkipTest):
    """A check was not tried, because an earlier one fails."""


def holds(check: Callable[..., None], *subject: Any) -> bool:
    """Whether a check does not fail."""
    return _obstacle(check, subject) is None


def needs(check: Callable[..., None], *subject: Any) -> None:
    """Skip the check that calls this where an earlier one fails, so that one fault is reported once."""
    obstacle = _obstacle(check, subject)
    if obstacle is not None:
        raise Blocked(obstacle)


def _obstacle(check: Callable[..., None], subject: tuple[Any, ...]) -> str | None:
    """Return what an earlier check stands in the way with."""
    raised = _raised(check, subject, given_situations_key())
    if isinstance(raised, Blocked):
        return str(raised)
    if raised is None or isinstance(raised, SkipTest):  # what does not apply is no obstacle
        return None
    return f"{name_of(check)} fails: mend that first."


@cache
def _raised(check: Callable[..., None], subject: tuple[Any, ...], _: Hashable) -> BaseException | None:
    """Try a check, once, whoever asks and however many others need it; return what it raised."""
    try:
        check(*subject)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:  # SystemExit would end all checks
        return raised
    return None


def forget() -> None:
    """Try all checks anew: who asks again may have mended something."""
    _raised.cache_clear()


def name_of(check: Callable[..., None]) -> str:
    """Return a check's name: its function's, without ``check_``."""
    return check.__name__.removeprefix(_PREFIX)


def why_of(check: Callable[..., None]) -> str:
    """Return the reason for a check: its docstring, but for the first line."""
    return " ".join((check.__doc__ or "").partition("\n")[2].split())


def checks_in(module: ModuleType) -> list[Callable[..., None]]:
    """Return the check functions that a module defines, in the order in which they are written."""
    return [
        member
        for name, member in vars(module).items()
        if name.startswith(_PREFIX) and member.__module__ == module.__name__
    ]


def bind(check: Callable[..., None], kind: str, component: str, *subject: Any, name: str = "") -> Check:
    """Tie a check function to what it is asked about."""
    run = partial(_guarded, check, component, subject)
    return Check(name or name_of(check), kind, component, run, why_of(check))


def bind_all(module: ModuleType, kind: str, component: str, *subject: Any) -> Iterator[Check]:
    """Tie every check function of a module to what it is asked about."""
    return (bind(check, kind, component, *subject) for check in checks_in(module))


def _guarded(check: Callable[..., None], who: str, subject: tuple[Any, ...]) -> None:
    """Run a check; what it did not expect, such as an `assert` of others, breaks a promise, too."""
    raised = _raised(check, subject, given_situations_key())
    if raised is None:
        return
    if isinstance(raised, BrokenPromiseError | SkipTest):
        raise raised
    promise = (check.__doc__ or "").partition("\n")[0].removeprefix("Check that ")
    found = f"{describe(raised).rstrip('.')} was raised. Expected that {promise}"
    raise BrokenPromiseError(_folded(f"{who}: {found} The traceback shows where to mend it.")) from raised


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "?")) else f"{sentence}."


def _folded(message: str) -> str:
    return " ".join(message.split())
