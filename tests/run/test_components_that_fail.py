"""Whatever a relation, a discretizer, an estimator or a value of somebody else raises is one line that names it."""

import numpy as np
import pytest

import faithkit
from faithkit.arrays.content_words import content_words

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

    def tell(self, identity, names):
        self.fail("tell")
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
    ("discretizer", Discretizer, "tell"),
    ("estimator", Estimator, "scores"),
    ("estimator", Estimator, "by_chance"),
]


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
    """A value, one of whose own methods fails."""

    def __init__(self, failing):
        self.failing = failing

    def fail(self, where):
        if where == self.failing:
            raise SystemExit(0)

    def __hash__(self):
        self.fail("hash")
        return 1

    def __eq__(self, other):
        self.fail("eq")
        return self is other

    def __str__(self):
        self.fail("str")
        return "a value"

    def __repr__(self):
        self.fail("repr")
        return "a value"


@pytest.mark.parametrize(
    ("failing", "message"),
    [
        ("hash", "explanation 0 is a Value and comparing it failed with SystemExit: 0. Give a 2-D array"),
        ("eq", "explanation 1 is a Value and comparing it failed with SystemExit: 0. Give a 2-D array"),
        ("str", "an explanation of type Value failed with SystemExit: 0"),
    ],
)
def test_an_explanation_whose_own_methods_fail_is_named(failing, message):
    one, other = Value(failing), Value(failing)
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.score(LABELS, [one, other, one, one]).violations()


def test_the_content_of_an_explanation_that_cannot_be_written_is_one_line():
    with pytest.raises(faithkit.errors.InputError, match="an explanation failed with SystemExit: 0"):
        content_words([Value("repr")])


@pytest.mark.parametrize("failing", ["hash", "eq", "str"])
def test_a_prediction_whose_own_methods_fail_is_one_line(failing):
    with pytest.raises(
        faithkit.errors.InputError, match="comparing the predictions failed with SystemExit: 0"
    ):
        faithkit.score([Value(failing) for _ in WORDS], WORDS)


def broken(kept):
    yield from kept
    raise SystemExit(0)


def test_what_fails_while_it_is_gone_through_is_one_line():
    with pytest.raises(
        faithkit.errors.InputError, match="going through the predictions failed with SystemExit: 0"
    ):
        faithkit.score(broken(LABELS), WORDS)
    with pytest.raises(
        faithkit.errors.InputError, match="going through the explanations failed with SystemExit: 0"
    ):
        faithkit.score(LABELS, broken(WORDS))


def test_a_discretizer_that_fails_is_a_row_of_the_table_of_all():
    result = faithkit.score(LABELS, WORDS)
    tried = faithkit.try_discretizers(result, [Discretizer("discretize", SystemExit(0)), "original"])
    assert tried["note"].tolist()[1].startswith("the discretizer theirs failed with SystemExit: 0.")
