"""Creation of components: parameters and presets, and errors that name the component."""

import pytest
from looping import one_test

from faithkit.errors import FaithkitError, ParameterError, PluginError
from faithkit.extension.creation import EMPTY, parameters
from faithkit.extension.registry import Registry


def read_refusal(registry, error, name, params=None):
    with pytest.raises(error) as caught:
        registry.create("explainer", name, params)
    return str(caught.value)


def test_presets_and_parameters_are_merged_and_parameters_win(healthy):
    registry = Registry(entry_points=[healthy])
    twice = registry.create("explainer", "twice", {"offset": 5})
    assert (twice.factor, twice.offset, twice.method) == (2, 5, "exact")
    assert registry.create("explainer", "twice", {"factor": 7}).factor == 7
    assert registry.create("explainer", "twice").factor == 2


def test_an_unknown_parameter_gets_a_guess_and_the_list(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), ParameterError, "scaled", {"factr": 1}) == (
        "the explainer 'scaled' of healthy-plugin has no parameter 'factr'. Did you mean 'factor'? "
        "Its parameters are factor, offset, method."
    )


def test_a_factory_without_parameters_says_so(plugin):
    message = read_refusal(
        Registry(entry_points=[plugin("clash_a", "demo-a")]), ParameterError, "only-a", {"k": 1}
    )
    assert message == "the explainer 'only-a' of demo-a has no parameter 'k'. It takes none."


def test_a_missing_parameter_is_named_with_how_to_write_it(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), ParameterError, "scaled") == (
        "the explainer 'scaled' of healthy-plugin needs the parameter 'factor'. Write 'scaled:factor=…'."
    )


def test_a_factory_that_takes_anything_gets_anything(healthy):
    assert Registry(entry_points=[healthy]).create("explainer", "anything", {"x": 1}) == {"x": 1}


def test_an_error_in_faithkits_own_words_is_left_alone(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), ParameterError, "scaled", {"factor": 0}) == (
        "factor must not be 0"
    )


def test_a_factory_that_refuses_a_value_is_named_with_its_own_words(plugin):
    registry = Registry(entry_points=[plugin("factory_that_raises")])
    with pytest.raises(ParameterError) as caught:
        registry.create("explainer", "refusing", {"k": -1})
    assert str(caught.value) == (
        "the explainer 'refusing' of demo refuses its parameters: ValueError: k=-1 is too small. "
        "Its parameters: faithkit show explainer demo/refusing"
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_factory_that_fails_otherwise_is_the_plugins_fault(plugin):
    assert read_refusal(Registry(entry_points=[plugin("factory_that_raises")]), PluginError, "crashing") == (
        "the explainer 'crashing' of demo cannot be made: it failed with OSError: disk full. "
        "Update the plugin, or tell its authors: pip install --upgrade demo"
    )


@one_test
@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "lost",
            "'no_such_module:Lost' of 'lost' cannot be loaded: it failed with ModuleNotFoundError: No module named",
        ),
        (
            "misspelt",
            "'healthy:Scald' of 'misspelt' cannot be loaded: it failed with AttributeError: module 'healthy' has",
        ),
        ("quitting", "'exits_when_imported:X' of 'quitting' cannot be loaded: it failed with SystemExit: 3."),
        (
            "constant",
            "'healthy:FAITHKIT_API' of 'constant' cannot be loaded: it is of type int,",
        ),
    ],
)
def test_a_factory_that_cannot_be_imported_is_named_on_creation(plugin, name, complaint):
    message = read_refusal(Registry(entry_points=[plugin("factory_import_error")]), PluginError, name)
    assert message.startswith(f"the explainer '{name}' of demo cannot be used: the factory {complaint}")
    assert message.endswith("Update the plugin: pip install --upgrade demo")


def test_a_preset_that_the_factory_does_not_take_is_the_plugins_fault(plugin):
    registry = Registry(entry_points=[plugin("factory_import_error")])
    message = read_refusal(registry, PluginError, "preset", {"factor": 1})
    assert message.startswith("the explainer 'preset' of demo has no parameter 'factr'.")


def test_a_missing_requirement_is_named_with_what_to_install(plugin):
    registry = Registry(entry_points=[plugin("missing_requirement")])
    assert read_refusal(registry, PluginError, "demanding", {"factor": 1}) == (
        "the explainer 'demanding' of demo needs 'a_library_that_nobody_has.part', not installed. "
        "Usually this helps: pip install a-library-that-nobody-has"
    )


def test_parameters_come_from_the_signature_with_default_and_preset(healthy):
    registry = Registry(entry_points=[healthy])
    assert parameters(registry.find("explainer", "twice")) == [
        ("factor", EMPTY, 2),
        ("offset", 0, EMPTY),
        ("method", "exact", EMPTY),
    ]
    assert parameters(registry.find("explainer", "anything")) == []


def test_parameters_can_be_shown_although_a_requirement_is_missing(plugin):
    registry = Registry(entry_points=[plugin("missing_requirement")])
    assert [p.name for p in parameters(registry.find("explainer", "demanding"))] == [
        "factor",
        "offset",
        "method",
    ]


FAULTS = {
    "exiting": "cannot be made: it failed with SystemExit: 0. Update the plugin, or tell its authors: ",
    "unlisted": "cannot be made: it failed with KeyError: 'a missing setting'. Update the plugin, or tell ",
    "moved": "cannot be used: There is no licence. Update the plugin: ",
}


@one_test
@pytest.mark.parametrize("name", FAULTS)
def test_whatever_a_factory_raises_is_one_line_that_names_the_component(plugin, name):
    registry = Registry(entry_points=[plugin("faulty_factories")])
    message = read_refusal(registry, FaithkitError, name)
    assert message.startswith(f"the explainer '{name}' of demo {FAULTS[name]}")
    assert "\n" not in message


def test_a_factory_without_a_readable_signature_is_called(plugin):
    assert Registry(entry_points=[plugin("faulty_factories")]).create("explainer", "unsigned") == "made"


def test_ctrl_c_while_a_component_is_made_is_not_the_plugins_doing(plugin, monkeypatch):
    registry = Registry(entry_points=[plugin("faulty_factories")])
    monkeypatch.setattr("faulty_factories.exiting", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        registry.create("explainer", "exiting")
