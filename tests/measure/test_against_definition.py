"""Every design, relation and kind of prediction against the definition, with each unit left out by a loop."""

import attrs
import numpy as np
import pytest
from looping import one_test
from nearly import assert_nearly

import faithkit
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import Relation, SameExplanation
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within_tolerance import Within
from faithkit.measure.counting import owners
from faithkit.measure.counting.cell_count import count_cells
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.scans import Pool
from faithkit.measure.counting.tally import count
from faithkit.measure.jackknife import summary
from faithkit.measure.jackknife.summary import JackknifeEstimate
from tests.oracle import Sums, comparison_matrix, jackknife

OUTCOMES = ("labels", "scores", "tolerance", "numbers")
DESIGNS = ("equal", "weights", "clusters", "both", "uninformative", "clusters of one size")
# every design with labels and with numbers, and every outcome with two designs
CASES = [
    (outcome, design)
    for outcome in OUTCOMES
    for design in DESIGNS
    if outcome in ("labels", "numbers") or design in ("equal", "both")
]


class Near(Relation):
    """An explanation holds for instances near its value."""

    instance_only = True

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return np.abs(np.asarray(explanations.values, float)[:, None] - sample.X[None, :, 0]) <= 1.0


def remember(function):
    """Keep the results of a function of an array."""
    results = {}

    def call(alive):
        key = alive.tobytes()
        if key not in results:
            results[key] = function(alive)
        return results[key]

    return call


