"""A plugin that misbehaves while it is loaded here is one line; the rest goes on working."""

import sys

import pytest
from on_path import faithkit_with, install

from faithkit.errors import PluginError
from faithkit.extension.registry import Registry

HEAD = "import itertools, os, sys, warnings\nimport faithkit\nFAITHKIT_API = 1\n"
ONE = "faithkit.plugin.Component(name='one', factory='collections:Counter', summary='One.')"


def offers(result, before=""):
    return f"{HEAD}{before}\n@faithkit.plugin.hookimpl\ndef faithkit_explainers():\n    return {result}\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a module that can be imported, and have it forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def write(module, code):
        (tmp_path / f"{module}.py").write_text(code)
        written.append(module)

    yield write
    for module in written:
        sys.modules.pop(module, None)


def raising(method):
    return f"class Hostile:\n    def {method}(self, *_):\n        raise SystemExit(0)\n"


# what the module says, and what is said about it
WHEN_LOADED = {
    "it_exits": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "it_raises_the_base": ("raise BaseException('so there')", "BaseException: so there"),
    "it_closes_a_generator": ("raise GeneratorExit", "GeneratorExit"),
    "it_stops_an_iteration": ("raise StopIteration", "StopIteration"),
    "it_recurses": ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
    "it_is_no_python": ("def (", "SyntaxError: invalid syntax (it_is_no_python.py, line 1)"),
    "its_error_has_no_words": (
        "class Mute(BaseException):\n    def __str__(self): raise SystemExit(0)\nraise Mute",
        "Mute",
    ),
    "its_error_is_ours_and_has_no_words": (
        "import faithkit\nclass Mute(faithkit.errors.InputError):\n    def __str__(self): raise SystemExit(0)\nraise Mute",
        "Mute",
    ),
    "its_version_cannot_be_compared": (raising("__eq__") + "FAITHKIT_API = Hostile()", "SystemExit: 0"),
    "its_version_cannot_be_written": (raising("__repr__") + "FAITHKIT_API = Hostile()", "SystemExit: 0"),
    "it_has_no_attributes": ("def __getattr__(name): raise SystemExit(0)", "SystemExit: 0"),
    "it_replaces_itself": (
        raising("__getattr__") + "import sys; sys.modules[__name__] = Hostile()",
        "SystemExit: 0",
    ),
    "its_names_cannot_be_listed": (HEAD + "def __dir__(): raise GeneratorExit", "GeneratorExit"),
    "its_names_are_no_names": (
        HEAD + "def __dir__(): return [1, 'a']",
        "TypeError: '<' not supported between instances of 'str' and 'int'",
    ),
}


@pytest.mark.parametrize("module", WHEN_LOADED)
def test_whatever_is_raised_by_the_module_is_its_line(module, broken_by, write):
    code, words = WHEN_LOADED[module]
    write(module, code)
    remedy = "Reinstall it or what it needs, or remove it: pip uninstall demo"
    assert broken_by(module) == [f"demo (main): cannot be loaded: {words}. {remedy}"]


TOO_MANY = "it gave more than 10,000 components, perhaps without end"
WHEN_ASKED = {
    "it_cannot_be_iterated": (offers("Hostile()", raising("__iter__")), "SystemExit: 0"),
    "it_has_no_class": (
        offers("[Odd()]", "class Odd:\n    __class__ = property(lambda self: 1 / 0)"),
        "ZeroDivisionError: division by zero",
    ),
    "it_stops_halfway": (
        f"{HEAD}@faithkit.plugin.hookimpl\ndef faithkit_explainers():\n    yield {ONE}\n    raise GeneratorExit",
        "GeneratorExit",
    ),
    "its_wrapper_exits": (
        f"{HEAD}@faithkit.plugin.hookimpl(wrapper=True)\ndef faithkit_explainers():\n    yield\n    sys.exit(0)",
        "SystemExit: 0",
    ),
    "it_never_ends": (offers(f"itertools.repeat({ONE})"), TOO_MANY),
    "it_never_ends_and_gives_no_components": (offers("itertools.count()"), TOO_MANY),
    "it_gives_a_million": (offers(f"[{ONE}] * 10**6"), TOO_MANY),
    "it_forged_a_name": (
        offers("[one]", f"one = {ONE}\nobject.__setattr__(one, 'name', '../one')"),
        "a component's name must be lower-case letters, digits and dashes, not starting with a dash. "
        "Got '../one' instead: rename it, for example to 'one'",
    ),
}


