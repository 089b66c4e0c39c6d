"""The control of sufficiency, the ceiling and worth, against loops that draw, count and leave out anew."""

import csv
import math
import re
import runpy
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
import pytest
from definition import Rows
from faithkit_integrations import judge
from looping import one_test
from scipy import sparse, stats

import faithkit
from faithkit.arrays.bitsets import pack_bits, popcount, unpack_bits
from faithkit.arrays.row_random import derive_seeds
from faithkit.explanations.drawn_scopes import ScopeColumns, ScopeOwners, draw_scopes
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.relations import SameExplanation, draw_control
from faithkit.inputs.seeds import row_seeds
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within_tolerance import Within
from faithkit.measure.baselines.ceiling import Ceiling, measure_ceiling
from faithkit.measure.baselines.paired_rows import PairedRows
from faithkit.measure.counting.count import count
from faithkit.measure.counting.design import Design
from faithkit.measure.counting.pool import Pool
from faithkit.run.comparisons.control_draws import DrawnScopes, draw_controls

DRAWS = 2
few_draws = pytest.mark.usefixtures("few_control_draws")  # so many
ROOT = Path(__file__).parents[2]
SIMULATION = runpy.run_path(str(ROOT / "tests" / "benchmarks" / "simulate_control.py"))
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*of the rows repeat another one:faithkit.errors.FaithkitWarning"
)


def make_table(seed, n=48):
    """Return binary rows with a category and a missing value, so that rules cover many of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 2, (n, 4)).astype(float), columns=list("abcd"))
    X["city"] = rng.choice(["Rome", "Oslo", "Lima"], n)
    X.loc[0, "b"] = np.nan
    return X


def make_rules(X, columns):
    """Return for each row the rule that names its own values in these columns."""
    return [
        faithkit.Rule(
            [faithkit.plugin.OneOf(name, [value]) for name, value in zip(columns, row, strict=True)]
        )
        for row in X[list(columns)].itertuples(index=False)
    ]


def explain_by_rules(X, columns):
    """Return these rules as explanations."""
    return faithkit.Explanations.of(make_rules(X, columns), kind="rule", relation="in-scope")


def score_rules(labels, X, columns, **options):
    """Score the rules that name each row's own values in these columns."""
    return faithkit.score(labels, explain_by_rules(X, columns), X, **options)


def draw(result):
    """Draw the control of a result again."""
    count, relation = result.evidence.counts["sufficiency"], result.setup.applicability.relation
    return draw_controls(result.evidence.population, count, relation, 0, DRAWS)


# -- the comparison --


def draw_random_scopes(rng, n, m, sizes):
    """Return random scopes of n rows over n + m, most of which hold for their owner."""
    scopes = np.zeros((n, n + m), dtype=bool)
    for row in range(n):
        scopes[row, rng.choice(n + m, rng.choice(sizes), replace=False)] = True
        scopes[row, row] |= rng.random() < 0.6
    return scopes


class Predictions:
    """Predictions of one kind: their agreement in the kernel, and their disagreement by its definition."""

    values, scores = np.array([0.0, 1.0, 2.5, 7.0]), np.eye(3)[[0, 1, 2, 2]] * 0.7 + 0.1

    def __init__(self, kind, codes, n):
        self.kind, self.codes = kind, codes
        counts = [np.bincount(part, minlength=4) for part in (codes[:n], codes[n:])]
        counts = (counts[0], counts[1] if len(codes) > n else None)
        self.agreement = {
            "labels": lambda: SAME_LABEL,
            "numbers": lambda: Squares.of_numbers(self.values[:, None], *counts),
            "scores": lambda: Squares.of_scores(self.scores, *counts),
            "a tolerance": lambda: Within(self.values, 1.2),
        }[kind]()
        points = (self.scores if kind == "scores" else self.values[:, None])[codes]
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        self.apart = {
            "labels": (codes[:, None] != codes).astype(float),
            "a tolerance": (squares > 1.2**2).astype(float),
        }.get(kind, squares / 2)


