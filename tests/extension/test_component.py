"""What a component accepts, how it is loaded, and how it finds out what is missing without importing it."""

import pickle
import sys
from collections import Counter

import attrs
import pytest
from looping import one_test

from faithkit.errors import PluginError
from faithkit.plugin import Component


def make_component(**changes):
    return Component(**{"name": "top", "factory": "collections:Counter", "summary": "Top.", **changes})


@one_test
@pytest.mark.parametrize("name", ["shap", "1fp", "sign-of-top-5", "a", "7"])
def test_names_of_the_contract_are_accepted(name):
    assert make_component(name=name).name == name


@one_test
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
        make_component(name=name)
    assert str(caught.value) == (
        "a component's name must be lower-case letters, digits and dashes, not starting with a dash. "
        f"Got {name!r} instead: rename it, for example to {proposal!r}."
    )


@one_test
@pytest.mark.parametrize("factory", ["collections", "a:b:c", ":b", "a:", "a.:b", "a-b:c", "a b:c", "1a:b"])
def test_a_factory_that_is_no_import_string_is_refused(factory):
    with pytest.raises(PluginError) as caught:
        make_component(factory=factory)
    assert str(caught.value) == (
        "the factory of component 'top' must be an import string 'module:attribute'. "
        f"Got {factory!r} instead: write for example 'my_plugin.explainers:MyExplainer'."
    )


def test_a_class_given_as_factory_is_answered_with_its_import_string():
    with pytest.raises(PluginError, match=r"write for example 'collections:Counter'\.$"):
        make_component(factory=Counter)


@one_test
@pytest.mark.parametrize("summary", ["", "  ", None])
def test_a_summary_without_words_is_refused(summary):
    with pytest.raises(
        PluginError, match=r"the summary of component 'top' must be a sentence\. Got .* one line"
    ):
        make_component(summary=summary)


def test_a_string_where_a_tuple_belongs_is_not_taken_for_its_letters():
    with pytest.raises(PluginError) as caught:
        make_component(kinds="vector")
    assert str(caught.value) == (
        "the kinds of component 'top' must be a tuple of words. "
        "Got 'vector' instead: write for example kinds=('vector',)."
    )


@one_test
@pytest.mark.parametrize("words", [3, (1, 2), ("",), None])
def test_anything_but_words_is_refused_as_requirements(words):
    with pytest.raises(PluginError, match="the requires of component 'top' must be a tuple of words"):
        make_component(requires=words)


def test_an_unknown_input_is_refused_with_a_guess():
    with pytest.raises(PluginError) as caught:
        make_component(inputs=["tables"])
    assert str(caught.value) == (
        "the inputs of component 'top' must be one or more of table, text, sparse, image, series. "
        "Got ('tables',) instead. Did you mean 'table'?"
    )


def test_no_input_at_all_is_refused():
    with pytest.raises(
        PluginError, match=r"one or more of table, text, sparse, image, series\. Got \(\) instead\.$"
    ):
        make_component(inputs=())


@one_test
@pytest.mark.parametrize("params", [[("k", 1)], {"not a name": 1}, {1: 1}, None])
def test_presets_that_name_no_parameters_are_refused(params):
    with pytest.raises(PluginError, match="the params of component 'top' must map names"):
        make_component(params=params)


def test_lists_become_tuples_and_defaults_are_the_contracts():
    component = make_component(kinds=["vector"])
    assert component.kinds == ("vector",)
    assert (component.params, component.inputs, component.requires) == ({}, ("table", "text", "sparse"), ())


def test_presets_are_a_copy():
    presets = {"k": 1}
    component = make_component(params=presets)
    presets["k"] = 2
    assert component.params == {"k": 1}


def test_fields_are_keyword_only_and_frozen():
    with pytest.raises(TypeError):
        Component("top", "collections:Counter", "Top.")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        make_component().name = "other"


def test_equal_components_are_equal_in_sets_and_after_pickling():
    first, second = make_component(params={"k": 1}), make_component(params={"k": 1})
    assert len({first, second, make_component(params={"k": 2})}) == 2
    assert pickle.loads(pickle.dumps(first)) == first


def test_load_imports_nested_attributes():
    assert make_component(factory="collections:Counter.fromkeys").load() == Counter.fromkeys


@one_test
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
        make_component(factory=factory).load()
    assert str(caught.value) == f"the factory {factory!r} of 'top' cannot be loaded: {reason}"


def test_missing_requirements_are_listed_in_order():
    component = make_component(requires=("zzz_absent", "json", "json.decoder", "yyy_absent.part"))
    assert component.missing_requirements() == ("zzz_absent", "yyy_absent.part")


def test_looking_for_a_requirement_does_not_import_it(tmp_path, monkeypatch):
    (tmp_path / "explosive.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert make_component(requires=("explosive", "explosive.child")).missing_requirements() == ()
    assert "explosive" not in sys.modules


def test_a_module_that_was_blocked_counts_as_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "blocked_module", None)
    assert make_component(requires=("blocked_module",)).missing_requirements() == ("blocked_module",)
