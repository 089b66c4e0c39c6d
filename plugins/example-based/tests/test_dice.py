"""DiCE's counterfactuals: what DiCE finds, checked by the model, without dice-ml's faults."""

import os
import random
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import faithkit

METHODS = ["random", "genetic", "kdtree"]
NOT_FOUND = "no counterfactual found"


def fit_dice(model, background, **params):
    predictor = faithkit.Predictor(model)
    return faithkit.plugin.registry().create("explainer", "dice", params).fit(predictor, background)


def explain(model, background, X, seed=0, **params):
    return fit_dice(model, background, **params).explain(X, faithkit.plugin.row_seeds(X, seed))


def draw_people(n=120, seed=0):
    """Words and numbers without gaps; the numbers are halves, which float32 holds, too."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "hours": rng.integers(0, 80, n) / 2,
            "job": rng.choice(list("abcd"), n),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def draw_mixed_rows(n=120, seed=0):
    """A frame of all dtypes that a column can have, with gaps in two of the categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "town": pd.Categorical(rng.choice(["Bonn", "Ulm"], n)),
            "age": rng.normal(45, 12, n).round(1),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "children": rng.integers(0, 4, n),
            "member": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.15, "job"] = None
    frame.loc[rng.random(n) < 0.15, "town"] = np.nan
    return frame


def predict_three_labels(frame):
    """A model of three string labels that reads words, gaps and numbers; it has no scores."""
    clerk = (frame["job"] == "clerk").fillna(False).to_numpy(bool)
    young = (frame["age"] < 40).to_numpy()
    return np.where(frame["town"].isna(), "gap", np.where(clerk | young, "low", "high")).astype(object)


@cache
def explain_mixed_rows(method):
    """Return a fitted explainer, four rows of all dtypes, and their explanations."""
    X, dice = draw_mixed_rows(4, seed=1), fit_dice(predict_three_labels, draw_mixed_rows(), method=method)
    return dice, X, dice.explain(X, faithkit.plugin.row_seeds(X, 0))


class Busy:
    """A classifier with probabilities, by hours and job alone."""

    classes_ = np.array([False, True])

    def predict(self, frame):
        return ((frame["hours"].astype(float) > 35) | (frame["job"] == "a")).to_numpy()

    def predict_proba(self, frame):
        return np.column_stack([~self.predict(frame), self.predict(frame)]).astype(float)


class Counted:
    """A callable model that counts how often it is asked."""

    def __init__(self, answer):
        self.answer, self.calls = answer, 0

    def __call__(self, X):
        self.calls += 1
        return self.answer(X)


# --- the counterfactuals ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_every_counterfactual_has_another_label(method):
    _, X, explanations = explain_mixed_rows(method)
    assert explanations.kind == "example"
    assert explanations.relation == "in-ball"
    assert not explanations.missing.any()
    assert (predict_three_labels(explanations.values) != predict_three_labels(X)).all()


@one_test
@pytest.mark.parametrize(
    "convert",
    [
        lambda labels: pd.Series(labels).map({"gap": 3, "low": 1, "high": 2}).to_numpy(),
        lambda labels: labels == "low",
    ],
    ids=["numbers", "booleans"],
)
def test_labels_may_be_numbers_or_booleans(convert):
    X = draw_mixed_rows(4, seed=1)
    model = lambda frame: convert(predict_three_labels(frame))  # noqa: E731
    explanations = explain(model, draw_mixed_rows(), X)
    assert not explanations.missing.any()
    assert (model(explanations.values) != model(X)).all()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_counterfactuals_have_the_columns_and_dtypes_of_the_background(method):
    dice, X, straight = explain_mixed_rows(method)
    turned = dice.explain(X[X.columns[::-1]], faithkit.plugin.row_seeds(X, 0))
    pd.testing.assert_series_equal(straight.values.dtypes, draw_mixed_rows().dtypes)
    pd.testing.assert_frame_equal(turned.values, straight.values)
    assert turned.instances.columns.tolist() == X.columns.tolist()[::-1]


