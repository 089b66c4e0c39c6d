"""The searches find what dice-ml's own searches find, in distribution where the draws differ."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from dice_ml import Model
from dice_ml.explainer_interfaces.dice_genetic import DiceGenetic
from dice_ml.explainer_interfaces.dice_KD import DiceKD
from dice_ml.explainer_interfaces.dice_random import DiceRandom
from faithkit_example_based.dice_search.background import OUTCOME, Background
from faithkit_example_based.dice_search.dice_table import CLOSE_QUANTILE
from faithkit_example_based.dice_search.goals import ClassGoal
from faithkit_example_based.dice_search.lockstep import run_in_lockstep
from faithkit_example_based.dice_search.random_search import COPIES, ValueSampler
from faithkit_example_based.dice_search.sparsity import LINEAR_STEPS, sparsify_by_bisection, sparsify_in_steps
from mixed_tables import workers
from scipy import stats

import faithkit

NO_CHANCE = 1e-4  # two samples of one distribution differ that much once in 10,000 times, and seeds are fixed


def predict_busy(frame):
    return ((frame["hours"] + frame["age"] / 10 > 30) | (frame["job"] == "a")).to_numpy()


def predict_rare(frame):
    """Three columns must be right: a row in which two are changed is not enough."""
    return ((frame["hours"] > 20) & (frame["age"] > 50) & (frame["job"] == "a")).to_numpy()


class AsDiceAsks:
    """The model of a fitted explainer, asked about frames in DiCE's form."""

    def __init__(self, dice):
        self.model, self.table = dice.searches_.model, dice.table_

    def predict_proba(self, frame):
        return self.model.predict_codes(self.table.decode_frame(frame))

    def predict(self, frame):
        return self.predict_proba(frame).argmax(axis=1)


def fit_dice(model, background, **params):
    predictor = faithkit.Predictor(model)
    return faithkit.plugin.registry().create("explainer", "dice", params).fit(predictor, background)


def build_library_search(dice, kind):
    """Return dice-ml's explainer, given the same rows in the same order."""
    background = Background(dice.table_)
    background.data_df[OUTCOME] = AsDiceAsks(dice).predict(background.data_df)
    background.set_continuous_feature_indexes(background.data_df)
    return kind(background, Model(model=AsDiceAsks(dice), backend="sklearn"))


def search_with_dice_ml(dice, library_search, instance, target, seed, **options):
    """Return what dice-ml finds for one row: its values in the order of the background's columns."""
    query = dice.table_.frame(dice.encoder_.encode(instance))
    with faithkit.plugin.seed_global_generators(int(seed)):
        answer = library_search._generate_counterfactuals(
            query, 1, desired_class=int(target), posthoc_sparsity_param=None, **options
        )
    return dice.encoder_.decode(dice.table_.decode_frame(answer.final_cfs_df)).iloc[0].tolist()


def find_targets(dice, X):
    return [int(label == dice.labels_[0]) for label in dice.predictor_.predict(X)]


