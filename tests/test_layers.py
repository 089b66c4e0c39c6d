"""Imports run one way: also those for types, in a function's body, in a name in a string and in an example."""

import ast
import doctest
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from looping import one_test

ROOT = Path(__file__).parents[1]
FLOORS = [
    {"extension"},
    {"report"},
    {"arrays"},
    {"explanations"},
    {"measure"},
    {"inputs"},
    {"run"},
    {"cli"},
    {"__main__"},
]
HEIGHT = {wing: height for height, wings in enumerate(FLOORS) for wing in wings}
IMPORT_FROM = re.compile(r"^ *from +([\w.]+) +import +(\([^)]*\)|.*)", re.M)
IMPORT = re.compile(r"^ *import +(.*)", re.M)
TEXT = re.compile(r"""["'](faithkit(?:\.\w+)+)(?:[.:]\w*)?["'{]""")  # a name that is all of a text
TABLES = {"faithkit.extension.builtins", "faithkit.renamed"}  # they list names, and import none


def find_modules(folder):
    """Return the files of a folder's packages, by the names of their modules."""
    files = [file for package in folder.glob("faithkit*") for file in package.rglob("*.py")]
    names = (".".join(file.relative_to(folder).with_suffix("").parts) for file in files)
    return dict(zip((name.removesuffix(".__init__") for name in names), files, strict=True))


KERNEL = find_modules(ROOT)
PLUGINS = {
    name: file for folder in (ROOT / "plugins").iterdir() for name, file in find_modules(folder).items()
}


def read_public_names():
    """Return the module of each public name, dotted."""
    stubs = {"faithkit": "__init__.pyi", "faithkit.plugin": "plugin.pyi", "faithkit.results": "results.pyi"}
    trees = {api: ast.parse((ROOT / "faithkit" / file).read_text("utf-8")) for api, file in stubs.items()}
    imports = [(api, node) for api in trees for node in trees[api].body if isinstance(node, ast.ImportFrom)]
    return {
        f"{api}.{alias.name}": f"faithkit.{node.module}"
        for api, node in imports
        if node.module is not None
        for alias in node.names
    }


PUBLIC = read_public_names()
API = {"faithkit", "faithkit.plugin", "faithkit.results"}
DEBT: dict[str, list[str]] = {}
"""The private modules of the kernel that plugins still use, while their code is on its way out of it."""


def find_targets(source, module="faithkit.report.text", public=PUBLIC):
    """Return the modules of the kernel that some code names; `module` is where the code stands.

    To parse all code would take two seconds, so imports and names are found by their patterns.
    """
    names = [*find_imports(source, module), *find_attributes(source)]
    if module not in TABLES:
        names += TEXT.findall(source)
    return {find_module(name, public) for name in names} - {None, "faithkit.errors", module} - API


def read_examples(source):
    """Return the code in the docstrings of some code; to parse all of it would take a second."""
    blocks = re.findall(r'(?:^ *(?:""")?>>> .*\n(?: *\.\.\. .*\n)*)+', source, re.M)
    texts = (re.sub(r'^ *(?:""")?', "", block, flags=re.M) for block in blocks)
    return "".join(example.source for text in texts for example in doctest.DocTestParser().get_examples(text))


def find_imports(source, module):
    """Yield the dotted names of all that is imported."""
    for start, names in IMPORT_FROM.findall(source):
        dots = len(start) - len(start.lstrip("."))
        package = resolve_package(module, dots) if dots else []
        for name in re.findall(r"[\w*]+", names):
            yield ".".join([*package, *filter(None, [start[dots:]]), name])
    for names in IMPORT.findall(source):
        yield from re.findall(r"[\w.]+", names)


def find_attributes(source):
    """Yield the dotted names of attributes of the kernel, where it is imported as a whole."""
    for alias in re.findall(r"^ *import faithkit(?: as (\w+))?$", source, re.M):
        for names in re.findall(rf"(?<![\w.]){alias or 'faithkit'}((?:\.\w+)+)", source):
            yield f"faithkit{names}"


def resolve_package(module, level):
    """Return the parts of the package that a number of dots stands for."""
    parts, is_package = module.split("."), (KERNEL | PLUGINS)[module].stem == "__init__"
    return parts[: len(parts) - level + is_package]


def find_module(name, public, modules=KERNEL):
    """Return the module to which a dotted name leads: through the table of public names, if it is one."""
    parts = name.split(".")
    known = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
    result = next((module for module in known if module in modules), None)
    if result not in API:
        return result
    size = result.count(".") + 2
    return public.get(".".join(parts[:size]), result)


def runs_up(here, there):
    """Whether a module may not know another: one of a higher wing, or of the other wing of its floor."""
    first, second = (module.split(".")[1] for module in (here, there))
    return first != second and HEIGHT.get(first, -1) <= HEIGHT.get(second, -2)  # -1: helpers of all wings