@one_test
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8])
def test_arrays_give_arrays(dtype):
    X = np.random.default_rng(0).integers(-9, 9, (60, 3)).astype(dtype)
    explanations = explain(lambda X: X[:, 0] > X[:, 1], X, X[:4])
    assert explanations.values.dtype == dtype
    assert explanations.values.shape == (4, 3)
    assert ((explanations.values[:, 0] > explanations.values[:, 1]) != (X[:4, 0] > X[:4, 1])).all()


def search_with_dice_ml(model, background, X, method):
    """Return what dice-ml finds for each row before and after its sparsity step."""
    import dice_ml

    counterfactuals, sparser = [], []
    for i, seed in enumerate(faithkit.plugin.row_seeds(X, 0)):
        data = dice_ml.Data(
            dataframe=background.assign(y=model.predict(background)),
            continuous_features=["age", "hours"],
            outcome_name="y",
        )
        search = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)
        with faithkit.plugin.seed_global_generators(int(seed)):
            answer = search.generate_counterfactuals(
                X[i : i + 1], total_CFs=1, posthoc_sparsity_algorithm="binary"
            )
        examples = answer.cf_examples_list[0]
        counterfactuals.append(examples.final_cfs_df[X.columns].iloc[0].tolist())
        sparser.append(examples.final_cfs_df_sparse[X.columns].iloc[0].tolist())
    return counterfactuals, sparser


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")
@one_test
@pytest.mark.parametrize(
    ("method", "columns"),
    [
        ("kdtree", ["age", "hours", "job", "sex"]),
        ("genetic", ["age", "hours"]),  # with categories dice-ml asks its tree about columns in another order
    ],
    ids=["kdtree", "genetic"],
)
def test_both_engines_find_what_dice_ml_finds(method, columns, capfd):
    background, X = draw_people(60)[columns], draw_people(1, seed=1)[columns]
    model = Busy() if "job" in columns else LogisticRegression().fit(background, background["age"] > 50)
    own = fit_dice(model, background, method=method, sparsity=None)
    rows = own.encoder_.decode(own.table_.codes)  # the same rows in the same order
    expected, expected_sparser = search_with_dice_ml(model, rows, X, method)
    seeds = faithkit.plugin.row_seeds(X, 0)
    assert own.explain(X, seeds).values.to_numpy(object).tolist() == expected
    capfd.readouterr()  # what dice-ml itself printed before
    library = fit_dice(model, background, method=method, engine="library").explain(X, seeds)
    assert capfd.readouterr() == ("", "")
    assert library.values.to_numpy(object).tolist() == expected_sparser


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")
def test_engine_library_draws_as_dice_ml_draws():
    # dice-ml draws categories in the order in which they come
    background, X = draw_people(60).sort_values(["sex", "job"]), draw_people(1, seed=1)
    library = explain(Busy(), background, X, method="random", engine="library")
    assert library.values.to_numpy(object).tolist() == search_with_dice_ml(Busy(), background, X, "random")[1]


def test_engine_library_needs_a_range_of_numbers():
    from sklearn.linear_model import LinearRegression

    X = draw_people()[["age", "hours"]]
    model = LinearRegression().fit(X, X["age"] + X["hours"])
    with pytest.raises(
        faithkit.errors.InputError, match=r"engine=library .* give it, such as desired_range=\[0, 10\]"
    ):
        fit_dice(model, X, engine="library")
    low = X[model.predict(X) < 60][:1]
    # dice-ml goes to the end of the range, and rounding may put the prediction beyond it
    answer = explain(model, X, low, engine="library", method="kdtree", desired_range=[60, 70])
    assert not answer.missing.any()
    assert (np.abs(model.predict(answer.values) - 65) <= 5 + 1e-6).all()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_only_the_named_columns_change(method):
    # a background with every combination, so that the tree has rows that differ in these columns alone
    rows = [(a, h, j) for a in (20, 30) for h in (30.0, 40.0) for j in "ab"]
    background = pd.DataFrame(rows, columns=["age", "hours", "job"])
    X = background[1:6:2].reset_index(drop=True)
    explanations = explain(Busy(), background, X, method=method, features_to_vary=["hours", "job"])
    assert not explanations.missing.any()
    pd.testing.assert_series_equal(explanations.values["age"], X["age"])