@attrs.frozen(eq=False, slots=False)
class Loop:
    """Measure and control as loops over pairs of rows; every unit is left out by summing up anew.

    `scopes` has the explanation of each row, and for which rows it holds: of the measure, then of each draw.
    Rows that own an explanation come first.
    """

    predictions: Predictions
    scopes: list
    design: Design

    @property
    def n(self):
        return len(self.scopes[0][0])

    @property
    def everybody(self):
        return np.ones(len(self.design), dtype=bool)

    @property
    def block(self):
        return np.zeros(len(self.design), dtype=int) if self.design.block is None else self.design.block

    @property
    def left_out(self):
        return self.design.independent_unit

    def find_pairs(self, holds):
        """Return the pairs of an owner and a row that it is compared with."""
        unit, block = self.design.unit, self.block
        pairs = holds & (unit[: self.n, None] != unit) & (block[: self.n, None] == block)
        return pairs & (self.design.weights[: self.n, None] > 0) & (self.design.weights > 0)

    @cached_property
    def shares(self):
        """The share that each row owns in the measure and in each draw: decided once, with everybody."""
        is_checked = np.array([self.find_pairs(holds).any(axis=1) for _, holds in self.scopes])
        n_draws = is_checked[1:].sum(axis=0)
        both = is_checked[0] & (n_draws > 0)
        return [both * 1.0, *(both * is_checked[1:] / np.maximum(n_draws, 1))]

    def sum_disagreement(self, place, alive):
        """Return the weight of the owners that have a pair, and how far they disagree: of one place's scopes."""
        explanation, holds = self.scopes[place]
        weights, unit, n = self.design.weights, self.design.unit, self.n
        owned = weights[:n] * self.shares[place] * alive[:n]
        keys = np.column_stack([explanation, self.block[:n], holds.diagonal()])
        part = np.unique(keys, axis=0, return_inverse=True)[1].ravel()
        total = lost = 0.0
        for number in np.unique(part[owned > 0]):
            owners = np.flatnonzero((part == number) & (owned > 0))
            of_block = self.block == self.block[owners[0]]
            held = np.flatnonzero(holds[owners[0]] & alive & (weights > 0) & of_block)
            cells = np.bincount(unit[held], weights[held], minlength=unit.max() + 1)
            is_pair = unit[owners, None] != unit[held]
            pairs = is_pair * owned[owners, None] * weights[held]
            factors = 1.0, cells[unit[held]], cells[unit[owners]][:, None]
            compared = np.array([(pairs * factor).sum() for factor in factors])
            apart = self.predictions.apart[np.ix_(owners, held)]
            disagreeing = np.array([(pairs * factor * apart).sum() for factor in factors])
            if compared[0] > 0:
                own, squares = owned[owners] @ cells[unit[owners]], (cells**2).sum()
                second = squares / max(cells.sum() ** 2 - squares, squares)
                third = own / max(owned[owners].sum() * cells.sum() - own, own) if compared[2] else 0.0
                mixture = np.array([0.0, second, third]) / max(1.0, second + third)
                mixture *= not self.design.uninformative
                mixture[0] = 1.0 - mixture.sum()
                total += owned[owners].sum()
                lost += owned[owners].sum() * (mixture * disagreeing / np.maximum(compared, 1e-300)).sum()
        return total, lost

    def means(self, alive):
        """Return the mean agreement of the measure and of the control among those that are left."""
        places = range(len(self.scopes))
        measure, *draws = (self.sum_disagreement(place, alive) for place in places)
        divisor = self.constant(alive) if self.predictions.kind == "numbers" else 1.0
        return [1.0 - lost / total / divisor for total, lost in (measure, np.sum(draws, axis=0))]

    def constant(self, alive):
        """Return the disagreement that one explanation for all rows leaves."""
        size = len(self.design)
        rows = Rows(
            explanation=self.block,
            holds=np.ones((size, size), dtype=bool),
            apart=self.predictions.apart,
            weights=self.design.weights,
            unit=self.design.unit,
            block=self.block,
            owns=np.arange(size) < self.n,
            merged=np.full(size, -1),
            is_mixed=not self.design.uninformative,
        )
        return rows.constant(alive)

    def means_without(self):
        """Return both means without each unit that has explained rows, and without each of the pool."""
        has_weight = self.design.weights > 0
        explained = np.unique(self.left_out[: self.n][has_weight[: self.n]])
        pool = np.setdiff1d(self.left_out[has_weight], explained)
        return [
            np.array([self.means(self.left_out != unit) for unit in units]).reshape(-1, 2)
            for units in (explained, pool)
        ]


def check_control(control, loop):
    """Compare a control, whose ceiling is 1, with the numbers of a loop."""
    x, estimate = loop.means(loop.everybody)
    without, without_pool = loop.means_without()
    n = len(without)

    def error(function):
        values, pool = function(*without.T), function(*without_pool.T)
        variance = (n - 1) / n * ((values - values.mean()) ** 2).sum()
        return math.sqrt(variance + (((pool - pool.mean()) ** 2).sum() if len(pool) else 0.0))

    difference, se, t = x - estimate, error(lambda x, c: x - c), stats.t.ppf(0.975, n - 1)
    worth, se_worth = difference / (1.0 - estimate), error(lambda x, c: (x - c) / (1.0 - c))
    assert control.estimate == pytest.approx(estimate, abs=1e-9)
    assert control.difference.value == pytest.approx(difference, abs=1e-9)
    assert control.difference.low == pytest.approx(difference - t * se, abs=1e-9)
    assert control.difference.p_value == pytest.approx(2 * stats.t.sf(abs(difference) / se, n - 1), rel=1e-6)
    assert control.worth.value == pytest.approx(worth, abs=1e-9)
    assert control.worth.high == pytest.approx(worth + t * se_worth, abs=1e-9)


def unpack(count):
    """Return the explanation of each row of the sample, and for which rows of sample and pool it holds."""
    matrix = [unpack_bits(bits, len(count.labels)) for *_, bits in count.batches()]
    owned = count.owned[: count.n_explained]
    return owned, np.concatenate(matrix)[owned]


