"""Errors about components that are not installed: a guess, the choice, and the command to install."""

from pathlib import Path

import pytest
from looping import one_test

from faithkit.errors import UnknownComponentError
from faithkit.extension.registry import Registry

ROOT = Path(__file__).parents[2]


def read_refusal(registry, kind, name):
    with pytest.raises(UnknownComponentError) as caught:
        registry.find(kind, name)
    return str(caught.value)


def test_a_slip_of_the_finger_gets_a_guess_and_the_choice(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), "explainer", "Scald") == (
        "no explainer 'Scald' is installed. Did you mean 'scaled'? Available: anything, scaled, twice."
    )


def test_a_name_like_no_other_gets_the_choice_alone(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), "explainer", "qqqqqq") == (
        "no explainer 'qqqqqq' is installed. Available: anything, scaled, twice."
    )


def test_a_plugin_that_is_not_installed_is_named_with_the_command(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), "explainer", "shap") == (
        "no explainer 'shap' is installed. Available: anything, scaled, twice. "
        "shap is provided by faithkit-feature-importance: "
        "python -m pip install -e plugins/feature-importance"
    )


@one_test
@pytest.mark.parametrize(
    ("kind", "name", "distribution"),
    [
        ("explainer", "anchors-text", "faithkit-scoped-rules"),
        ("relation", "in-ball", "faithkit-example-based"),
        ("discretizer", "1fp", "faithkit-feature-importance"),
        ("discretizer", "sign-of-top-5", "faithkit-feature-importance"),
        ("relation", "within", "faithkit-example-based"),
        ("relation", "rules-hold", "faithkit-glass-box"),
        ("adapter", "reason-codes", "faithkit-logged-reasons"),
        ("explainer", "ebm", "faithkit-glass-box"),
        ("executor", "processes", "faithkit-executors"),
        ("dataset", "adult", "faithkit-paper"),
        ("command", "reproduce", "faithkit-paper"),
        ("command", "agreement", "faithkit-feature-importance"),
    ],
)
def test_the_contracts_names_lead_to_their_plugins(kernel, kind, name, distribution):
    message = read_refusal(Registry(entry_points=[kernel]), kind, name)
    folder = distribution.removeprefix("faithkit-")
    assert f"{name} is provided by {distribution}: " in message
    assert message.endswith(f"python -m pip install -e plugins/{folder}")
    assert (ROOT / "plugins" / folder / "pyproject.toml").is_file()


def test_a_slip_in_the_name_of_a_plugin_that_is_not_installed_is_understood(healthy):
    assert read_refusal(Registry(entry_points=[healthy]), "explainer", "shpa") == (
        "no explainer 'shpa' is installed. Did you mean 'shap'? Available: anything, scaled, twice. "
        "shap is provided by faithkit-feature-importance: "
        "python -m pip install -e plugins/feature-importance"
    )


def test_a_qualified_name_of_a_plugin_that_is_not_installed_gets_the_command(healthy):
    message = read_refusal(Registry(entry_points=[healthy]), "explainer", "faithkit-feature-importance/shap")
    assert message.endswith("pip install -e plugins/feature-importance")
    assert "Did you mean" not in message


def test_a_qualified_name_with_the_wrong_distribution_gets_the_short_name(kernel):
    message = read_refusal(Registry(entry_points=[kernel]), "estimator", "other/majority")
    assert message.startswith(
        "no estimator 'other/majority' is installed. Did you mean 'majority'? Available:"
    )


def test_a_plugin_that_is_installed_but_broken_is_not_to_be_installed_again(plugin):
    registry = Registry(entry_points=[plugin("import_error", "faithkit-feature-importance")])
    assert read_refusal(registry, "explainer", "shap") == (
        "no explainer 'shap' is installed. Available: none. "
        "Some plugins have problems: see `faithkit plugins`. "
        "shap is provided by faithkit-feature-importance, which is installed but has a problem: "
        "cannot be loaded: ModuleNotFoundError: No module named 'a_library_that_nobody_has'. "
        "Reinstall it or what it needs, or remove it: pip uninstall faithkit-feature-importance"
    )


def test_an_old_version_of_the_plugin_is_to_be_installed_again(plugin):
    registry = Registry(entry_points=[plugin("healthy", "faithkit-feature-importance")])
    message = read_refusal(registry, "explainer", "shap")
    assert message.endswith("pip install -e plugins/feature-importance")


def test_a_source_tree_that_was_never_installed_says_so():
    assert read_refusal(Registry(entry_points=[]), "estimator", "majority") == (
        "no estimator 'majority' is installed. Available: none. "
        "majority is faithkit's own, but faithkit is not installed: python -m pip install -e ."
    )


def test_a_name_of_another_kind_is_pointed_out(kernel):
    message = read_refusal(Registry(entry_points=[kernel]), "relation", "majority")
    assert "'majority' is of another kind: estimator." in message


def test_a_kind_that_does_not_exist_gets_the_kinds(kernel):
    registry = Registry(entry_points=[kernel])
    for find in (registry.entries, registry.names, lambda kind: registry.find(kind, "majority")):
        with pytest.raises(UnknownComponentError) as caught:
            find("estimators")
        assert str(caught.value) == (
            "there is no kind of component 'estimators'. Did you mean 'estimator'? "
            "The kinds are explainer, relation, discretizer, estimator, diagnostic, executor, reporter, adapter, loader, "
            "dataset and command."
        )