def test_a_missing_category_is_a_category():
    background = pd.DataFrame({"job": ["cook", None, "clerk", None] * 5, "age": np.arange(20.0)})
    model = lambda frame: frame["job"].isna().to_numpy()  # noqa: E731
    for method in METHODS:
        explanations = explain(model, background, background[:4], method=method)
        assert explanations.values["job"].isna().tolist() == [True, False, True, False]
        assert not explanations.missing.any()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_categories_that_look_like_numbers_stay_categories(method):
    codes = np.random.default_rng(0).integers(0, 12, 80)
    background = pd.DataFrame(
        {"code": pd.Categorical(codes), "text": codes.astype(str), "size": np.arange(80.0)}
    )
    model = lambda frame: frame["code"].isin([0, 3, 11]).to_numpy()  # noqa: E731
    explanations = explain(model, background, background[:5], method=method)
    pd.testing.assert_series_equal(explanations.values.dtypes, background.dtypes)
    assert (model(explanations.values) != model(background[:5])).all()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_columns_may_be_numbered_or_named_as_dice_ml_names_its_own(method):
    people = draw_people(40).set_axis([0, "hours", "job", "y"], axis="columns")
    people = people.assign(sparsity=1.0, x0="c", distance=people[0])
    assert not explain(Busy(), people, people[:3], method=method).missing.any()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_a_table_may_have_no_numbers_or_constant_columns(method):
    background = draw_people(40)[["job", "sex"]].assign(same="s")
    model = lambda frame: (frame["job"] == "a").to_numpy()  # noqa: E731
    explanations = explain(model, background, background[:4], method=method)
    assert (model(explanations.values) != model(background[:4])).all()
    constant = pd.DataFrame({"one": np.ones(30), "two": np.arange(30.0)})
    model = lambda frame: (frame["two"] > 14).to_numpy()  # noqa: E731
    explanations = explain(model, constant, constant[:4], method=method)
    assert (model(explanations.values) != model(constant[:4])).all()
    assert (explanations.values["one"] == 1).all()


@pytest.mark.filterwarnings("error")
def test_a_wide_table_is_taken_without_a_warning():
    wide = np.random.default_rng(0).integers(0, 3, (30, 130)).astype(float)
    explanations = explain(lambda X: X[:, :3].sum(axis=1) > 3, wide, wide[:3])
    assert not explanations.missing.any()


def test_the_genetic_search_works_on_large_numbers_and_behind_categories():
    incomes = pd.DataFrame({"income": np.arange(30) * 1e6})  # dice-ml's weights would all be 0
    model = lambda frame: (frame["income"] > 14e6).to_numpy()  # noqa: E731
    explanations = explain(model, incomes, incomes[:3], method="genetic")
    assert (explanations.values["income"] == 15e6).all()  # the nearest of the other label
    # two rows of the other label; the others of the population are drawn with all decimals
    shares = pd.DataFrame({"job": ["a", "b"] * 20, "share": np.append(np.linspace(0, 0.38, 38), [0.5, 0.55])})
    model = lambda frame: frame["share"].between(0.4, 0.6).to_numpy()  # noqa: E731
    assert not explain(model, shares, shares[:3], method="genetic").missing.any()


def test_rows_of_the_background_come_back_exactly():
    rng = np.random.default_rng(0)
    background = pd.DataFrame(
        {
            "tiny": rng.integers(1, 9, 50)
            * 1e-7,  # dice-ml fails on numbers that are written with an exponent
            "third": np.arange(50) / 3,  # float32 would round
            "large": 3_000_000_001 + np.arange(50),  # beyond int32
            "huge": rng.integers(1, 9, 50) * 1e22,  # beyond int64
        }
    )
    model = lambda frame: (frame["third"] > 8).to_numpy()  # noqa: E731
    explanations = explain(model, background, background[:5], method="kdtree", sparsity=None)
    rows = set(map(tuple, background.to_numpy().tolist()))
    assert all(tuple(row) in rows for row in explanations.values.to_numpy().tolist())
    for method in ("random", "genetic"):
        explanations = explain(model, background, background[:5], method=method)
        assert (model(explanations.values) != model(background[:5])).all()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_cells_that_are_not_changed_keep_every_digit(method):
    background = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40) % 2 + 0.5})
    X = pd.DataFrame({"a": [3.0, 4.0], "b": [0.5123456789, 1.4987654321]})
    model = lambda frame: (frame["a"] > 20).to_numpy()  # noqa: E731
    explanations = explain(model, background, X, method=method, sparsity=None)
    moved = explanations.values["b"].to_numpy() - X["b"].to_numpy()
    assert ((moved == 0) | (np.abs(moved) > 0.05)).all()
    assert (moved == 0).any() or method == "random"