# --- the same rows ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("method", "kind"), [("kdtree", DiceKD), ("genetic", DiceGenetic)])
@pytest.mark.parametrize("model", [predict_busy, predict_rare])
def test_trees_and_breeding_find_the_rows_that_dice_ml_finds(method, kind, model):
    X = workers(6, seed=1)
    dice = fit_dice(model, workers(240), method=method, sparsity=None)  # ten rows of each class, or more
    options = {}
    if method == "genetic":  # not rounded, as dice-ml would round them
        mads = build_library_search(dice, kind).data_interface.get_valid_mads()
        options["feature_weights"] = {column: 1 / mad for column, mad in mads.items()}
    seeds = faithkit.plugin.row_seeds(X, 0)
    counterfactuals = dice.explain(X, seeds).values
    for i, target in enumerate(find_targets(dice, X)):
        library_search = build_library_search(dice, kind)  # a new one: a search leaves traces in it
        expected = search_with_dice_ml(dice, library_search, X[i : i + 1], target, seeds[i], **options)
        assert counterfactuals.iloc[i].tolist() == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("sparsity", "sparsify"), [("binary", sparsify_by_bisection), ("linear", sparsify_in_steps)]
)
@pytest.mark.parametrize(
    "model",
    [
        predict_busy,
        predict_rare,
        lambda frame: (frame["age"] % 3 == 0).to_numpy(),
        lambda frame: (frame["hours"] > 20.3).to_numpy(),
    ],
    ids=["two columns", "three columns", "no threshold", "between two decimals"],
)
def test_the_sparsity_step_ends_where_dice_mls_ends(sparsity, sparsify, model):
    dice = fit_dice(model, workers(120))
    space, rng = dice.searches_.space, np.random.default_rng(0)
    rows = dice.encoder_.encode(workers(20, seed=2))
    rows[:, 1:3] += rng.choice([0, 0.123], (20, 2))  # instances with more decimals than the background has
    counterfactuals = dice.encoder_.encode(workers(20, seed=3))
    near = np.round(rows[:, 1:3]) + rng.integers(-3, 4, (20, 2))
    counterfactuals[:, 1:3] = np.where(rng.random((20, 2)) < 0.9, near, counterfactuals[:, 1:3])
    classes = AsDiceAsks(dice).predict(dice.table_.frame(counterfactuals))
    sparser = counterfactuals.copy()
    searches = [
        sparsify(space, sparser[i], rows[i], ClassGoal(target)) for i, target in enumerate(classes.tolist())
    ]
    run_in_lockstep(searches, dice.searches_.model.predict_codes, max_calls=10**6)
    library_search = build_library_search(dice, DiceRandom)
    for i, target in enumerate(classes.tolist()):
        library_search.target_cf_class = target
        frame, query = (dice.table_.frame(codes[i : i + 1]) for codes in (counterfactuals, rows))
        library_search.do_posthoc_sparsity_enhancement(frame, query, CLOSE_QUANTILE, sparsity, LINEAR_STEPS)
        assert sparser[i].tolist() == dice.table_.decode_frame(frame)[0].tolist()
    assert (sparser != counterfactuals).any(axis=1).sum() > 5


def test_bisection_ends_before_it_passes_the_instances_number():
    """From 2 towards 0.6 in whole numbers: 1 has the label, and 0 lies beyond."""
    space = SimpleNamespace(close={0: 5.0}, table=SimpleNamespace(decimals={0: 0}))
    goal = SimpleNamespace(is_reached=lambda numbers: numbers[:, 0] >= 0.9)
    counterfactual = np.array([2.0])
    search = sparsify_by_bisection(space, counterfactual, np.array([0.6]), goal)
    run_in_lockstep([search], lambda rows: rows, max_calls=9)
    assert counterfactual.tolist() == [1.0]


# --- the random search: other draws, the same chances ----------------------------------------------------


def test_a_cell_is_drawn_from_the_range_that_dice_ml_draws_from():
    dice = fit_dice(predict_busy, workers(120))
    space, library_search = dice.searches_.space, build_library_search(dice, DiceRandom)
    sampler = ValueSampler.from_space(space)
    for j, decimals in space.table.decimals.items():
        low, high = space.ranges[j]
        shares = np.random.RandomState(7).random_sample(500)
        values = sampler.values(np.full(500, j), shares)
        if decimals:
            assert values.tolist() == library_search.get_continuous_samples(low, high, decimals, 500, seed=7)
        assert set(sampler.values(np.full(10**4, j), np.linspace(0, 1, 10**4, endpoint=False))) == set(
            library_search.get_continuous_samples(low, high, decimals, 2 * 10**4, seed=0)
        )
    for j, codes in space.table.categories.items():
        assert np.unique(sampler.values(np.full(100, j), np.linspace(0, 0.999, 100))).tolist() == codes


def test_where_values_are_few_every_row_that_two_changes_reach_is_as_likely_as_any_other():
    # a thousand copies reach all of them; equal copies count once, however many there are
    values = [(a, b, c) for a in range(3) for b in "xyz" for c in (False, True)]
    background = pd.DataFrame(values, columns=["a", "b", "c"])
    model = lambda frame: ((frame["a"] > 0) | (frame["b"] == "z")).to_numpy()  # noqa: E731
    instance = pd.DataFrame({"a": [0], "b": ["x"], "c": [False]})
    away = (background != instance.iloc[0]).sum(axis=1)
    reachable = background[model(background) & (away <= 2)]
    n = 12 * len(reachable)
    dice = fit_dice(model, background, sparsity=None)
    counterfactuals = dice.explain(pd.concat([instance] * n), np.arange(n)).values
    counts = counterfactuals.value_counts()
    assert set(counts.index) == set(map(tuple, reachable.to_numpy().tolist()))
    assert stats.chisquare(counts).pvalue > NO_CHANCE


