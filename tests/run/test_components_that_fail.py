"""A relation, discretizer, estimator or value of another party that fails is named in one line."""

import numpy as np
import pytest
from looping import one_test

import faithkit

LABELS, WORDS = ["yes", "no", "yes", "no"], ["a", "a", "b", "b"]


RAISED = [SystemExit(0), KeyError("age"), MemoryError(), StopIteration()]


class Relation(faithkit.plugin.Relation):
    """A relation that fails in one of its methods."""

    name = "acme"

    def __init__(self, where, raised):
        self.where, self.raised = where, raised
        if where == "packed":
            self.packed = lambda sample, explanations: self.fail("packed")

    def fail(self, where):
        if where == self.where:
            raise self.raised

    def fit(self, background, n):
        self.fail("fit")
        return self

    def key(self, explanations):
        self.fail("key")
        return explanations.values

    def holds(self, sample, explanations):
        self.fail("holds")
        return np.ones((len(explanations), len(sample)), dtype=bool)


class Discretizer:
    """A discretizer that fails in one of its methods."""

    name = "acme"

    def __init__(self, where, raised):
        self.where, self.raised = where, raised
        if where == "fit":
            self.fit = lambda explanations: self.fail("fit")

    def fail(self, where):
        if where == self.where:
            raise self.raised

    def discretize(self, explanations):
        self.fail("discretize")
        return [0] * len(explanations)

    def describe(self, identity, names):
        self.fail("describe")
        return "the same"


class Estimator:
    """An estimator that fails in one of its methods."""

    name, interval = "acme", True

    def __init__(self, where, raised):
        self.where, self.raised = where, raised

    def scores(self, tally):
        if self.where == "scores":
            raise self.raised
        return np.full(tally.owners.shape, 0.5)

    def by_chance(self, verified, chance):
        if self.where == "by_chance":
            raise self.raised
        return 0.5


def compose(where, raised):
    return Relation(where, raised) & ~faithkit.relation("same-explanation")


def build_function(where, raised):
    def acme(x, word):
        raise raised

    return acme


PLACES = [
    ("relation", Relation, "fit"),
    ("relation", Relation, "key"),
    ("relation", Relation, "holds"),
    ("relation", Relation, "packed"),
    ("relation", compose, "fit"),
    ("relation", compose, "key"),
    ("relation", compose, "holds"),
    ("relation", build_function, "called"),
    ("discretizer", Discretizer, "fit"),
    ("discretizer", Discretizer, "discretize"),
    ("discretizer", Discretizer, "describe"),
    ("estimator", Estimator, "scores"),
    ("estimator", Estimator, "by_chance"),
]


@one_test
@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize(("kind", "build", "where"), PLACES)
@pytest.mark.filterwarnings("ignore:no background:faithkit.errors.FaithkitWarning")
def test_a_component_that_fails_is_named_in_one_line(kind, build, where, raised):
    with pytest.raises(faithkit.errors.ContractError) as caught:
        faithkit.score(
            LABELS, WORDS, X=WORDS, clusters=range(len(WORDS)), **{kind: build(where, raised)}
        ).contradictions()
    line = str(caught.value)
    assert line.startswith(f"the {kind} acme failed with {type(raised).__name__}")
    assert "\n" not in line
    assert line.endswith(".")


def test_what_a_person_does_is_not_blamed_on_a_component():
    with pytest.raises(KeyboardInterrupt):
        faithkit.score(LABELS, WORDS, relation=Relation("holds", KeyboardInterrupt()))


def test_a_component_may_say_itself_what_is_wrong():
    error = faithkit.errors.InputError("acme: give X.")
    with pytest.raises(faithkit.errors.InputError, match=r"^acme: give X\.$"):
        faithkit.score(LABELS, WORDS, relation=Relation("holds", error))