def test_a_cell_that_was_changed_to_the_rounded_number_stays_so():
    background = pd.DataFrame({"a": [-2.0, -1.0, 0.0, 1.0, 2.0] * 4})
    model = lambda frame: (frame["a"] > 0).to_numpy()  # noqa: E731
    explanations = explain(model, background, pd.DataFrame({"a": [0.125]}), method="kdtree")
    assert explanations.values["a"].tolist() == [0.0]


# --- which label is looked for ---------------------------------------------------------------------------


class Thirds:
    """Three labels by a number in [0, 3); the score falls with the distance to a label's third."""

    classes_ = np.array(["a", "b", "c"])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        weights = np.exp(-np.abs(X[:, :1] - [0.5, 1.5, 2.5]))
        return weights / weights.sum(axis=1, keepdims=True)


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_of_three_labels_the_runner_up_is_looked_for(method):
    background = np.linspace(0, 3, 60, endpoint=False)[:, None]
    X = np.array([[0.2], [1.3], [1.7], [2.8]])
    explanations = explain(Thirds(), background, X, method=method)
    assert Thirds().predict(X).tolist() == ["a", "b", "b", "c"]
    assert Thirds().predict(explanations.values).tolist() == ["b", "a", "c", "b"]


def test_a_runner_up_that_the_background_lacks_is_not_looked_for():
    background = np.concatenate([np.linspace(0, 1, 30), np.linspace(2.01, 3, 30)])[:, None]
    X = np.array([[0.2], [2.8]])
    for method in METHODS:
        explanations = explain(Thirds(), background, X, method=method)
        assert Thirds().predict(explanations.values).tolist() == ["c", "a"]


def test_without_scores_the_most_frequent_other_label_is_looked_for():
    background = np.concatenate([np.linspace(0, 1, 10), np.linspace(1.01, 2, 20), np.linspace(2.01, 3, 30)])
    model = Thirds().predict
    explanations = explain(model, background[:, None], np.array([[0.2], [1.5], [2.8]]))
    assert model(explanations.values).tolist() == ["c", "c", "b"]


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_the_label_decides_where_scores_say_otherwise(method):
    class Cautious(Busy):
        """True only above 0.9: the most probable label is not the one predicted."""

        def predict(self, frame):
            return self.predict_proba(frame)[:, 1] > 0.9

        def predict_proba(self, frame):
            share = frame["hours"].to_numpy(float) / 40
            return np.column_stack([1 - share, share])

    X = draw_people(4, seed=1)
    explanations = explain(Cautious(), draw_people(), X, method=method)
    assert not explanations.missing.any()
    assert (Cautious().predict(explanations.values) != Cautious().predict(X)).all()


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_scores_need_not_be_probabilities(method):
    from sklearn.svm import LinearSVC

    X = draw_people()[["age", "hours"]]
    model = LinearSVC().fit(X, np.where(X["hours"] > 20, "busy", "idle"))
    explanations = explain(model, X, X[:5], method=method)
    assert (model.predict(explanations.values) != model.predict(X[:5])).all()


# --- rows without a counterfactual -----------------------------------------------------------------------


def build_stuck_rows():
    """Return rows and a background in which only the job may change: two rows are busy by their hours and stay so."""
    X = draw_people(4, seed=1).assign(hours=[30.0, 30.0, 38.0, 38.0], job=list("abab"))
    return X, pd.concat([X.assign(job=job, hours=hours) for job in "ab" for hours in (30.0, 38.0)])


