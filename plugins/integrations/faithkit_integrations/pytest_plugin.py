"""The fixture `assert_faithful`, which fails a test if explanations are not faithful enough.

pytest imports this module in every run where it is installed. So it imports nothing slow, and faithkit only
at the first assertion.
"""

import os
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import faithkit

MAX_NAME_LENGTH = 150  # characters of the test's name in a file name


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for reports."""
    parser.getgroup("faithkit").addoption(
        "--faithkit-reports",
        metavar="DIR",
        help="write the report of every assert_faithful to this folder, as HTML (or text) and JSON",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Resolve the folder of reports before a test changes the working folder; workers get the full path."""
    option = config.getoption("faithkit_reports")
    if option is None:
        return
    folder = os.path.join(config.invocation_params.dir, option)
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise pytest.UsageError(f"--faithkit-reports {option}: this is a file, give a folder")
    config.option.faithkit_reports = folder


class AssertFaithful:
    """The value of the fixture: call it with a model, rows and at least one limit."""

    def __init__(self, test: str, folder: str | None) -> None:
        self._test_id = test
        self._folder = None if folder is None else Path(folder)
        self._n_calls = 0

    def __call__(
        self,
        model: Any,
        X: Any,
        *,
        consistency: float | None = None,
        sufficiency: float | None = None,
        above_chance: bool = False,
        above_control: bool = False,
        **options: Any,
    ) -> "faithkit.Evaluation":
        """Evaluate, write the report, and compare the lower ends of the intervals with the limits.

        Parameters
        ----------
        model, X, **options
            As in `faithkit.evaluate`; `explainer` and `background` are the most common options.
        consistency, sufficiency : float, optional
            The smallest accepted lower end of the measure's interval, from 0 to 1.
        above_chance : bool
            Whether measures must also be above chance: those with a limit, or all if none has a limit.
        above_control : bool
            Whether sufficiency must also be above its control.

        Returns
        -------
        Evaluation

        Raises
        ------
        AssertionError
            If a limit is missed.
        faithkit.errors.InputError
            If a limit cannot be checked, because its measure was not computed or nothing was tested.

        Warns
        -----
        faithkit.errors.FaithkitWarning
            If a measure meets its limit, but is not above chance.
        """
        __tracebackhide__ = True
        import faithkit
        import faithkit_integrations

        if consistency is None and sufficiency is None and not above_chance and not above_control:
            raise faithkit.errors.InputError("nothing is asserted: give a limit, such as consistency=0.8.")
        result = faithkit.evaluate(model, X, **{"progress": False, **options})
        report_lines = self._write_report(result)
        judgements = faithkit_integrations.judge(
            result,
            consistency=consistency,
            sufficiency=sufficiency,
            above_chance=above_chance,
            above_control=above_control,
        )
        failures = [f"{judgement.words}." for judgement in judgements if judgement.is_kept is False]
        unchecked = [judgement.unchecked for judgement in judgements if judgement.is_kept is None]
        if unchecked:
            raise faithkit.errors.InputError(" ".join(failures + unchecked))
        if failures:
            raise AssertionError("\n".join([" ".join(failures), "", str(result).rstrip(), *report_lines]))
        for judgement in judgements:
            if judgement.is_above_chance is False:
                faithkit.errors.warn(f"{judgement.words}.")
        return result

    def _write_report(self, result: "faithkit.Evaluation") -> list[str]:
        """Write the report, and return lines that name its path."""
        from faithkit_integrations.report_files import report_file

        if self._folder is None:
            return []
        self._n_calls += 1
        suffix = "" if self._n_calls == 1 else f"-{self._n_calls}"
        name = f"{file_name(self._test_id)}{suffix}"
        self._folder.mkdir(parents=True, exist_ok=True)
        report = self._folder / report_file(name)
        result.write(self._folder / f"{name}.json")
        result.write(report)
        return ["", f"report: {report}"]


@pytest.fixture
def assert_faithful(request: pytest.FixtureRequest) -> AssertFaithful:
    """Assert that explanations are faithful: `assert_faithful(model, X, explainer=..., consistency=0.8)`."""
    return AssertFaithful(request.node.nodeid, request.config.getoption("faithkit_reports"))


def file_name(test: str) -> str:
    """Return the file name of a test's report, which is unique for each test.

    Examples
    --------
    >>> file_name("tests/test_loans.py::test_tree"), file_name("tests/test_loans.py::test_of[a/b]")
    ('tests-test_loans.py-test_tree', 'tests-test_loans.py-test_of-a-b-fcb9f7c9')
    """
    joined = "-".join(re.split("/|::", test))
    name = re.sub(r"[^\w.]+", "-", joined, flags=re.ASCII).strip("-")[:MAX_NAME_LENGTH]
    if name == joined and "-" not in test:
        return name
    return f"{name}-{zlib.crc32(test.encode(errors='backslashreplace')):08x}"