DESIGNS = {
    "equal rows": lambda rng, n: {},
    "few weights, some of them 0": lambda rng, n: {"weights": rng.choice([0, 1, 3], n)},
    "weights": lambda rng, n: {"weights": rng.lognormal(size=n) * (rng.random(n) < 0.9)},
    "uninformative weights": lambda rng, n: {"weights": rng.lognormal(size=n), "uninformative": True},
    "clusters": lambda rng, n: {"clusters": rng.integers(0, n // 2, n)},
    "clusters and weights, some of them large": lambda rng, n: {
        "clusters": rng.integers(0, n // 2, n),
        "weights": rng.choice([0.5, 1, 20], n),
    },
    "blocks": lambda rng, n: {"block": rng.integers(0, n // 4, n)},
    "weights, clusters and blocks": lambda rng, n: {
        "block": rng.integers(0, n // 6, n),
        "clusters": rng.integers(0, n // 2, n),
        "weights": rng.lognormal(size=n),
    },
}


@one_test
@pytest.mark.parametrize(("kind", "pool"), [("labels", 0), ("numbers", 7), ("scores", 7), ("a tolerance", 0)])
@pytest.mark.parametrize("design", DESIGNS)
def test_both_means_without_each_unit_are_those_of_loops_over_pairs(design, pool, kind):
    rng, n, m = np.random.default_rng([list(DESIGNS).index(design), pool, len(kind)]), 24, 24 + pool
    predictions = Predictions(kind, rng.integers(0, 4, m), n)
    columns = {"weights": None, "clusters": None} | DESIGNS[design](rng, m)
    design = Design.of(**columns, n=m) or Design.equal(m)
    scopes = [(rng.integers(0, 12, n), draw_random_scopes(rng, n, pool, [1, 1, 4, 9, n]))]
    scopes += [(np.arange(n), draw_random_scopes(rng, n, pool, [0, 1, 1, 6, 9])) for _ in range(3)]
    for _, holds in scopes[1:]:
        for row in range(0, n, 7):  # the same other row in all draws: without it the row has no control
            holds[row] = np.arange(m) == (row + 3) % n
    missing = rng.random(n) < 0.1
    more = Pool.of(np.arange(n, m), predictions.codes[n:]) if pool else None

    def count_scopes(explanation, holds):
        explanations = Explanations(kind="value", values=explanation, missing=missing)
        sample = Sample(np.arange(n), explanations)
        relation = DrawnScopes([pack_bits(holds[:, :n]), pack_bits(holds[:, n:])], [n, pool])
        return count(relation, sample, predictions.codes[:n], 4, more, predictions.agreement, design)

    paired = PairedRows(
        *(lambda measure, *draws: (measure, draws))(*(count_scopes(*both) for both in scopes))
    )
    loop = Loop(predictions, [(e, holds[e] & ~missing[:, None]) for e, holds in scopes], design)
    assert np.array_equal(paired.is_checked, loop.shares[0] > 0)
    assert paired.n_units == len(set(loop.left_out[:n][paired.is_checked]))
    assert paired.means() == pytest.approx(loop.means(loop.everybody), abs=1e-12)
    explained = np.unique(loop.left_out[:n][design.weights[:n] > 0])
    ceilings = np.full(explained.max() + 1, 0.5)
    ceilings[explained] = rng.random(len(explained))
    without, without_pool = paired.means_without(Ceiling(0.5, n, ceilings))
    expected, expected_of_pool = loop.means_without()
    assert without[:, :2] == pytest.approx(expected, abs=1e-12)
    assert without_pool[:, :2] == pytest.approx(expected_of_pool, abs=1e-12)
    assert without[:, 2].tolist() == ceilings[explained].tolist()
    assert (without_pool[:, 2] == 0.5).all()


END_TO_END = {
    "equal rows": (48, "ac", {}),
    "weights": (48, "ac", {"weights": np.random.default_rng(0).lognormal(size=60)}),
    "clusters": (84, "ac", {"clusters": np.arange(100) % 42}),
    "blocks": (160, "a", {"blocks": np.arange(170) % 41}),
}


@one_test
@few_draws
@pytest.mark.parametrize("pool", [0, 6])
@pytest.mark.parametrize("design", END_TO_END)
def test_control_difference_and_worth_equal_those_of_a_loop_that_leaves_out_each_unit(design, pool):
    n, columns, options = END_TO_END[design]
    X, more = (make_table(seed, size).assign(e=np.arange(size) + seed / 8) for seed, size in ((3, n), (4, 6)))
    labels = ((X["a"] + X["c"] > 1) ^ (np.random.default_rng(1).random(n) < 0.1)).to_numpy()
    pool_labels = (more["a"] > 0).to_numpy()
    options = {name: values[: n + pool] for name, values in options.items()}
    result = score_rules(labels, X, columns, pool=(more, pool_labels) if pool else None, **options)
    drawn = draw(result)
    scopes = list(map(unpack, (drawn.measure, *drawn.draws)))
    both = pd.concat([X, more[:pool]])[list(columns)].to_numpy()
    block = options.get("blocks", np.zeros(n + pool))
    by_hand = (both[:n, None] == both).all(axis=2)
    assert np.array_equal(scopes[0][1][1:], (by_hand & (block[:n, None] == block))[1:])  # row 0 lacks a value
    relation = drawn.draws[0].relation
    sizes = sum(map(popcount, getattr(relation, "relation", relation).bits))
    assert np.array_equal(sizes[1:], by_hand[1:].sum(axis=1) - 1)  # whatever the design
    codes = np.concatenate([labels, pool_labels[:pool]]).astype(int)
    loop = Loop(Predictions("labels", codes, n), scopes, drawn.measure.design)
    check_control(result.control, loop)
    assert (result.control.rows, result.control.draws, result.control.ceiling) == (n, DRAWS, 1.0)


@one_test
@few_draws
@pytest.mark.parametrize("weights", [None, np.arange(64) % 4], ids=["equal rows", "weights"])
def test_the_control_of_each_label_is_the_mean_over_its_rows(weights):
    X = make_table(8, 64).fillna(0).assign(e=np.arange(64.0))
    labels = np.where(X["a"] + X["c"] > 1, "high", np.where(X["b"] > 0, "middle", "low"))
    result = score_rules(labels, X, "ac", weights=weights)
    weights = np.ones(64) if weights is None else weights
    shares = np.zeros((DRAWS, len(X)))
    for place, control in enumerate(draw(result).draws):
        for i, row in enumerate(unpack(control)[1]):
            others = np.flatnonzero(row & (np.arange(64) != i))
            shares[place, i] = np.average(labels[others] == labels[i], weights=weights[others])
    by_label = result.by_label()["sufficiency"]
    for label in ("high", "middle", "low"):
        mean = np.average(shares.mean(axis=0), weights=weights * (labels == label))
        assert by_label[label].control == pytest.approx(mean)


# -- drawn scopes --


def find_distances(X, columns, row):
    """Return the distance of every row to one row: by mid-ranks of numbers, 0 or 1 for categories."""
    total = np.zeros(len(X))
    for name in columns:
        column = X[name]
        if column.dtype.kind == "f":
            share = (column.rank() - 0.5) / column.notna().sum()
            gap = (share - share.iloc[row]).abs()
        else:
            gap = (column != column.iloc[row]).astype(float)
        gap[column.isna() | pd.isna(column.iloc[row])] = 1.0
        gap[column.isna() & pd.isna(column.iloc[row])] = 0.0
        total += gap.to_numpy()
    return total


def list_centres(X, columns, owner, scope, size):
    """Return the near rows around which a scope has the nearest rows, whichever way ties are broken."""
    around = find_distances(X, columns, owner)
    limit = np.sort(np.delete(around, owner))[size - 1] + 1e-9
    rows = np.arange(len(X))
    centres = []
    for centre in rows[(around <= limit) | (rows == owner)]:
        distances = find_distances(X, columns, centre)
        inside, outside = distances[scope], distances[~scope & (rows != owner)]
        if not len(outside) or inside.max() <= outside.min() + 1e-9:
            centres.append(centre)
    return centres


def draw_for(X, explanations, sizes, draws=1, order=slice(None)):
    """Return drawn scopes of the rows of X, as matrices."""
    owners = ScopeOwners.of(explanations, list(X.columns), np.asarray(sizes))
    columns, n = ScopeColumns.of(X), len(X)
    seeds = row_seeds(X, 0)
    parts = (
        draw_scopes(owners, columns, derive_seeds(seeds, number), seeds.astype(np.uint64), [n])[0]
        for number in range(draws)
    )
    return [unpack_bits(bits, n) for bits in parts], [
        owners.choose_columns(columns.width, derive_seeds(seeds, number)) for number in range(draws)
    ]


def test_a_drawn_scope_has_the_rows_nearest_to_a_near_row():
    rng = np.random.default_rng(0)
    X = make_table(0, 40).assign(e=rng.normal(size=40), f=np.where(rng.random(40) < 0.3, np.nan, 1.5))
    X["f"] *= rng.integers(0, 5, 40)
    sizes = rng.integers(0, 40, 40)
    sizes[:4] = 0, 1, 39, 38
    centred, apart = 0, 0
    matrices, columns = draw_for(X, explain_by_rules(X.fillna(0), "ab"), sizes, draws=3)
    for scopes, chosen in zip(matrices, columns, strict=True):
        assert (chosen < 7).sum(axis=1).tolist() == [2] * 40
        assert np.array_equal(scopes.sum(axis=1), sizes)
        assert not scopes.diagonal().any()
        for owner in np.flatnonzero(sizes):
            names = X.columns[chosen[owner]]
            assert not set(names) & {"a", "b"}
            centres = list_centres(X, names, owner, scopes[owner], sizes[owner])
            assert centres
            centred, apart = centred + (owner in centres), apart + (owner not in centres)
    assert apart > centred  # few of many near rows are the owner


def test_missing_values_are_near_each_other_only_and_dates_durations_and_decimals_are_numbers():
    X = pd.DataFrame(
        {
            "day": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-02", None]),
            "wait": pd.to_timedelta([1, 3, 2, None], "h"),
            "price": np.array([Decimal("0.1"), Decimal("0.3"), Decimal("0.2"), None], dtype=object),
            "kind": pd.Categorical([3, 1, 1, None]),
            "flag": np.array([True, False, False, None], dtype=object),
        }
    )
    columns = ScopeColumns.of(X)
    distances = columns.measure(np.arange(5)[:, None], np.zeros(5, dtype=int)) / columns.unit
    numbers = [0, 2 / 3, 1 / 3, 1]
    assert distances == pytest.approx(np.array([*[numbers] * 3, [0, 1, 1, 1], [0, 1, 1, 1]]), abs=0.13)
    assert (columns.measure(np.full((1, 1), 0), np.array([3])) / columns.unit).tolist() == [[1, 1, 1, 0]]


def test_columns_are_as_many_as_the_explanation_names_and_others_where_there_are_enough():
    n = 200
    seeds = np.arange(n, dtype=np.uint32)

    def choose(named, width):
        rows, columns = np.repeat(np.arange(n), len(named)), np.tile(np.array(named, dtype=int), n)
        return ScopeOwners(np.ones(n, dtype=int), rows, columns).choose_columns(width, seeds)

    assert set(choose([0, 1], 4).ravel()) == {2, 3}
    assert set(choose([0, 1, 2], 5).ravel()) == set(range(5))  # only two others
    assert choose([], 5).shape == (n, 3)
    assert set(choose([], 2).ravel()) == {0, 1}
    counts = np.bincount(choose([], 5).ravel(), minlength=5)
    assert counts.min() > 0.8 * counts.mean()


ROW = np.arange(60)
IN_ANY_ORDER = {
    "equal rows": {},
    "weights": {"weights": 1.0 + ROW % 3},
    "clusters": {"clusters": ROW // 3},
    "blocks": {"blocks": ROW % 7, "weights": 1.5 ** (ROW % 3)},
}


@one_test
@few_draws
@pytest.mark.parametrize("design", IN_ANY_ORDER)
@pytest.mark.parametrize("n", [60, 40])
def test_the_order_of_rows_changes_no_control_nor_do_their_labels(design, n, monkeypatch):
    monkeypatch.setattr("faithkit.measure.baselines.control.MIN_ROWS", 2)  # units, such as blocks
    X, rng = make_table(5, 60), np.random.default_rng(0)
    labels, phi = (X["a"] > 0).to_numpy(), np.random.default_rng(1).normal(size=(60, 3))
    importances = faithkit.Explanations.vectors(phi, relation="same-top-features:k=1")
    for explanations, columns in ((explain_by_rules(X, "ac"), X.columns), (importances, list("acd"))):
        controls = []
        for order in (ROW, np.append(rng.permutation(n), n + rng.permutation(60 - n))):
            rows, further = np.split(order, [n])
            result = faithkit.score(
                labels[rows],
                explanations.take(rows),
                X[columns].iloc[rows],
                pool=(X[columns].iloc[further], labels[further]) if n < 60 else None,
                **{name: values[order] for name, values in IN_ANY_ORDER[design].items()},
            )
            controls.append(result.control)
        assert controls[1].estimate == pytest.approx(controls[0].estimate, abs=1e-12)
        assert controls[1].difference.low == pytest.approx(controls[0].difference.low, abs=1e-12)


@few_draws
def test_equal_rows_have_draws_of_their_own():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (90, 3)), columns=list("abc"))
    result = score_rules((X["a"] > 0).to_numpy(), X, "a")
    scopes = unpack(draw(result).draws[0])[1][(X.iloc[0] == X).all(axis=1)]
    assert len(np.unique(scopes, axis=0)) == len(scopes) > 3


# -- words --


def draw_words(texts, named):
    """Return the control rules of texts whose rules name these words, and where there is none."""
    rules = [faithkit.Rule([faithkit.plugin.Contains(word) for word in words]) for words in named]
    sample = Sample(texts, Explanations.of(rules, kind="rule"))
    drawn = draw_control(faithkit.relation("in-scope"), sample, np.arange(len(texts), dtype=np.uint32))
    return drawn.values, drawn.missing


def test_control_rules_about_words_name_as_many_other_words_of_the_text_that_are_about_as_frequent():
    texts = ["the film was good", "the plot was thin and long", "good", "a fine day"] * 12
    drawn, is_missing = draw_words(texts, [["good", "film"], ["thin"], ["good"], []] * 12)
    words = [{predicate.token for predicate in rule.predicates} for rule in drawn]
    assert all(found == {"the", "was"} for found in words[::4])
    assert set(map(tuple, words[1::4])) == {("the",), ("plot",), ("was",), ("and",), ("long",)}
    assert is_missing.tolist() == [False, False, True, False] * 12  # no other word
    texts = ["rare common", "rare common", *["common"] * 7]
    assert draw_words(texts, [["rare"]] * 2 + [["common"]] * 7)[1][:2].all()  # 9 is more than 4 times 2
    assert not draw_words(texts[:8], [["rare"]] * 2 + [["common"]] * 6)[1][:2].any()


def test_texts_without_other_words_have_no_control_and_too_many_of_them_no_worth():
    texts = [word + " film" * (1 + i) for i in range(30) for word in ("good", "bad")]
    texts += [word * (1 + i) for i in range(10) for word in ("good ", "bad ")]  # no text occurs twice
    rules = [faithkit.Rule([faithkit.plugin.Contains(text.split()[0])]) for text in texts]
    labels = [text.startswith("good") for text in texts]
    result = faithkit.score(labels, Explanations.of(rules, kind="rule", relation="in-scope"), texts)
    assert result.control.verified == pytest.approx(60 / 80)
    assert (result.control.finding, result.control.worth) == ("above its control", None)
    assert "75 % of the checked explanations have a control, too few for a worth" in " ".join(
        str(result).split()
    )


# -- findings and worth --


@few_draws
def test_an_explanation_that_determines_the_prediction_is_worth_everything_and_its_control_nothing():
    X = make_table(2, 200).assign(e=np.arange(200.0))
    labels = X["a"] > 0
    truth = score_rules(labels, X, "a")
    assert truth.control.worth.value == pytest.approx(1.0)
    assert "Explanations close 100 %" in truth.to_text(verbose=True)
    columns = np.random.default_rng(0).choice(list("acd"), len(X))
    named = [faithkit.Rule([faithkit.plugin.OneOf(c, [X.loc[i, c]])]) for i, c in enumerate(columns)]
    random = faithkit.score(labels, Explanations.of(named, kind="rule"), X[list("acde")], relation="in-scope")
    assert random.control.finding == "not above its control"
    assert random.control.worth.low < 0 < random.control.worth.high


@few_draws
def test_explanations_not_above_their_control_are_reported_with_the_most_of_the_gap_they_may_close():
    X = make_table(1, 60).assign(e=np.arange(60.0))
    labels = np.random.default_rng(51).random(60) < 0.5
    result = score_rules(labels, X, "a")
    assert result.control.finding == "not above its control"
    text = " ".join(result.to_text(verbose=True).split())
    (percent,) = re.findall(r"Explanations close at most (\d+) % of the gap between the control and", text)
    assert int(percent) / 100 == pytest.approx(result.control.worth.high, abs=0.01)


@few_draws
def test_a_model_that_contradicts_itself_has_a_lower_ceiling():
    X = pd.concat([make_table(2, 60).fillna(0)] * 3, ignore_index=True)
    labels = (X["a"] > 0) ^ (np.random.default_rng(0).random(len(X)) < 0.1)
    result = score_rules(labels, X, "a")
    rows = list(X.itertuples(index=False, name=None))
    agreeing = [
        labels[i] == labels[j] for i in range(180) for j in range(180) if i != j and rows[i] == rows[j]
    ]
    assert 0.75 < result.control.ceiling < 0.95
    assert result.control.ceiling == pytest.approx(np.mean(agreeing), abs=0.02)  # mean over pairs, not rows
    assert result.control.ceiling_rows == 180
    assert "No explanation can agree with more than the model: the model agrees with itself" in " ".join(
        str(result).split()
    )
    assert " of the gap between the control and the full input (the model agrees with itself" in " ".join(
        result.to_text(verbose=True).split()
    )


@few_draws
def test_there_is_no_worth_where_few_rows_are_repeated_or_the_control_is_near_the_ceiling():
    X = make_table(2, 200).assign(e=np.arange(200.0))
    few = pd.concat([X, X[:20]], ignore_index=True)
    result = score_rules(few["a"] > 0, few, "a")
    assert (result.control.ceiling_rows, result.control.worth) == (40, None)
    assert "Only 40 instances were predicted more than once" in " ".join(result.to_text(verbose=True).split())
    many = pd.concat([X, X[:30]], ignore_index=True)
    assert score_rules(many["a"] > 0, many, "a").control.worth.value == pytest.approx(1)
    constant = score_rules(np.arange(200) > 2, X, "a")
    assert constant.control.estimate > 0.95
    assert constant.control.worth is None
    assert "The gap between the control and the full input is too small" in " ".join(
        constant.to_text(verbose=True).split()
    )


# -- where there is a control --


@few_draws
def test_any_relation_over_a_table_has_a_control():
    X = make_table(2, 120)
    labels = (X["a"] > 0).to_numpy()

    def same_a(x, explanation):
        return x["a"] == explanation

    result = faithkit.score(labels, list(X["a"]), X, relation=faithkit.relation(same_a))
    assert result.control.finding == "above its control"
    phi = X[["a"]].to_numpy()
    near = faithkit.score(labels, phi, X, relation="near-explanation:tau=0.5")
    assert near.control.finding == "above its control"
    array = faithkit.score(labels, phi, X[list("acd")].to_numpy(), relation="near-explanation:tau=0.5")
    assert array.control.finding == "above its control"


@few_draws
def test_a_relation_that_groups_has_the_control_of_its_double_negation():
    X, relation = make_table(2, 120), faithkit.relation("same-explanation")
    labels, words = (X["a"] > 0) ^ (X["b"] > 0), list(X["a"])
    groups, pairs = (faithkit.score(labels, words, X, relation=each) for each in (relation, ~~relation))
    assert groups.control == pairs.control


@one_test
@few_draws
@pytest.mark.parametrize(
    ("role", "values", "verdict"),
    [
        ("weights", 1.0 + np.arange(300) % 5, "faithful"),
        ("clusters", np.arange(300) // 3, "faithful"),
        ("blocks", np.arange(300) % 60, "better than its control"),  # rules that hold for few rows of a block
    ],
    ids=["weights", "clusters", "blocks"],
)
def test_rows_of_any_design_can_be_above_their_control_and_faithful(role, values, verdict):
    X = make_table(2, 300).assign(e=np.arange(300.0))
    truth, useless = (score_rules(X["a"] > 0, X, column, **{role: values}) for column in "ad")
    assert truth.control.worth.value == pytest.approx(1.0)
    assert truth.verdict.name == verdict
    assert useless.control.finding != "above its control"


def explain_why(labels, explanations, X=None, **options):
    """Return why a result has no control."""
    return faithkit.score(labels, explanations, X, **options).why_no_control


@few_draws
def test_why_there_is_no_control():
    X = make_table(0, 30)
    few = score_rules(X["a"] > 0, X, "a")
    assert few.control is None
    reason = "a control is compared on 40 rows or more that both could check, and there are 30"
    assert few.why_no_control == reason
    assert "Sufficiency has no control: a control is compared on 40" in str(few)
    labels, phi, near = [0, 1] * 30, np.arange(60.0)[:, None], {"relation": "near-explanation:tau=1.0"}
    assert explain_why([0, 1], ["a", "a"]) == "sufficiency was not measured"
    assert "none were given: pass X" in explain_why(labels, phi, **near)
    no_table = "offers none for these rows, and there is no table of instances"
    assert no_table in explain_why(labels, phi, ["good", "bad"] * 30, **near)
    assert no_table in explain_why(labels, phi, sparse.csr_array(phi), **near)
    assert no_table in explain_why(labels, phi, np.zeros((60, 2, 2)), **near)
    rows = np.arange(60)
    too_few = "a control is compared on 40 {} or more that both could check, and there are {}"
    assert explain_why(labels, phi, phi, weights=rows % 3, **near) is None
    assert explain_why(labels, phi, phi, weights=rows < 30, **near) == too_few.format("rows", 30)
    assert explain_why(labels, phi, phi, clusters=rows // 2, **near) == too_few.format("clusters", 30)
    assert explain_why(labels, phi, phi, blocks=rows // 4, **near) == too_few.format("blocks", 15)
    assert explain_why(labels, phi, phi, control_draws=0, **near) == "none was asked for (control_draws=0)"


@few_draws
def test_the_control_of_a_large_sample_is_drawn_on_rows_chosen_by_their_content(monkeypatch):
    monkeypatch.setattr("faithkit.run.comparisons.control_draws.MAX_ROWS", 80)
    X = make_table(0, 200).fillna(0).assign(e=np.arange(200.0))
    labels = (X["a"] > 0).to_numpy()
    order = np.random.default_rng(0).permutation(200)
    results = [score_rules(labels[rows], X.iloc[rows], "a") for rows in (np.arange(200), order)]
    assert results[0].control.rows == 80
    assert results[0].control.worth.value == pytest.approx(1)
    assert results[1].control.difference.low == pytest.approx(results[0].control.difference.low, abs=1e-12)
    drawn = draw(results[0])
    assert drawn.measure.owners.n == 80
    assert int(drawn.measure.owners.totals.max()) <= 80  # the rows that can be held are these
    text = " ".join(str(results[0]).split())
    assert "The control was drawn for 80 of 200 rows, chosen by their content." in text
    more = make_table(1, 300).assign(e=np.arange(300.0))
    pooled = score_rules(labels, X, "a", pool=(more, (more["a"] > 0).to_numpy()))
    assert len(draw(pooled).measure.pool_labels) == 80
    assert pooled.control.worth.value == pytest.approx(1)
    weights = np.concatenate([X["e"], more["e"]]) + 1.0
    weighted = score_rules(labels, X, "a", pool=(more, (more["a"] > 0).to_numpy()), weights=weights)
    measure = draw(weighted).measure
    expected = np.concatenate([sample.X["e"] + 1.0 for sample, _ in measure.pieces()])
    assert measure.design.weights == pytest.approx(expected / expected.mean())
    assert len(expected) == 160


class BelowLimit(faithkit.plugin.Relation):
    """The instance is at most the explanation; a control takes a smaller or a larger one."""

    name = "at-most"
    instance_only = True

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        return sample.X[:, 0] <= explanations.values

    def control(self, sample, explanations, seeds):
        moved = explanations.values + faithkit.plugin.row_uniforms(seeds, 1) - 0.5
        return attrs.evolve(explanations, values=moved, identity=None)


@one_test
@few_draws
@pytest.mark.parametrize(
    "weights", [None, np.random.default_rng(0).lognormal(size=150)], ids=["equal rows", "weights"]
)
def test_a_relations_own_control_of_a_large_sample_is_compared_with_all_rows(weights, monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 1))
    labels, limits = X[:, 0] > 0, X + rng.normal(size=X.shape)
    monkeypatch.setattr("faithkit.run.comparisons.control_draws.MAX_ROWS", 60)
    explanations, options = (limits[:100], X[:100]), {"relation": BelowLimit(), "weights": weights}
    result = faithkit.score(labels[:100], *explanations, pool=(X[100:], labels[100:]), **options)
    drawn = draw(result)
    assert (result.control.rows, len(drawn.measure.pool_labels)) == (60, 90)
    order = np.concatenate([drawn.rows, np.setdiff1d(np.arange(150), drawn.rows)])
    design = Design.of(None if weights is None else weights[order], None, 150) or Design.equal(150)
    scopes = list(map(unpack, (drawn.measure, *drawn.draws)))
    assert np.array_equal(scopes[0][1], X[order, 0] <= limits[drawn.rows])
    loop = Loop(Predictions("labels", labels[order].astype(int), 60), scopes, design)
    x, estimate = loop.means(loop.everybody)
    assert result.control.estimate == pytest.approx(estimate, abs=1e-12)
    assert result.control.difference.value == pytest.approx(x - estimate, abs=1e-12)
    small = faithkit.score(labels[:60], limits[:60], X[:60], relation=BelowLimit())
    assert (small.control.rows, small.control.draws) == (60, DRAWS)


@one_test
@pytest.mark.parametrize("outcome", ["labels", "numbers"])
def test_the_ceiling_without_each_unit_equals_that_of_a_loop(outcome):
    rng = np.random.default_rng(7)
    n = 40
    instance, labels, unit = rng.integers(0, 15, n), rng.integers(0, 3, n), rng.integers(0, 12, n)
    weight = rng.integers(1, 4, n).astype(float)
    numbers = np.array([0.0, 1.0, 2.5])
    agreement, apart = SAME_LABEL, lambda i, j: float(labels[i] != labels[j])
    if outcome == "numbers":
        agreement = Squares.of_numbers(numbers[:, None], np.bincount(labels))
        scale = np.mean([(numbers[i] - numbers[j]) ** 2 / 2 for i in labels for j in labels]) * n / (n - 1)
        apart = lambda i, j: (numbers[labels[i]] - numbers[labels[j]]) ** 2 / 2 / scale  # noqa: E731

    def ceiling(alive):
        disagreeing = compared = 0.0
        for code in set(instance[alive]):
            rows = [i for i in np.flatnonzero(alive) if instance[i] == code]
            pairs = [(i, j) for i in rows for j in rows if i != j]
            if pairs:
                whole = weight[rows].sum()
                mean = sum(weight[i] * weight[j] * apart(i, j) for i, j in pairs) / sum(
                    weight[i] * weight[j] for i, j in pairs
                )
                disagreeing, compared = disagreeing + whole * mean, compared + whole
        return 1.0 - disagreeing / compared

    measured = measure_ceiling(instance, labels, agreement, unit, weight)
    assert measured.value == pytest.approx(ceiling(np.ones(n, dtype=bool)), abs=1e-9)
    for u in set(unit.tolist()):
        assert measured.without[u] == pytest.approx(ceiling(unit != u), abs=1e-9)


@few_draws
def test_a_comparison_shows_the_control_of_each_system():
    X = make_table(2, 80).fillna(0)

    def name_a(X):
        return explain_by_rules(X, "a")

    compared = faithkit.compare(lambda X: X["a"] > 0, X, explainers=[name_a], progress=False)
    control = compared.results["name_a"].control.estimate
    assert f"{control:.3f}" in str(compared).split("sufficiency")[1]


def test_fewer_than_ten_draws_are_refused():
    with pytest.raises(
        faithkit.errors.InputError, match="3 draws of the control are too few: give at least 10"
    ):
        faithkit.score([0, 1], ["a", "b"], control_draws=3)


def test_a_control_of_another_form_is_the_relations_fault():
    class Shortened(SameExplanation):
        groups = False
        name = "shortened"

        def control(self, sample, explanations, seeds):
            return explanations.take(slice(3))

    result = faithkit.score([0, 1] * 30, ["a", "b"] * 30, X=np.arange(60.0)[:, None], relation=Shortened())
    with pytest.raises(
        faithkit.errors.ContractError, match=r"shortened.control returned .* expected 60 explanations"
    ):
        _ = result.control


def test_a_loaded_result_has_its_control(tmp_path):
    X = make_table(2, 80)
    result = score_rules(X["a"] > 0, X, "a")
    result.write(tmp_path / "result.json")
    assert faithkit.load(tmp_path / "result.json").control == result.control
    assert result.control.draws == 10
    assert judge(result, above_control=True)[0].is_kept


@few_draws
def test_a_gate_on_the_control_needs_one_and_fails_where_it_is_not_exceeded():
    X = make_table(2, 80)
    labels = X["a"] > 0
    useless = score_rules(labels, X, "d")
    (gate,) = judge(useless, above_control=True)
    assert gate.is_kept is False
    assert gate.words.startswith("sufficiency is below its control (the difference is between ")
    (gate,) = judge(faithkit.score(labels, list(X["d"]), X), above_control=True)
    assert gate.is_kept is None


@few_draws
def test_an_estimate_that_exceeds_the_control_by_less_than_its_error_is_not_above_it():
    X = make_table(2, 80).assign(e=np.arange(80.0))
    labels = (X["a"] > 0) ^ (np.random.default_rng(1).random(80) < 0.45)
    result = score_rules(labels, X, "a")
    assert result.control.difference.low < 0 < result.control.difference.value
    assert result.control.finding == "not above its control"
    assert judge(result, above_control=True)[0].is_kept is False


# -- simulations --


@few_draws
@pytest.mark.parametrize("law", SIMULATION["COINS"])
def test_rules_that_say_nothing_of_a_coin_are_worth_nothing(law):
    above, _, worth = SIMULATION["compare"](law, 12, 200)
    assert abs(worth) <= 0.02 + 0.03  # in twelve samples
    assert above <= 2 / 12


def test_a_topic_word_is_not_above_other_words_of_the_topic():
    rng = np.random.default_rng(0)
    topics = [[f"{topic}{word}" for word in range(5)] for topic in "ab"]
    texts, labels = [], []
    for _ in range(200):
        topic = int(rng.integers(0, 2))
        texts.append(" ".join(rng.choice(topics[topic], 3, replace=False)))
        labels.append(bool(topic) ^ bool(rng.random() < 0.1))
    rules = [faithkit.Rule([faithkit.plugin.Contains(text.split()[0])]) for text in texts]
    result = faithkit.score(labels, Explanations.of(rules, kind="rule", relation="in-scope"), texts)
    assert result.sufficiency.finding == "above chance"
    assert result.control.finding != "above its control"


def allowed_misses(runs, law):
    """Return how often either end may miss: in 4 % of samples, and two standard errors of so many runs.

    Where rules name a column that decides now and then, in 8 %: scopes of exactly as many rows cut its
    categories apart.
    """
    share = 0.04 if law in SIMULATION["COINS"] else 0.08
    return share + 2 * math.sqrt(share * (1 - share) / runs)


@pytest.mark.simulation
@pytest.mark.parametrize("law", SIMULATION["LAWS"])
def test_useless_explanations_are_worth_nothing_and_seldom_above_or_below_their_control_and_true_ones_are(
    law,
):
    above, below, worth = SIMULATION["compare"](law, 200, 300)
    assert max(above, below) <= allowed_misses(200, law)
    assert abs(worth) <= (0.02 if law in SIMULATION["COINS"] else 0.03)
    if law not in SIMULATION["COINS"]:
        assert SIMULATION["compare"](law, 20, 300, "true")[0] == 1


def test_the_table_of_simulations_has_every_law_and_none_that_misses():
    with (ROOT / "docs" / "control.csv").open() as file:
        table = list(csv.DictReader(file))
    assert {row["law"] for row in table} == set(SIMULATION["LAWS"])
    for row in table:
        shares = [float(row[f"useless {side}"].removesuffix(" %")) for side in ("above", "below")]
        assert max(shares) <= 100 * allowed_misses(200, row["law"])
        assert abs(float(row["worth of useless"].replace("−", "-"))) <= 0.02


def test_an_instance_is_predicted_twice_only_if_two_of_its_rows_have_a_weight():
    instance, labels, unit = np.array([0, 0, 1]), np.array([0, 1, 1]), np.arange(3)
    ceiling = measure_ceiling(instance, labels, SAME_LABEL, unit, np.array([1.0, 0.0, 1.0]))
    assert (ceiling.value, ceiling.rows, ceiling.without.tolist()) == (1.0, 0, [1.0, 1.0, 1.0])
    ceiling = measure_ceiling(instance, labels, SAME_LABEL, unit, np.array([1.0, 1e-12, 1.0]))
    assert ceiling.value == 1.0