@one_test
@pytest.mark.parametrize(
    ("component", "message"),
    [
        ({"relation": "fit"}, "acme.fit returned a NoneType; expected the relation: return self"),
        (
            {"relation": "key"},
            "the relation acme failed with TypeError: object of type 'NoneType' has no len",
        ),
        ({"estimator": "by_chance"}, "the estimator acme failed with ValueError: could not convert string"),
    ],
    ids=str,
)
def test_a_component_that_returns_nonsense_is_named(component, message, monkeypatch):
    ((kind, method),) = component.items()
    component_class = {"relation": Relation, "estimator": Estimator}[kind]
    monkeypatch.setattr(component_class, method, lambda *_: None if kind == "relation" else "much")
    with pytest.raises(faithkit.errors.ContractError, match=message):
        faithkit.score(LABELS, WORDS, **{kind: component_class("nowhere", None)})


class Value:
    """A value that has no text."""

    def __eq__(self, other):
        return isinstance(other, Value)

    def __hash__(self):
        return 1

    def __str__(self):
        raise SystemExit(0)


def test_an_explanation_whose_text_fails_is_named():
    with pytest.raises(
        faithkit.errors.InputError, match="an explanation of type Value failed with SystemExit: 0"
    ):
        faithkit.score(LABELS, [Value() for _ in LABELS]).contradictions()


def test_a_discretizer_that_fails_is_a_row_of_the_table_of_all():
    result = faithkit.score(LABELS, WORDS)
    table = faithkit.try_discretizers(result, [Discretizer("discretize", SystemExit(0)), "original"])
    assert table["note"].tolist()[1].startswith("the discretizer acme failed with SystemExit: 0.")


# --- functions as discretizers -----------------------------------------------------------------------------

PHI = np.random.default_rng(0).normal(size=(6, 2))
CONTRACT = (
    "It is given Explanations, whose .values hold one for each row, and must return one identity for each: a "
    "2-D array, or a list of hashable values such as str or tuple."
)


class SignsOfExplanations:
    """A discretizer that takes explanations for an array."""

    name = "signs"

    def discretize(self, explanations):
        return np.sign(explanations)


WRONG = {
    "takes them for an array": (lambda phi: phi.round(1), "the discretizer <lambda> failed with AttributeError: "),
    "asks NumPy to do so": (lambda phi: np.sign(phi), "the discretizer <lambda> failed with TypeError: "),
    "is an object": (SignsOfExplanations(), "the discretizer signs failed with TypeError: "),
    "returns nothing": (lambda _: None, "what the discretizer <lambda> returned, of type NoneType, failed with "),
    "returns one value": (lambda _: 3, "what the discretizer <lambda> returned, of type int, failed with "),
    "returns what it was given": (lambda phi: phi, "<lambda> returned, of type Explanations, failed with "),
    "leaves rows out": (
        lambda phi: phi.values[:3],
        "what the discretizer <lambda> returned, of type ndarray, is refused: identities for 3 rows where there "
        "are 6 explanations: give one per row. ",
    ),
    "returns a text": (lambda _: "abc", "<lambda> returned, of type str, is refused: identities for 3 rows "),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", WRONG)
def test_a_function_that_is_no_discretizer_gets_an_error_that_says_what_one_is(case):
    discretizer, message = WRONG[case]
    with pytest.raises(faithkit.errors.ContractError) as caught:
        faithkit.score([0, 1] * 3, PHI, discretizer=discretizer)
    assert message in str(caught.value)
    assert str(caught.value).endswith(CONTRACT)
    assert "\n" not in str(caught.value)


def test_a_function_of_the_values_is_a_discretizer():
    assert faithkit.score(PHI[:, 0] > 0, PHI, discretizer=lambda phi: np.sign(phi.values)).n_explanations == 4


def test_a_discretizer_that_was_named_is_replaced_by_another_name():
    with pytest.raises(faithkit.errors.InputError, match="choose another one, or 'original'"):
        faithkit.score([0, 1], ["a", "b"], discretizer="sign")