def list_upward(targets):
    """Return the imports that run up, as texts."""
    return [f"{here} → {there}" for here in targets for there in targets[here] if runs_up(here, there)]


SOURCES = {name: file.read_text("utf-8") for name, file in KERNEL.items() if name != "faithkit"}


@pytest.fixture(scope="module")
def targets():
    """Return the modules that each module of the kernel names."""
    return {name: find_targets(source, name) for name, source in SOURCES.items()}


def test_every_wing_has_its_floor():
    folders = {name.split(".")[1] for name in KERNEL if name.count(".") > 1}
    assert folders == HEIGHT.keys() - {"__main__"}
    text = " ".join((ROOT / "CONTRIBUTING.md").read_text("utf-8").split())
    assert "cli → run → inputs → measure → explanations → arrays → report → extension" in text


def test_no_import_runs_up(targets):
    assert list_upward(targets) == []


def test_no_example_runs_up():
    """An example may name all of the flat API, and beside it only what is below."""
    texts = {name: read_examples(source) for name, source in SOURCES.items()}
    assert list_upward({name: find_targets(text, name, {}) for name, text in texts.items() if text}) == []


def test_no_modules_form_a_circle(targets):
    TopologicalSorter(targets).prepare()  # its error names the circle


def test_no_modules_of_plugins_form_a_circle():
    imports = {name: find_imports(file.read_text("utf-8"), name) for name, file in PLUGINS.items()}
    targets = {name: {find_module(target, {}, PLUGINS) for target in imports[name]} for name in imports}
    TopologicalSorter({name: targets[name] - {name, None} for name in targets}).prepare()


def test_a_plugin_knows_the_flat_api_and_nothing_else():
    targets = {name: find_targets(path.read_text("utf-8"), name, {}) for name, path in PLUGINS.items()}
    private: dict[str, set[str]] = {}
    for name, modules in targets.items():
        private.setdefault(name.partition(".")[0], set()).update(modules)
    assert {plugin: sorted(modules) for plugin, modules in private.items() if modules} == DEBT


@one_test
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from faithkit.run.api import evaluate", "run.api"),
        ("from faithkit.run.api import evaluate as measure", "run.api"),
        ("from faithkit.run.api import *", "run.api"),
        ("from faithkit.run import api", "run.api"),
        ("from faithkit import run", "run"),
        ("from faithkit import evaluate", "run.api"),
        ("from ..run.api import evaluate", "run.api"),
        ("from .. import run", "run"),
        ("from . import formats", "report.formats"),
        ("import faithkit.run.api as api", "run.api"),
        ("import faithkit\nfaithkit.evaluate()", "run.api"),
        ("import faithkit as kit\nkit.evaluate()", "run.api"),
        ("if TYPE_CHECKING:\n    from faithkit.run.api import evaluate", "run.api"),
        ("def f():\n    from faithkit.run.api import evaluate", "run.api"),
        ("import_module('faithkit.run.api')", "run.api"),
        ("import_module(f'faithkit.run.{name}')", "run"),
        ("def f(x: 'faithkit.run.evaluation.Evaluation'): ...", "run.evaluation"),
        ("factory = 'faithkit.run.api:evaluate'", "run.api"),
        ("from faithkit import __version__", None),
        ("'faithkit.run is a wing'; faithkit_paper.run", None),
        ("import numpy.run", None),
    ],
)
def test_an_import_is_found_however_it_is_written(code, expected):
    assert find_targets(code) == ({f"faithkit.{expected}"} if expected else set())


def test_a_table_of_components_names_them_and_imports_none():
    code = "factory = 'faithkit.cli.show:command'"
    assert find_targets(code, "faithkit.extension.builtins") == set()
    assert find_targets(f"from faithkit.cli import show\n{code}", "faithkit.extension.builtins")


def test_an_example_is_found_wherever_it_stands():
    code = 'class A:\n    def f(self):\n        """>>> x = 1\n        ... + 2\n        """'
    assert read_examples(f'"""Why.\n\n>>> import faithkit\n"""\n{code}') == "import faithkit\nx = 1\n+ 2\n"


@one_test
@pytest.mark.parametrize(
    ("here", "there", "forbidden"),
    [
        ("run.api", "report.text", False),
        ("report.text", "run.api", True),
        ("report.text", "measure.tally", True),
        ("report.text", "report.formats", False),
        ("report.text", "inputs.tables", True),
        ("inputs.tables", "report.text", False),
        ("measure.tally", "errors", False),
        ("errors", "measure.tally", True),
        ("foreign", "errors", False),
        ("cli.show", "__main__", True),
    ],
)
def test_a_module_may_know_lower_wings_and_its_own(here, there, forbidden):
    assert runs_up(f"faithkit.{here}", f"faithkit.{there}") is forbidden