@pytest.mark.parametrize("module", WHEN_ASKED)
def test_whatever_is_raised_by_a_hook_costs_its_components(module, broken_by, write):
    code, words = WHEN_ASKED[module]
    write(module, code)
    remedy = "Its explainers are left out. Update it, or tell its authors: pip install --upgrade demo"
    assert broken_by(module) == [f"demo (main): faithkit_explainers() failed: {words}. {remedy}"]


def test_the_same_mistake_a_thousand_times_is_one_line(broken_by, write):
    write("a_thousand_numbers", offers("range(1000)"))
    (line,) = broken_by("a_thousand_numbers")
    assert "faithkit_explainers() gave int, expected Component." in line


def test_ten_thousand_components_are_listed(plugin, write):
    many = "(faithkit.plugin.Component(name=f'c{i}', factory='a:b', summary='…') for i in range(10_000))"
    write("ten_thousand", offers(many))
    names = Registry(entry_points=[plugin("ten_thousand")]).names("explainer")
    assert sorted(names) == sorted(f"c{i}" for i in range(10_000))


def test_what_a_component_overrides_is_not_used(plugin, write):
    subclass = (
        "class Mine(faithkit.plugin.Component):\n    __slots__ = ()\n"
        "    def load(self): raise SystemExit(0)\n    __hash__ = __eq__ = load\n"
    )
    mine = "Mine(name='mine', factory='collections:Counter', summary='…')"
    write("overriding", offers(f"[{mine}]", subclass))
    registry = Registry(entry_points=[plugin("overriding")])
    assert registry.create("explainer", "mine") == {}


LOUD = "print('printed')\nos.write(1, b'written')\nsys.__stdout__.write('past the redirection')\n"


def test_the_listing_is_json_whatever_plugins_print(tmp_path):
    install(tmp_path, "loud", offers(f"[{ONE}]", LOUD))
    done = faithkit_with(tmp_path, "plugins", "--json")
    assert (done.returncode, done.stdout[:1], done.stdout[-2:]) == (0, "{", "}\n")
    assert "past the redirection" in done.stderr


def test_where_warnings_are_errors_the_line_says_so(tmp_path):
    install(tmp_path, "warning", f"{HEAD}warnings.warn('old', DeprecationWarning)")
    done = faithkit_with(tmp_path, "plugins", PYTHONWARNINGS="error")
    assert done.returncode == 0
    line = "warning (main): cannot be loaded: DeprecationWarning: old. Warnings are errors here: see PYTHONWARNINGS"
    assert line in done.stdout
    assert "warning (main)" not in faithkit_with(tmp_path, "plugins").stdout


def test_a_distribution_without_metadata_is_named_after_its_package(tmp_path, monkeypatch):
    install(tmp_path, "damaged", offers(f"[{ONE}]"))
    (tmp_path / "damaged-1.0.dist-info" / "METADATA").unlink()
    monkeypatch.syspath_prepend(tmp_path)
    assert Registry().find("explainer", "one").qualified == "damaged/one"


def test_strict_mode_raises_what_no_except_clause_of_the_caller_expects(plugin, monkeypatch, write):
    write("strictly_exiting", "import sys; sys.exit(0)")
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    with pytest.raises(PluginError, match="SystemExit: 0") as caught:
        Registry(entry_points=[plugin("strictly_exiting")])
    assert isinstance(caught.value.__cause__, SystemExit)


def test_ctrl_c_is_not_the_plugins_doing(plugin, write):
    write("interrupted", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        Registry(entry_points=[plugin("interrupted")])
