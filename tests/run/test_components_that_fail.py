"""Whatever a relation, a discretizer, an estimator or a value of somebody else raises is one line that names it."""

import numpy as np
import pytest
from looping import one_test

import faithkit

LABELS, WORDS = ["yes", "no", "yes", "no"], ["a", "a", "b", "b"]


RAISED = [SystemExit(0), KeyError("age"), MemoryError(), StopIteration()]


class Relation(faithkit.plugin.Relation):
    """A relation that fails in one of its methods."""

    name = "theirs"

    def __init__(self, where, raised):
        self.where, self.raised = where, raised
        if where == "packed":
            self.packed = lambda sample, explanations: self.fail("packed")

    def fail(self, where):
        if where == self.where:
            raise self.raised

    def fit(self, background):
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

    name = "theirs"

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

    name, interval = "theirs", True

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


def composed(where, raised):
    return Relation(where, raised) & ~faithkit.relation("same-explanation")


def function(where, raised):
    def theirs(x, word):
        raise raised

    return theirs


PLACES = [
    ("relation", Relation, "fit"),
    ("relation", Relation, "key"),
    ("relation", Relation, "holds"),
    ("relation", Relation, "packed"),
    ("relation", composed, "fit"),
    ("relation", composed, "key"),
    ("relation", composed, "holds"),
    ("relation", function, "called"),
    ("discretizer", Discretizer, "fit"),
    ("discretizer", Discretizer, "discretize"),
    ("discretizer", Discretizer, "describe"),
    ("estimator", Estimator, "scores"),
    ("estimator", Estimator, "by_chance"),
]


@one_test
@pytest.mark.parametrize("raised", RAISED, ids=lambda raised: type(raised).__name__)
@pytest.mark.parametrize(("kind", "make", "where"), PLACES)
@pytest.mark.filterwarnings("ignore:no background:faithkit.FaithkitWarning")
def test_a_component_that_fails_is_named_in_one_line(kind, make, where, raised):
    with pytest.raises(faithkit.errors.ContractError) as caught:
        faithkit.score(LABELS, WORDS, X=WORDS, **{kind: make(where, raised)}).violations()
    line = str(caught.value)
    assert line.startswith(f"the {kind} theirs failed with {type(raised).__name__}")
    assert "\n" not in line
    assert line.endswith(".")


def test_what_a_person_does_is_not_blamed_on_a_component():
    with pytest.raises(KeyboardInterrupt):
        faithkit.score(LABELS, WORDS, relation=Relation("holds", KeyboardInterrupt()))


def test_a_component_may_say_itself_what_is_wrong():
    told = faithkit.errors.InputError("theirs: give X.")
    with pytest.raises(faithkit.errors.InputError, match=r"^theirs: give X\.$"):
        faithkit.score(LABELS, WORDS, relation=Relation("holds", told))


@one_test
@pytest.mark.parametrize(
    ("component", "message"),
    [
        ({"relation": "fit"}, "theirs.fit returned a NoneType; expected the relation: return self"),
        (
            {"relation": "key"},
            "the relation theirs failed with TypeError: object of type 'NoneType' has no len",
        ),
        ({"estimator": "by_chance"}, "the estimator theirs failed with ValueError: could not convert string"),
    ],
    ids=str,
)
def test_a_component_that_returns_nonsense_is_named(component, message, monkeypatch):
    ((kind, method),) = component.items()
    made = {"relation": Relation, "estimator": Estimator}[kind]
    monkeypatch.setattr(made, method, lambda *given: None if kind == "relation" else "much")
    with pytest.raises(faithkit.errors.ContractError, match=message):
        faithkit.score(LABELS, WORDS, **{kind: made("nowhere", None)})


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
        faithkit.score(LABELS, [Value() for _ in LABELS]).violations()


def test_a_discretizer_that_fails_is_a_row_of_the_table_of_all():
    result = faithkit.score(LABELS, WORDS)
    tried = faithkit.try_discretizers(result, [Discretizer("discretize", SystemExit(0)), "original"])
    assert tried["note"].tolist()[1].startswith("the discretizer theirs failed with SystemExit: 0.")
