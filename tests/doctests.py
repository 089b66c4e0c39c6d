"""Collect the doctests of a module as one test, which imports it when it runs and shows every example that fails.

pytest's own ``--doctest-modules`` imports every file to collect, tests too, and makes an item of every function.
"""

import doctest
import functools
import importlib
import operator
from pathlib import Path

import pytest


def pytest_configure(config):
    """Replace pytest's own collector."""
    config.option.doctestmodules = False


def pytest_collect_file(file_path, parent):
    """Collect modules with examples; files of tests have none."""
    if file_path.suffix != ".py" or file_path.name.startswith("test_"):
        return None
    if ">>> " not in file_path.read_text(encoding="utf-8"):
        return None
    return ModuleWithExamples.from_parent(parent, path=file_path)


class ModuleWithExamples(pytest.File):
    """A file with doctests."""

    def collect(self):
        yield Examples.from_parent(self, name="doctests")


class Examples(pytest.Item):
    """All doctests of a module."""

    def runtest(self):
        names = self.config.getini("doctest_optionflags")
        flags = functools.reduce(operator.or_, (doctest.OPTIONFLAGS_BY_NAME[name] for name in names), 0)
        if failures := run_examples(import_module(self.path), flags):
            pytest.fail("".join(failures), pytrace=False)

    def reportinfo(self):
        return self.path, 0, f"doctests of {self.path.name}"


def run_examples(module, flags=0):
    """Run all examples of a module and return what doctest says of each that fails."""
    tests = [test for test in doctest.DocTestFinder().find(module, module.__name__) if test.examples]
    assert tests, f"{module.__name__} has no doctest, though its text has >>>"
    runner, failures = doctest.DocTestRunner(verbose=False, optionflags=flags), []
    for test in tests:
        runner.run(test, out=failures.append)
    return failures


def import_module(path):
    """Import a file by its name in its outermost package.

    Examples
    --------
    >>> import_module(Path(__file__)).__name__
    'doctests'
    """
    folders = [path.parent]
    while (folders[-1] / "__init__.py").is_file():
        folders.append(folders[-1].parent)
    parts = path.relative_to(folders[-1]).with_suffix("").parts
    module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
    assert Path(module.__file__).resolve() == path.resolve(), f"Python imports {module.__file__}, not {path}"
    return module
