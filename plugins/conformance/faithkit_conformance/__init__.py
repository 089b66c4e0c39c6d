"""The conformance kit: checks of the written contract of components, for authors of plugins.

With pytest, the test of a plugin is::

    import my_plugin
    from faithkit_conformance import parametrize_with_checks

    @parametrize_with_checks(my_plugin)
    def test_my_plugin_keeps_the_contract(check):
        check.run()

Without pytest, call ``print(run_checks(my_plugin))``. A check is a plain function; its docstring gives the
reason for it.
"""

import importlib.util
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attrs import evolve

from faithkit.errors import warn
from faithkit_conformance.check_targets import checks_for
from faithkit_conformance.checks import Check, Report, run
from faithkit_conformance.kit import Kit, Situation
from faithkit_conformance.situations import situation_of

__all__ = [
    "Check",
    "Kit",
    "Report",
    "Situation",
    "checks_for",
    "parametrize_with_checks",
    "run_checks",
    "situation_of",
]


def run_checks(target: Any, *, situations: Mapping[str, Situation] | None = None) -> Report:
    """Run all checks of a plugin or component, without pytest.

    Parameters
    ----------
    target, situations
        As in `checks_for`.

    Returns
    -------
    Report

    Examples
    --------
    >>> from faithkit.plugin import registry
    >>> from faithkit_conformance import run_checks
    >>> print(run_checks(("estimator", registry().find("estimator", "leave-one-out").component)))
    1... checks ran: 1... passed, 0 failed. ... skipped...
    """
    return run(checks_for(target, situations=situations))


def _run_and_warn(check: Check) -> None:
    """Run a check, and show its remark as a warning, which pytest lists."""
    remark = check.run()
    if remark:
        warn(remark)


def parametrize_with_checks(target: Any) -> Callable[[Callable[..., Any]], Any]:
    """Turn each check into a pytest test. The decorated function calls ``check.run()``.

    A failure that the plugin's `Kit` expects is an expected failure of pytest, and a remark is a warning.

    Parameters
    ----------
    target : module, str, tuple, or list of Check
        As in `checks_for`, or a selection of its checks.

    Returns
    -------
    callable
        A decorator: ``pytest.mark.parametrize``.

    Examples
    --------
    >>> from faithkit_conformance import parametrize_with_checks
    >>> @parametrize_with_checks("faithkit")
    ... def test_the_kernel_keeps_its_own_contract(check):
    ...     check.run()
    """
    import pytest

    checks = target if isinstance(target, list) else checks_for(target)
    parameters = []
    for check in checks:
        marks = [pytest.mark.xfail(reason=check.expected, strict=True)] if check.expected else []
        if importlib.util.find_spec("xdist"):
            # checks of a component share cached answers: --dist loadgroup runs them in one worker
            marks.append(pytest.mark.xdist_group(f"{check.kind} {check.component}"))
        warning_check = evolve(check, run=partial(_run_and_warn, check))
        parameters.append(pytest.param(warning_check, id=check.id, marks=marks))
    return pytest.mark.parametrize("check", parameters)