def test_the_random_search_changes_no_more_columns_than_it_must():
    background = pd.DataFrame(list(product([0, 1], repeat=4)), columns=list("abcd"))
    dice = fit_dice(lambda frame: (frame.sum(axis=1) >= 3).to_numpy(), background, sparsity=None)
    counterfactuals = dice.explain(background[:1].iloc[[0] * 40], np.arange(40)).values
    assert set(counterfactuals.sum(axis=1)) == {3}


def search_all_copies(dice, library_search, query, target, seed):
    """Run dice-ml's random search with its draws and its loop, but change a thousand cells at once."""
    names = library_search.data_interface.feature_names
    library_search.setup("all", None, query, feature_weights=None)
    with faithkit.plugin.seed_global_generators(int(seed)):
        drawn = library_search.get_samples({}, library_search.feature_range, None, COPIES).to_numpy(
            dtype=np.float64
        )
        rows, each = np.repeat(query.to_numpy(dtype=np.float64), COPIES, axis=0), np.arange(COPIES)
        frame = pd.DataFrame(rows[:0], columns=names)
        for changes in range(1, len(names) + 1):
            changed = np.array([names.index(name) for name in np.random.choice(names, COPIES)])
            rows[each, changed] = drawn[each, changed]
            met = pd.DataFrame(rows, columns=names)
            frame = pd.concat([frame, met[AsDiceAsks(dice).predict(met) == target]]).drop_duplicates()
            if changes > 1 and len(frame):
                break
        return dice.table_.decode_frame(frame.sample(1))[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_fast_twin_of_the_random_search_is_dice_mls():
    X = workers(3, seed=1)
    dice = fit_dice(predict_busy, workers(120), sparsity=None)
    library_search = build_library_search(dice, DiceRandom)
    for i, target in enumerate(find_targets(dice, X)):
        query = dice.table_.frame(dice.encoder_.encode(X[i : i + 1]))
        fast = dice.encoder_.decode(search_all_copies(dice, library_search, query, target, seed=i)[None, :])
        assert fast.iloc[0].tolist() == search_with_dice_ml(
            dice, library_search, X[i : i + 1], target, seed=i
        )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("model", "instance"),
    [
        (predict_busy, {"job": "b", "age": 30, "hours": 20.0, "sex": "f"}),
        (predict_busy, {"job": "a", "age": 30, "hours": 26.5, "sex": "m"}),
        (predict_rare, {"job": "b", "age": 30, "hours": 10.0, "sex": "f"}),
    ],
    ids=["many rows", "few rows", "three changes"],
)
def test_the_random_search_finds_rows_with_the_chances_of_dice_mls(model, instance):
    n = 200
    dice = fit_dice(model, workers(120), sparsity=None)
    rows = pd.DataFrame([instance] * n)
    library_search, target = build_library_search(dice, DiceRandom), find_targets(dice, rows[:1])[0]
    query = dice.table_.frame(dice.encoder_.encode(rows[:1]))
    result = dice.encoder_.encode(dice.explain(rows, np.arange(n)).values)
    expected = np.array([search_all_copies(dice, library_search, query, target, seed) for seed in range(n)])
    row = dice.encoder_.encode(rows[:1])[0]
    for j in range(len(row)):
        assert stats.ks_2samp(result[:, j], expected[:, j]).pvalue > NO_CHANCE
    changed_columns = [((codes != row) @ [1, 2, 4, 8]) for codes in (result, expected)]
    counts = np.array([np.bincount(columns, minlength=16) for columns in changed_columns])
    assert stats.chi2_contingency(counts[:, counts.sum(axis=0) > 10]).pvalue > NO_CHANCE
