"""A relation that was asked for by name is asked about the kinds of explanation that its component declares."""

import pytest

import faithkit

LABELS, WORDS = ["yes", "no", "yes"], ["a", "a", "b"]
REFUSED = (
    "the relation near-explanation:tau=0.5 takes explanations of kind vector, and these are of kind 'value': "
    "use another one, or another explainer."
)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda one: one, id="by name"),
        pytest.param(lambda one: ~faithkit.relation(one), id="negated"),
        pytest.param(
            lambda one: faithkit.relation("same-explanation") & faithkit.relation(one), id="composed"
        ),
    ],
)
def test_explanations_of_another_kind_are_refused_in_one_line(use):
    with pytest.raises(faithkit.errors.InputError) as caught:
        faithkit.score(LABELS, WORDS, relation=use("near-explanation:tau=0.5"))
    assert str(caught.value) == REFUSED


def test_a_relation_that_declares_no_kinds_is_asked_about_all():
    assert faithkit.score(LABELS, WORDS, relation="same-explanation").sufficiency.value == 0.0


def test_a_frozen_relation_is_asked_for_by_name(monkeypatch):
    import attrs

    from faithkit.explanations.relations import SameExplanation

    frozen = attrs.frozen(type("Frozen", (SameExplanation,), {}))
    monkeypatch.setattr("faithkit.explanations.relations.SameExplanation", frozen)
    assert faithkit.relation("same-explanation").declared_kinds == ()