@pytest.mark.usefixtures("no_next_steps", "few_control_draws", "first_pairs")
def test_rows_without_a_counterfactual_are_counted_as_unexplained(capfd):
    X, background = build_stuck_rows()
    spec = "dice:method=genetic,features_to_vary=['job'],max_calls=20"
    result = faithkit.evaluate(Busy(), X, explainer=spec, background=background)
    explanations = result.rows.explanations
    assert explanations.missing.tolist() == [False, False, True, True]
    assert explanations.remarks[2:].tolist() == [NOT_FOUND] * 2
    pd.testing.assert_series_equal(explanations.values.dtypes, background.dtypes)
    assert (result.unexplained, result.why_unexplained) == (2, {NOT_FOUND: 2})
    text = result.to_text(verbose=True)
    assert (
        f"4 instances, 2 distinct explanations, 2 unexplained\nof the unexplained, {NOT_FOUND}: 2\n" in text
    )
    assert capfd.readouterr() == ("", "")


def test_engine_library_finds_nothing_where_dice_ml_finds_nothing(capfd):
    X, background = build_stuck_rows()
    params = {"method": "kdtree", "features_to_vary": ["job"], "max_calls": 60, "engine": "library"}
    explanations = explain(Busy(), background, X[1:3], **params)
    assert explanations.remarks.tolist() == [None, NOT_FOUND]
    pd.testing.assert_series_equal(explanations.values.dtypes, background.dtypes)
    assert capfd.readouterr() == ("", "")


def test_rows_that_dice_cannot_take_say_why():
    background = draw_mixed_rows().assign(age=lambda frame: frame["age"].where(frame.index % 5 > 0))
    X = draw_mixed_rows(6, seed=1)
    X.loc[0, "age"] = np.nan
    X.loc[1, "age"] = np.inf
    X.loc[2, "job"] = "king"
    X["children"] = [0.0, 1.0, 2.0, 1.5, 3.0, 0.0]
    no_gap = background[background["town"].notna()]
    X["town"] = ["Bonn"] * 4 + [None, "Ulm"]
    model = lambda frame: (frame["age"] > 45).to_numpy()  # noqa: E731
    explanations = explain(model, no_gap, X)
    assert explanations.remarks.tolist() == [
        "a number is missing or infinite",
        "a number is missing or infinite",
        "a category that the background does not have",
        "a value that the background's column has no room for",
        "a category that the background does not have",
        None,
    ]
    assert explanations.missing.tolist() == [True] * 5 + [False]


def test_rows_that_fail_in_one_chunk_do_not_change_the_dtypes_of_another(monkeypatch):
    monkeypatch.setattr("faithkit_example_based.dice_search.explainer.Dice.rows_per_chunk", 8)
    X = draw_people(10, seed=1).astype({"age": float})
    X.loc[3, "age"] = 30.5
    X.loc[9, "age"] = np.nan
    result = faithkit.evaluate(Busy(), X, explainer="dice", background=draw_people())
    assert result.unexplained == 2
    pd.testing.assert_series_equal(result.rows.explanations.values.dtypes, draw_people().dtypes)


def test_a_search_that_would_never_end_ends():
    model = Counted(lambda frame: Busy().predict(frame))
    background = draw_people().assign(hours=lambda frame: frame["hours"].round())
    X = background[(background["hours"] > 35) | (background["job"] == "a")][:2]
    dice = fit_dice(model, background, method="genetic", features_to_vary=["sex"], max_calls=15)
    before = model.calls
    explanations = dice.explain(X, [1, 2])
    assert explanations.remarks.tolist() == [NOT_FOUND] * 2
    assert model.calls - before <= 2 * (15 + 2)  # and the instance's own label, and perhaps a candidate's


def test_the_limit_on_questions_keeps_what_the_sparsity_step_has_reached():
    background = pd.DataFrame({"a": np.arange(5000) / 100, "b": np.arange(5000) % 7})
    model = lambda frame: (frame["a"] > 25).to_numpy()  # noqa: E731
    X = background[2450:2500:10]
    for sparsity in ("binary", "linear"):
        explanations = explain(model, background, X, method="kdtree", sparsity=sparsity, max_calls=2)
        assert not explanations.missing.any()
        assert model(explanations.values).all()


def test_a_population_of_one_is_a_result():
    background = pd.DataFrame({"member": [True, False] * 20, "age": [30.0] * 40})
    model = lambda frame: frame["member"].to_numpy(bool)  # noqa: E731
    X = background[:2]
    for seed in range(2):
        explanations = explain(model, background, X, seed=seed, method="genetic", features_to_vary=["member"])
        assert explanations.values["member"].tolist() == [False, True]


