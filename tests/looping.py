"""Tests with many cases as one test: it tells every case that fails, and costs one item instead of hundreds."""

import functools
import inspect
from contextlib import ExitStack
from itertools import product


def one_test(function):
    """Make one test of all cases of `pytest.mark.parametrize`, which stands below: what fails is a subtest each.

    Every case has a `tmp_path` and a `monkeypatch` of its own. Other fixtures are set up once for all cases, so a case
    must leave them as they were.
    """
    marks = function.__dict__.pop("pytestmark")
    tables = [mark for mark in marks if mark.name == "parametrize"]
    names = [name for mark in tables for name in argument_names(mark)]

    @functools.wraps(function)
    def loop(subtests, **fixtures):
        for number, case in enumerate(product(*map(cases_of, tables))):
            arguments = {name: value for _, values in case for name, value in values.items()}
            # a report travels from worker to worker, which takes no unpaired surrogates
            name = "-".join(label for label, _ in case).encode("utf-8", "backslashreplace").decode()
            try:
                with ExitStack() as stack:
                    function(**arguments, **fixtures | fixtures_of_case(fixtures, number, stack))
            except BaseException:  # what passes is not reported: thousands of reports take their time
                with subtests.test(name):
                    raise

    fixtures = [name for name in inspect.signature(function).parameters if name not in names]
    loop.__signature__ = inspect.Signature(
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in ("subtests", *fixtures)]
    )
    loop.pytestmark = [mark for mark in marks if mark.name != "parametrize"]
    return loop


def fixtures_of_case(fixtures, number, stack):
    """Return the fixtures that each case has for itself: a new folder, and patches that end with the case."""
    own = {}
    if "tmp_path" in fixtures:
        own["tmp_path"] = fixtures["tmp_path"] / f"case{number}"
        own["tmp_path"].mkdir()
    if "monkeypatch" in fixtures:
        own["monkeypatch"] = stack.enter_context(fixtures["monkeypatch"].context())
    return own


def argument_names(mark):
    """Return the names of the arguments that a mark gives values to."""
    names = mark.args[0]
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def cases_of(mark):
    """Return a label and the arguments of each case of a mark, whose table may be a function to call when tests run."""
    names, table = argument_names(mark), mark.args[1]
    rows = list(table() if callable(table) else table)
    make_label = mark.kwargs.get("ids") or str
    labels = map(make_label, rows) if callable(make_label) else make_label
    values = [(row,) if len(names) == 1 else row for row in rows]
    return [
        (str(label), dict(zip(names, row, strict=True))) for label, row in zip(labels, values, strict=True)
    ]
