"""The reference leaves nothing out: public names, verbs, components, checks, and the names of other libraries."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import faithkit_html
import pytest
from faithkit_conformance import check_targets
from faithkit_conformance.checks import checks_in
from faithkit_conformance.kinds import declaration_checks
from faithkit_conformance.kit import Candidate
from looping import one_test

import faithkit
from faithkit.extension.creation import parameters
from faithkit.extension.registry import KINDS, registry

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = "\n".join(path.read_text() for path in sorted((DOCS / "reference").glob("*.rst")))
COMPONENTS = registry().entries()


@pytest.fixture(autouse=True)
def _extensions_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")


def is_documented(name):
    return (
        re.search(rf"^\.\. (?:auto|py:)\w+:: {re.escape(name)}(?:\(\))?$", REFERENCE, flags=re.M) is not None
    )


@one_test
@pytest.mark.parametrize(
    "module",
    [faithkit, faithkit_html.plots, faithkit.plugin, faithkit.results],
    ids=lambda module: module.__name__,
)
def test_every_public_name_has_its_place(module):
    public = [name for name in module.__all__ if not name.startswith("_")]
    assert [name for name in public if not is_documented(f"{module.__name__}.{name}")] == []


def test_every_verb_has_its_place():
    verbs = {entry.component.name for entry in registry().entries("command")}
    assert set(re.findall(r":prog: faithkit (\S+)", REFERENCE)) == verbs


@one_test
@pytest.mark.parametrize("entry", COMPONENTS, ids=[f"{e.kind}-{e.component.name}" for e in COMPONENTS])
def test_every_component_has_a_summary_documented_parameters_and_an_entry(entry):
    for check in checks_in(declaration_checks):
        check(Candidate(entry))
    assert f".. faithkit-components:: {entry.kind}\n" in REFERENCE
    if entry.kind != "command":
        from component_pages import documentation, facts

        text = "\n".join([*facts(entry), *documentation(entry)])
        assert entry.component.summary in text
        for parameter in parameters(entry):
            assert f"**{parameter.name}**" in text


def test_every_kind_of_component_is_listed():
    assert sorted(re.findall(r"faithkit-components:: (\w+)", REFERENCE)) == sorted(KINDS)


def test_every_check_is_listed():
    modules = {
        f"faithkit_conformance.kinds.{name}" for name in re.findall(r"faithkit-checks:: (\w+)", REFERENCE)
    }
    assert modules == {module.__name__ for module in check_targets.CHECK_MODULES}


@one_test
@pytest.mark.parametrize("module", sorted({m.__name__ for m in check_targets.CHECK_MODULES}))
def test_every_check_says_what_is_promised_and_why(module):
    from faithkit_conformance.checks import check_reason

    for check in checks_in(importlib.import_module(module)):
        assert check.__doc__.startswith(("Check that ", "Check, "))
        assert check_reason(check).endswith(".")


def list_foreign_names():
    for path in sorted((DOCS / "inventories").glob("*.txt")):
        for line in path.read_text().splitlines()[1:]:
            yield line.split()[1]


@one_test
@pytest.mark.parametrize("name", sorted(list_foreign_names()))
def test_a_name_of_another_library_exists(name):
    module, _, attribute = name.rpartition(".")
    assert attribute == "None" or hasattr(importlib.import_module(module or "builtins"), attribute)


@one_test
@pytest.mark.parametrize("path", sorted((DOCS / "_ext").glob("*.py")), ids=lambda path: path.stem)
def test_the_examples_in_the_documentations_extensions_run(path):
    module = importlib.import_module(path.stem)
    try:
        assert doctest.testmod(module).failed == 0
    finally:
        sys.modules.pop(path.stem)