@pytest.mark.slow
def test_a_model_that_hangs_is_ended_by_the_limit_in_seconds():
    background = draw_people(40)

    def hangs(frame):
        while len(frame) > 1 and (frame["sex"] == "m").all():
            time.sleep(0.01)
        return Busy().predict(frame)

    result = faithkit.evaluate(
        hangs,
        background[:2].assign(sex=["m", "f"]),
        explainer="dice:features_to_vary=['hours']",
        background=background,
        on_error="record",
        executor="processes:workers=1,timeout=2",
    )
    assert result.why_unexplained == {"time limit of 2 s": 1}


# --- sparsity --------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("method", "sparsity"), [("random", "binary"), ("kdtree", "binary"), ("kdtree", "linear")]
)
def test_the_sparsity_step_moves_numbers_towards_the_instance_and_nothing_else(method, sparsity):
    background, X = draw_people(), draw_people(3, seed=1)
    model = lambda frame: ((frame["hours"] + frame["age"] / 10) > 26).to_numpy()  # noqa: E731
    far = explain(model, background, X, method=method, sparsity=None).values
    near = explain(model, background, X, method=method, sparsity=sparsity).values
    assert (model(near) != model(X)).all()
    for column in ("age", "hours"):
        before, after = (np.abs(values[column] - X[column]).to_numpy() for values in (far, near))
        assert (after <= before).all()
    pd.testing.assert_frame_equal(near[["job", "sex"]], far[["job", "sex"]])
    if method != "random":
        assert not near.equals(far)


def test_a_sparser_row_that_is_no_counterfactual_is_dropped():
    # whole multiples of 5 alone have the other label: between two of them dice-ml's binary search ends anywhere
    background = pd.DataFrame({"a": np.arange(200)})
    model = lambda frame: (frame["a"] % 5 == 0).to_numpy()  # noqa: E731
    X = background[background["a"] % 5 > 0][:150:8]
    explanations = explain(model, background, X)
    assert not explanations.missing.any()
    assert (explanations.values["a"] % 5 == 0).all()


# --- seeds and workers -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_same_seed_gives_the_same_rows_whatever_the_workers_and_chunks(method, monkeypatch):
    X, background, spec = draw_mixed_rows(10, seed=1), draw_mixed_rows(), f"dice:method={method}"
    alone = faithkit.evaluate(predict_three_labels, X, explainer=spec, background=background)
    monkeypatch.setattr("faithkit_example_based.dice_search.explainer.Dice.rows_per_chunk", 3)
    for n_jobs in (1, 2):
        parted = faithkit.evaluate(
            predict_three_labels, X, explainer=spec, background=background, n_jobs=n_jobs
        )
        result = parted.rows.explanations.values.reset_index(drop=True)
        pd.testing.assert_frame_equal(alone.rows.explanations.values, result)
        assert alone.to_dict() == parted.to_dict()


def test_another_seed_gives_other_rows():
    first, second = (explain(Busy(), draw_people(), draw_people(3, seed=1), seed=seed) for seed in (0, 1))
    assert not first.values.equals(second.values)


@one_test
@pytest.mark.parametrize("method", ["genetic", "kdtree"])
def test_the_order_of_the_backgrounds_rows_does_not_matter(method):
    _, X, straight = explain_mixed_rows(method)
    turned = explain(predict_three_labels, draw_mixed_rows()[::-1], X, method=method)
    pd.testing.assert_frame_equal(straight.values, turned.values)


@one_test
@pytest.mark.parametrize("method", METHODS)
def test_the_global_generators_are_given_back_and_nothing_is_printed(method, capfd):
    before = random.getstate(), np.random.get_state()[1].tolist()
    explain(predict_three_labels, draw_mixed_rows(40), draw_mixed_rows(2, seed=1), method=method)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_dice_ml_is_imported_when_fitted():
    code = "import faithkit_example_based.dice_search.explainer, sys; print('dice_ml' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"


# --- bad input -------------------------------------------------------------------------------------------


