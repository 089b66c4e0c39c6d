"""The fixture `assert_faithful`: a test that fails where explanations do not keep what they promise.

pytest imports this module whenever it runs, for everybody who has it installed: so it imports nothing that
takes time, and faithkit only once somebody asserts something.
"""

import os
import re
import warnings
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import faithkit

LONGEST = 150  # characters of a test's name in that of a file


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for reports."""
    parser.getgroup("faithkit").addoption(
        "--faithkit-reports",
        metavar="DIR",
        help="write the report of every assert_faithful to this folder, as HTML and JSON",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Decide where reports go, before any test changes the working folder; workers are told the full path."""
    given = config.getoption("faithkit_reports")
    if given is None:
        return
    folder = os.path.join(config.invocation_params.dir, given)
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise pytest.UsageError(f"--faithkit-reports {given}: this is a file, give a folder")
    config.option.faithkit_reports = folder


class AssertFaithful:
    """What the fixture gives to a test: call it with a model, rows and at least one limit."""

    def __init__(self, test: str, folder: str | None) -> None:
        self._test = test
        self._folder = None if folder is None else Path(folder)
        self._times = 0

    def __call__(
        self,
        model: Any,
        X: Any,
        *,
        consistency: float | None = None,
        sufficiency: float | None = None,
        above_chance: bool = False,
        **options: Any,
    ) -> "faithkit.Evaluation":
        """Evaluate, keep the report, and compare the lower ends of the intervals with the limits.

        Parameters
        ----------
        model, X, **options
            As in `faithkit.evaluate`; `explainer` and `background` are the most usual options.
        consistency, sufficiency : float, optional
            What the lower end of the measure's interval must not be below; from 0 to 1.
        above_chance : bool
            Whether it must be above chance, too: of the measures that have a limit, or of all that were taken
            if none has.

        Returns
        -------
        Evaluation

        Raises
        ------
        AssertionError
            If a limit is missed.
        faithkit.errors.InputError
            If a limit cannot be checked: its measure was not taken, or nothing was tested.

        Warns
        -----
        faithkit.FaithkitWarning
            If a limit is kept by a measure that is not above chance.
        """
        __tracebackhide__ = True
        import faithkit

        limits = {"consistency": consistency, "sufficiency": sufficiency}
        if all(limit is None for limit in limits.values()) and not above_chance:
            raise faithkit.errors.InputError("nothing is asserted: give a limit, such as consistency=0.8.")
        result = faithkit.evaluate(model, X, **{"progress": False, **options})
        page = self._keep(result)
        judged = result.judge(**limits, above_chance=above_chance)
        missed = [f"{one.words}." for one in judged if one.kept is False]
        unchecked = [one.unchecked for one in judged if one.kept is None]
        if unchecked:
            raise faithkit.errors.InputError(" ".join(missed + unchecked))
        if missed:
            raise AssertionError("\n".join([" ".join(missed), "", str(result).rstrip(), *page]))
        for judgement in judged:
            if judgement.above_chance is False:
                warnings.warn(f"{judgement.words}.", faithkit.FaithkitWarning, stacklevel=2)
        return result

    def _keep(self, result: "faithkit.Evaluation") -> list[str]:
        """Write the report, and return a line that says where it is."""
        if self._folder is None:
            return []
        self._times += 1
        again = "" if self._times == 1 else f"-{self._times}"
        name = f"{file_name(self._test)}{again}"
        self._folder.mkdir(parents=True, exist_ok=True)
        result.to_json(self._folder / f"{name}.json")
        result.to_html(self._folder / f"{name}.html")
        return ["", f"report: {self._folder / name}.html"]


@pytest.fixture
def assert_faithful(request: pytest.FixtureRequest) -> AssertFaithful:
    """Assert that explanations are faithful: `assert_faithful(model, X, explainer=..., consistency=0.8)`."""
    return AssertFaithful(request.node.nodeid, request.config.getoption("faithkit_reports"))


def file_name(test: str) -> str:
    """Return what the files of a test are called; those of two tests never alike.

    Examples
    --------
    >>> file_name("tests/test_loans.py::test_tree"), file_name("tests/test_loans.py::test_of[a/b]")
    ('tests-test_loans.py-test_tree', 'tests-test_loans.py-test_of-a-b-fcb9f7c9')
    """
    parts = "-".join(re.split("/|::", test))
    name = re.sub(r"[^\w.]+", "-", parts, flags=re.ASCII).strip("-")[:LONGEST]
    if name == parts and "-" not in test:
        return name
    return f"{name}-{zlib.crc32(test.encode(errors='backslashreplace')):08x}"