@attrs.frozen
class Case:
    """A small sample, and by its definition what is measured."""

    x: np.ndarray
    label: np.ndarray
    weights: np.ndarray
    unit: np.ndarray
    owns: np.ndarray
    explanation: np.ndarray
    outcome: str
    design: str
    texts: bool

    @classmethod
    def drawn(cls, seed, outcome, design, pool=0, texts=True):
        rng = np.random.default_rng([seed, OUTCOMES.index(outcome), DESIGNS.index(design), pool])
        n = int(rng.integers(6, 12)) + pool
        x = rng.integers(0, 6, n).astype(float)
        label = rng.integers(0, 3, n)
        label[:3] = [0, 1, 2]
        weights = np.ones(n)
        if design in ("weights", "both", "uninformative"):
            weights = rng.choice([1.0, 1.0, 2.0, 5.0, 30.0, 0.0], n)
            weights[:3] = [1.0, 2.0, 1.0]
        unit = np.arange(n)
        if design in ("clusters", "both", "uninformative"):
            unit = np.unique(
                np.append(rng.integers(0, n // 2 + 1, n - pool), n + np.arange(pool)), return_inverse=True
            )[1]
        if design == "clusters of one size":
            unit = np.arange(n) // 2
        owns = (np.arange(n) < n - pool).astype(float)
        return cls(x, label, weights, unit, owns, np.where(owns > 0, x, -9.0), outcome, design, texts)

    @property
    def values(self):
        return (
            np.array([[0.0, 0.5], [1.0, 0.0], [0.2, 0.9]])
            if self.outcome == "scores"
            else np.array([0.5, 1.0, 3.0])
        )

    @property
    def disagreement(self):
        v = self.values.reshape(3, -1)
        if self.outcome == "labels":
            d = 1.0 - np.eye(3)
        elif self.outcome == "tolerance":
            d = (np.abs(v - v.T) > 0.75).astype(float)
        else:
            d = ((v[:, None] - v[None]) ** 2).sum(axis=2) / 2
        return d[np.ix_(self.label, self.label)]

    def agreement(self, times, pool=None):
        if self.outcome == "labels":
            return SAME_LABEL
        if self.outcome == "tolerance":
            return Within(self.values, 0.75)
        make = Squares.of_numbers if self.outcome == "numbers" else Squares.of_scores
        return make(self.values.reshape(3, -1), times, pool)

    def measure(self, relation):
        """Return the estimate of the package."""
        n = int(self.owns.sum())
        values = [str(v) for v in self.x[:n]] if self.texts else self.x[:n]
        explanations = Explanations.of(values) if self.texts else Explanations(kind="value", values=values)
        sample = Sample(self.x[:n, None], explanations)
        times = np.bincount(self.label[:n], minlength=3)
        pool = times_in_pool = None
        if n < len(self.x):
            times_in_pool = np.bincount(self.label[n:], minlength=3)
            pool = Pool.of(self.x[n:, None], self.label[n:])
        rows = relation, sample, self.label[:n], 3
        agreement = self.agreement(times, times_in_pool)
        design = Design.of(self.weights, self.unit, len(self.x), uninformative=self.design == "uninformative")
        if design is None:
            return JackknifeEstimate.of(count(*rows, pool, agreement))
        return JackknifeEstimate.of(count_cells(*rows, design, pool, agreement))

    def holds(self, relation):
        """Say for each row whether its explanation holds for each other row."""
        if relation.groups:
            return self.explanation[:, None] == self.x[None, :]
        return np.abs(self.explanation[:, None] - self.x[None, :]) <= 1.0

    def thinning(self, holds):
        """Return the largest cell of the sample, or None where all cells are equal or weights say nothing."""
        if self.design == "uninformative":
            return None
        sizes = []
        for explanation in np.unique(self.explanation[self.owns > 0]):
            first_owner = ((self.explanation == explanation) & (self.owns > 0)).argmax()
            in_scope = np.where(holds[first_owner], self.weights, 0.0)
            sizes.extend(np.bincount(self.unit, weights=in_scope))
        sizes = [size for size in sizes if size > 0]
        return max(sizes) if max(sizes) > min(sizes) else None

    def sums(self, relation):
        holds = self.holds(relation)
        thinning = self.thinning(holds)
        block = self.alone(relation)
        every = np.ones_like(holds)
        totals = [self.weights[self.unit == u].sum() for u in np.unique(self.unit)]
        constant_thinning = None if self.design == "uninformative" else max(totals)
        cells = [self.weights[block & (self.unit == u)].sum() for u in np.unique(self.unit[block])]
        block_thinning = max(cells, default=0.0)

        @remember
        def matrices(alive):
            w = np.where(alive, self.weights, 0.0)
            shared = comparison_matrix(holds, self.unit, w, self.owns, thinning)
            together = np.outer(block, block)
            return shared, comparison_matrix(together, self.unit, w, self.owns, block_thinning)

        @remember
        def constant(alive):
            w = np.where(alive, self.weights, 0.0)
            return comparison_matrix(every, self.unit, w, self.owns, constant_thinning)

        return Sums(
            matrices, constant, self.disagreement, self.weights, self.owns, 1.0, self.outcome == "numbers"
        )

    def alone(self, relation):
        """Return the rows whose explanation only one unit has: texts form one block."""
        block = np.zeros(len(self.x), dtype=bool)
        if not relation.groups or self.outcome == "tolerance":
            return block
        for value in np.unique(self.x):
            rows = (self.x == value) & (self.weights > 0)
            if len(np.unique(self.unit[rows])) == 1:
                block |= rows
        return block if len(np.unique(self.x[block])) > 1 else np.zeros_like(block)


def assert_equals_definition(case, relation):
    result, sums = case.measure(relation).statistics, case.sums(relation)
    x, lost, compared = sums.of(np.ones(len(case.x), dtype=bool))
    assert result.estimate == pytest.approx(x, abs=1e-10)
    assert result.disagreement == pytest.approx(lost, abs=1e-10)
    assert result.compared == pytest.approx(compared, abs=1e-10)
    errors = jackknife(sums, case.unit, case.weights, case.owns)
    assert (result.se or 0.0) == pytest.approx(errors[0], abs=1e-8)
    assert (result.se_disagreement or 0.0) == pytest.approx(errors[1], abs=1e-8)


@one_test
@pytest.mark.parametrize(("outcome", "design"), CASES)
def test_groups_and_lone_rows_in_one_block_are_sums_over_pairs(outcome, design):
    assert_equals_definition(Case.drawn(1, outcome, design), SameExplanation())


@one_test
@pytest.mark.parametrize(("outcome", "design"), CASES)
def test_a_relation_between_rows_is_a_sum_over_pairs(outcome, design):
    assert_equals_definition(Case.drawn(0, outcome, design, texts=False), Near())


@one_test
@pytest.mark.parametrize(("outcome", "design"), [case for case in CASES if case[1] != DESIGNS[-1]])
def test_rows_of_a_pool_are_compared_and_own_nothing(outcome, design):
    assert_equals_definition(Case.drawn(0, outcome, design, pool=4, texts=False), Near())


def test_blocks_of_rows_change_no_standard_error(monkeypatch):
    rng = np.random.default_rng(5)
    words = np.concatenate(
        [np.repeat(np.arange(30), 4), 30 + np.repeat(np.arange(60), 2)]
    )  # fours, then pairs
    labels = rng.integers(0, 2, len(words))
    whole = faithkit.score(labels.tolist(), words.tolist()).consistency
    for module in (summary, owners):
        monkeypatch.setattr(module, "BATCH_SIZE", 16)
    blocks = faithkit.score(labels.tolist(), words.tolist()).consistency
    assert_nearly(blocks, whole)


def test_a_group_that_agrees_wholly_has_no_contradiction_whatever_its_weights():
    numbers, groups = [0.1, 0.7, 0.1, 0.7, 0.7], [[0], [1], [0], [1], [1]]
    weights = [0.1, 0.2, 0.9, 0.2, 0.2]
    assert (
        faithkit.score(numbers, np.array(groups), outcome="numbers", weights=weights).contradictions() == []
    )