def test_one_row_and_no_row_are_explained():
    dice = explain_mixed_rows("random")[0]
    assert len(dice.explain(draw_mixed_rows(1, seed=1), [0])) == 1
    empty = dice.explain(draw_mixed_rows()[:0], [])
    assert len(empty) == 0
    pd.testing.assert_series_equal(empty.values.dtypes, draw_mixed_rows().dtypes)


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"engine": "dice-ml"}, "engine must be one of faithkit, library, got 'dice-ml'"),
        ({"method": "gradient"}, "method must be one of random, genetic, kdtree, got 'gradient'"),
        ({"sparsity": "none"}, "sparsity must be binary, linear or none, got 'none'"),
        (
            {"features_to_vary": "age"},
            r"features_to_vary must be 'all' or a list of columns, such as \['age'\], got 'age'",
        ),
        ({"features_to_vary": []}, "features_to_vary must be"),
        ({"max_calls": 0}, "max_calls must be a whole number of at least 1, got 0"),
        ({"max_calls": 2.5}, "max_calls must be"),
        ({"max_calls": True}, "max_calls must be"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=f"dice: {message}"):
        faithkit.plugin.registry().create("explainer", "dice", params)


@one_test
@pytest.mark.parametrize(
    ("model", "background", "params", "message"),
    [
        (
            lambda f: np.full(len(f), "no"),
            draw_people(),
            {},
            "gives all 120 rows .* the label 'no'.* two labels or more",
        ),
        (
            Busy(),
            draw_people().assign(age=np.nan),
            {},
            "none of the 120 rows of the background is one. Impute",
        ),
        (
            Busy(),
            draw_people(),
            {"features_to_vary": ["wage"]},
            "has 'wage', which is no column .* it has age, hours, job",
        ),
        (lambda texts: [len(text) > 3 for text in texts], ["good", "bad"], {}, "given text input"),
    ],
    ids=["one label", "no complete row", "unknown column", "texts"],
)
def test_backgrounds_that_cannot_be_used_are_refused(model, background, params, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        fit_dice(model, background, **params)


def test_rows_without_the_columns_of_the_background_are_refused():
    with pytest.raises(faithkit.errors.InputError, match="lacks 'job'"):
        explain(Busy(), draw_people(), draw_people(2)[["age", "hours", "sex"]])


def test_a_row_on_which_the_model_fails_is_named_and_the_only_one_that_is_lost():
    def fragile(frame):
        if ((frame["age"] > 90) & (frame["hours"] != 30)).any():
            raise RuntimeError("too old")
        return Busy().predict(frame)

    X = draw_people(4, seed=1).assign(age=[30, 40, 99, 50], hours=30.0, job="b")
    options = {"explainer": "dice:features_to_vary=['hours']", "background": draw_people(40)}
    message = r"failed on row 2: .*fragile, asked about \d+ rows?, failed with RuntimeError: too old"
    with pytest.raises(faithkit.errors.ExplainerError, match=message):
        faithkit.evaluate(fragile, X, **options)
    explanations = faithkit.evaluate(fragile, X, **options, on_error="record").rows.explanations
    alone = explain(fragile, draw_people(40), X[:2], features_to_vary=["hours"])
    assert explanations.missing.tolist() == [False, False, True, False]
    pd.testing.assert_frame_equal(explanations.values[:2].reset_index(drop=True), alone.values)


# --- real data -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("FAITHKIT_DATA"), reason="FAITHKIT_DATA is not set")
@pytest.mark.parametrize("method", METHODS)
def test_adult_has_counterfactuals(method):
    table = pd.read_csv(Path(os.environ["FAITHKIT_DATA"]) / "adult.csv.gz", na_values="?")
    X, y = table.drop(columns="target"), table["target"].to_numpy(object)
    assert X["workclass"].isna().any()
    encode = FunctionTransformer(faithkit.plugin.Encoder(X).encode)
    boosting = GradientBoostingClassifier(n_estimators=20, max_depth=4, random_state=0)
    model = make_pipeline(encode, boosting).fit(X[:20_000], y[:20_000])
    sample = X[20_000:20_040]
    result = faithkit.evaluate(model, sample, explainer=f"dice:method={method}", background=X[:20_000])
    explanations = result.rows.explanations
    assert result.unexplained == 0
    assert (model.predict(explanations.values) != model.predict(sample)).all()
    pd.testing.assert_series_equal(explanations.values.dtypes, X.dtypes)
