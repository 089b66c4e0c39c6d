"""Modules that tests import when they run, so that collecting tests imports no large library."""

import importlib.util

import pytest


def import_when_used(name):
    """Return a stand-in for a module, which imports it at the first use of an attribute.

    Without the library, the tests of the file that calls this are skipped, as by `pytest.importorskip`.
    """
    if importlib.util.find_spec(name.partition(".")[0]) is None:
        pytest.skip(f"could not import {name!r}", allow_module_level=True)
    return LazyModule(name)


class LazyModule:
    """The stand-in."""

    def __init__(self, name):
        self.__name__ = name

    def __getattr__(self, attribute):
        if attribute.startswith("__"):  # pytest looks for marks of tests
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self.__name__), attribute)
