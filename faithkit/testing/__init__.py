"""The conformance kit: checks of the written contract of components, for authors of plugins.

With pytest, the test of a plugin is::

    import my_plugin
    from faithkit.testing import parametrize_with_checks

    @parametrize_with_checks(my_plugin)
    def test_my_plugin_keeps_the_contract(check):
        check.run()

Without pytest, call ``print(run_checks(my_plugin))``. A check is a plain function; its docstring gives the
reason for it.
"""

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from faithkit.inputs.evaluation_inputs import EvaluationInputs
from faithkit.testing.check_targets import checks_for
from faithkit.testing.checks import Check, Report, check_expected_failures, run
from faithkit.testing.kit import Kit
from faithkit.testing.situations import situation_of

__all__ = [
    "Check",
    "EvaluationInputs",
    "Kit",
    "Report",
    "checks_for",
    "parametrize_with_checks",
    "run_checks",
    "situation_of",
]


def run_checks(
    target: Any, *, distribution: str | None = None, situations: Mapping[str, EvaluationInputs] | None = None
) -> Report:
    """Run all checks of a plugin or component, without pytest.

    Parameters
    ----------
    target, distribution, situations
        As in `checks_for`.

    Returns
    -------
    Report

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> from faithkit.testing import run_checks
    >>> factory = "faithkit.measure.estimators:LeaveOneOut"
    >>> print(run_checks(("estimator", Component(name="mine", factory=factory, summary="The others."))))
    12 checks ran: 12 passed, 0 failed. 0 skipped.
    """
    return run(checks_for(target, distribution=distribution, situations=situations))


def parametrize_with_checks(
    target: Any, expected_failed_checks: Mapping[str, str] | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Turn each check into a pytest test. The decorated function calls ``check.run()``.

    Parameters
    ----------
    target : module, str, tuple, or list of Check
        As in `checks_for`, or a selection of its checks.
    expected_failed_checks : mapping of str to str, optional
        Checks that are expected to fail, each with the reason: by name for every component of the plugin, or
        by id (``shap-chunking_is_irrelevant``) for one. It is an error if one of them passes.

    Returns
    -------
    callable
        A decorator: ``pytest.mark.parametrize``.

    Raises
    ------
    InputError
        If an expected failure names no check.

    Examples
    --------
    >>> from faithkit.extension import builtins
    >>> from faithkit.testing import parametrize_with_checks
    >>> @parametrize_with_checks(builtins)
    ... def test_the_kernel_keeps_its_own_contract(check):
    ...     check.run()
    """
    import pytest

    checks = target if isinstance(target, list) else checks_for(target)
    expected = expected_failed_checks or {}
    check_expected_failures(expected, checks)
    parameters = []
    for check in checks:
        reason = expected.get(check.id, expected.get(check.name, check.expected))
        marks = [] if not reason else [pytest.mark.xfail(reason=reason, strict=True)]
        if importlib.util.find_spec("xdist"):
            # checks of a component share cached answers: --dist loadgroup runs them in one worker
            marks.append(pytest.mark.xdist_group(f"{check.kind} {check.component}"))
        parameters.append(pytest.param(check, id=check.id, marks=marks))
    return pytest.mark.parametrize("check", parameters)
