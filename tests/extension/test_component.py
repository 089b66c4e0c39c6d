"""What a component accepts, how it is loaded, and how it finds out what is missing without importing it."""

import pickle
import sys
from collections import Counter

import attrs
import pytest

from faithkit.errors import PluginError
from faithkit.plugin import Component


def component(**changes):
    return Component(**{"name": "top", "factory": "collections:Counter", "summary": "Top.", **changes})


@pytest.mark.parametrize("name", ["shap", "1fp", "sign-of-top-5", "a", "7"])
def test_names_of_the_contract_are_accepted(name):
    assert component(name=name).name == name


@pytest.mark.parametrize(
    ("name", "proposal"),
    [
        ("Shap", "shap"),
        ("my_explainer", "my-explainer"),
        ("-fp", "fp"),
        ("two words", "two-words"),
        ("fp\n", "fp"),
        ("", "my-explainer"),
        ("π", "my-explainer"),
        (None, "none"),
    ],
)
def test_a_bad_name_is_refused_and_a_good_one_proposed(name, proposal):
    with pytest.raises(PluginError) as caught:
        component(name=name)
    assert str(caught.value) == (
        "a component's name must be lower-case letters, digits and dashes, not starting with a dash. "
        f"Got {name!r} instead: rename it, for example to {proposal!r}."
    )


@pytest.mark.parametrize("factory", ["collections", "a:b:c", ":b", "a:", "a.:b", "a-b:c", "a b:c", "1a:b"])
def test_a_factory_that_is_no_import_string_is_refused(factory):
    with pytest.raises(PluginError) as caught:
        component(factory=factory)
    assert str(caught.value) == (
        "the factory of component 'top' must be an import string 'module:attribute'. "
        f"Got {factory!r} instead: write for example 'my_plugin.explainers:MyExplainer'."
    )


def test_a_class_given_as_factory_is_answered_with_its_import_string():
    with pytest.raises(PluginError, match=r"write for example 'collections:Counter'\.$"):
        component(factory=Counter)


@pytest.mark.parametrize("summary", ["", "  ", None, "\x1b[31mred", "over\rwritten", "half \ud800"])
def test_a_summary_that_no_terminal_could_show_is_refused(summary):
    with pytest.raises(
        PluginError, match=r"the summary of component 'top' must be a sentence\. Got .* one line"
    ):
        component(summary=summary)


def test_a_string_where_a_tuple_belongs_is_not_taken_for_its_letters():
    with pytest.raises(PluginError) as caught:
        component(kinds="vector")
    assert str(caught.value) == (
        "the kinds of component 'top' must be a tuple of words. "
        "Got 'vector' instead: write for example kinds=('vector',)."
    )


@pytest.mark.parametrize("words", [3, (1, 2), ("",), None])
def test_anything_but_words_is_refused_as_requirements(words):
    with pytest.raises(PluginError, match="the requires of component 'top' must be a tuple of words"):
        component(requires=words)


def test_an_unknown_input_is_refused_with_a_guess():
    with pytest.raises(PluginError) as caught:
        component(inputs=["tables"])
    assert str(caught.value) == (
        "the inputs of component 'top' must be one or more of table, text, sparse, image, series. "
        "Got ('tables',) instead. Did you mean 'table'?"
    )


def test_no_input_at_all_is_refused():
    with pytest.raises(
        PluginError, match=r"one or more of table, text, sparse, image, series\. Got \(\) instead\.$"
    ):
        component(inputs=())


@pytest.mark.parametrize("params", [[("k", 1)], {"not a name": 1}, {1: 1}, None])
def test_presets_that_name_no_parameters_are_refused(params):
    with pytest.raises(PluginError, match="the params of component 'top' must map names"):
        component(params=params)


def test_lists_become_tuples_and_defaults_are_the_contracts():
    made = component(kinds=["vector"])
    assert made.kinds == ("vector",)
    assert (made.params, made.inputs, made.requires) == ({}, ("table", "text", "sparse"), ())


def test_presets_are_a_copy():
    presets = {"k": 1}
    made = component(params=presets)
    presets["k"] = 2
    assert made.params == {"k": 1}


def test_fields_are_keyword_only_and_frozen():
    with pytest.raises(TypeError):
        Component("top", "collections:Counter", "Top.")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        component().name = "other"


def test_equal_components_are_equal_in_sets_and_after_pickling():
    first, second = component(params={"k": 1}), component(params={"k": 1})
    assert len({first, second, component(params={"k": 2})}) == 2
    assert pickle.loads(pickle.dumps(first)) == first


def test_load_imports_nested_attributes():
    assert component(factory="collections:Counter.fromkeys").load() == Counter.fromkeys


@pytest.mark.parametrize(
    ("factory", "reason"),
    [
        ("no_such_module:X", "it failed with ModuleNotFoundError: No module named 'no_such_module'."),
        ("exits_when_imported:X", "it failed with SystemExit: 3."),
        (
            "collections:Countr",
            "it failed with AttributeError: module 'collections' has no attribute 'Countr'. Did you mean 'Counter'?",
        ),
        (
            "collections:Counter.zzz",
            "it failed with AttributeError: type object 'Counter' has no attribute 'zzz'.",
        ),
        ("collections:__name__", "it is of type str, which cannot be called."),
    ],
)
def test_a_factory_that_cannot_be_loaded_is_named_with_the_reason(factory, reason):
    with pytest.raises(PluginError) as caught:
        component(factory=factory).load()
    assert str(caught.value) == f"the factory {factory!r} of 'top' cannot be loaded: {reason}"


def test_missing_requirements_are_listed_in_order():
    made = component(requires=("zzz_absent", "json", "json.decoder", "json.absent", "json.decoder.absent"))
    assert made.missing_requirements() == ("zzz_absent", "json.absent", "json.decoder.absent")


def test_looking_for_a_requirement_imports_neither_it_nor_its_parent(tmp_path, monkeypatch):
    package = tmp_path / "explosive"
    package.mkdir()
    for file in ("__init__.py", "child.py"):
        (package / file).write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    made = component(requires=("explosive", "explosive.child", "explosive.absent"))
    assert made.missing_requirements() == ("explosive.absent",)
    assert "explosive" not in sys.modules


def test_a_requirement_in_nested_namespace_packages_is_given_the_benefit_of_the_doubt(tmp_path, monkeypatch):
    (tmp_path / "outer_space" / "inner_space").mkdir(parents=True)
    (tmp_path / "outer_space" / "inner_space" / "module.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert component(requires=("outer_space.inner_space.module",)).missing_requirements() == ()
    assert component(requires=("outer_space.absent",)).missing_requirements() == ("outer_space.absent",)


def test_a_module_that_was_blocked_counts_as_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "blocked_module", None)
    assert component(requires=("blocked_module",)).missing_requirements() == ("blocked_module",)


def test_a_finder_that_fails_makes_a_requirement_missing(monkeypatch):
    class Failing:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == "unfindable":
                raise RuntimeError("broken finder")

    monkeypatch.setattr(sys, "meta_path", [Failing, *sys.meta_path])
    assert component(requires=("unfindable",)).missing_requirements() == ("unfindable",)


class Loud(str):
    """A string that nobody can compare."""

    __slots__ = ()

    def __eq__(self, other):
        raise SystemExit(0)

    __hash__ = __lt__ = __eq__


def test_what_is_kept_is_plain_text():
    kept = component(name=Loud("loud"), summary=Loud("Loud."), kinds=[Loud("vector")])
    assert {type(kept.name), type(kept.summary), type(kept.kinds[0])} == {str}
