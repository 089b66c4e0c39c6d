"""A component that does not even let itself be looked at is one line that names it."""

import pytest
from looping import one_test

import faithkit
from faithkit.run.components.resolution import resolve_component


class Shy:
    """Whoever asks for an attribute ends the program."""

    def __getattr__(self, name):
        raise SystemExit(0)


@one_test
@pytest.mark.parametrize("kind", ["explainer", "discretizer", "relation", "estimator"])
def test_an_object_that_cannot_be_asked_for_its_methods_is_named(kind):
    with pytest.raises(faithkit.errors.InputError) as caught:
        resolve_component(kind, Shy())
    assert str(caught.value) == f"the {kind} Shy failed with SystemExit: 0."


class Reserved:
    """It has its method, and ends the program where it is asked what else it says."""

    def __init__(self, method):
        setattr(self, method, lambda *given: given)

    def __getattr__(self, name):
        if name.startswith("__") or name == "name":
            raise AttributeError(name)
        raise SystemExit(0)


@one_test
@pytest.mark.parametrize(
    ("kind", "method", "asked"),
    [("estimator", "scores", "outcomes"), ("discretizer", "discretize", "fit")],
)
def test_one_that_cannot_be_asked_what_it_says_about_itself_is_named(kind, method, asked):
    with pytest.raises(
        faithkit.errors.InputError, match=rf"^asking Reserved for {asked} failed with SystemExit: 0\.$"
    ):
        faithkit.score(["yes", "no"], ["a", "a"], **{kind: Reserved(method)})


def test_so_is_one_that_an_installed_plugin_makes(monkeypatch):
    monkeypatch.setattr("faithkit.measure.estimators.Majority", Shy)
    with pytest.raises(
        faithkit.errors.InputError, match=r"^the estimator majority failed with SystemExit: 0\.$"
    ):
        resolve_component("estimator", "majority")


def ends_the_program(self):
    raise SystemExit(0)


@one_test
@pytest.mark.parametrize("asked", ["groups", "instance_only", "packed"])
@pytest.mark.parametrize(
    "use", [lambda one: one, lambda one: ~one, lambda one: one & one], ids=["r", "~r", "r&r"]
)
def test_so_is_a_relation_that_cannot_be_asked_what_it_says_about_itself(asked, use):
    reserved = type("Reserved", (faithkit.plugin.Relation,), {asked: property(ends_the_program)})()
    with pytest.raises(
        faithkit.errors.ContractError, match=r"^the relation Reserved failed with SystemExit: 0\. Check that"
    ):
        faithkit.score(["yes", "no"], ["a", "a"], relation=use(reserved))


def test_so_is_a_relation_that_has_no_name_to_be_composed_with():
    nameless = type("Nameless", (faithkit.plugin.Relation,), {"__str__": ends_the_program})()
    with pytest.raises(
        faithkit.errors.ContractError, match=r"^the name of the relation Nameless failed with SystemExit"
    ):
        ~nameless  # noqa: B018
