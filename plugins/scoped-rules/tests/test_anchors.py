"""Anchors of tables: exact rules, those of anchor-exp with the same seed per row, and nothing of its faults."""

import itertools
import os
import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import faithkit

QUARTILES = [25, 50, 75]


def make_anchors(**params):
    return faithkit.plugin.registry().create("explainer", "anchors", params)


def explain(model, background, X, seed=0, **params):
    predictor = faithkit.Predictor(model)
    return make_anchors(**params).fit(predictor, background).explain(X, faithkit.plugin.row_seeds(X, seed))


def make_frame(n=300, seed=0):
    """A frame with words, gaps, booleans and integers."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "children": rng.integers(0, 4, n),
            "member": rng.random(n) < 0.5,
            "town": pd.Categorical(rng.choice(["Bonn", "Ulm"], n)),
        }
    )
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    frame.loc[rng.random(n) < 0.15, "job"] = None
    frame.loc[rng.random(n) < 0.15, "town"] = np.nan
    return frame


def predict_words(frame):
    """A model of three string labels that reads words, gaps and numbers."""
    young = (frame["age"] < 40).to_numpy()
    clerk = (frame["job"] == "clerk").fillna(False).to_numpy(bool)
    return np.where(frame["town"].isna(), "gap", np.where(clerk | young, "low", "high")).astype(object)


def filter_rows(frame, rule):
    """The rows that a rule is about, by pandas and not by the rule."""
    for p in rule.predicates:
        column = frame[p.column]
        if isinstance(p, faithkit.plugin.OneOf):
            inside = column.isin(p.values)
        elif p.low == -np.inf:
            inside = column <= p.high
        else:
            inside = (column > p.low) & (column <= p.high)
        frame = frame[inside | column.isna()] if p.missing else frame[inside]
    return frame


# --- the rules -------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("bins", ["quartile", "decile"])
def test_every_rule_covers_its_own_instance(bins):
    frame = make_frame(80, seed=1)
    gaps = frame.isna().any(axis=1)
    X = pd.concat([frame[gaps].head(3), frame[~gaps].head(2)])
    explanations = explain(predict_words, make_frame(), X, beam_size=1, bins=bins, tau=0.3)
    assert explanations.kind == "rule"
    assert explanations.relation == "in-scope"
    for i, rule in enumerate(explanations.values):
        assert rule.covers(X)[i], f"row {i}: {rule}"


def test_local_sufficiency_is_the_precision_over_the_other_rows():
    X = make_frame(12, seed=1)
    result = faithkit.evaluate(
        predict_words, X, explainer="anchors:beam_size=1,tau=0.3", background=make_frame()
    )
    labels = predict_words(X)
    for i, rule in enumerate(result.rows.explanations.values):
        others = filter_rows(X.drop(index=i), rule).index
        local = result.local(i).sufficiency
        assert local.holds_for == len(others) + 1
        expected = None if others.empty else pytest.approx(np.mean(labels[others] == labels[i]))
        assert local.value == expected
    assert result.sufficiency.value > 0.9 * result.sufficiency.verified > 0.5


def test_cut_points_are_exact_and_belong_to_the_lower_side():
    X = np.random.default_rng(0).permutation(np.arange(1, 202) / 7).reshape(-1, 1)  # no cut point is round
    cuts = np.percentile(X[:, 0], QUARTILES)
    assert (cuts != np.round(cuts, 2)).all()
    at_cuts = np.concatenate([cuts, np.nextafter(cuts, np.inf)]).reshape(-1, 1)
    explanations = explain(lambda X: np.searchsorted(cuts, X[:, 0]), X, at_cuts)
    ends = [(p.low, p.high) for rule in explanations.values for p in rule.predicates]
    bounds = [-np.inf, *cuts, np.inf]
    assert ends == [*itertools.pairwise(bounds[:-1]), *itertools.pairwise(bounds[1:])]


def test_a_missing_value_is_a_value_that_rules_can_name():
    background = make_frame()[["age", "job"]]
    X = background[background.isna().any(axis=1) | (background.index < 2)].head(6)
    explanations = explain(lambda frame: frame["age"].isna().to_numpy(), background, X)
    texts = {
        bool(is_missing): str(rule)
        for is_missing, rule in zip(X["age"].isna(), explanations.values, strict=True)
    }
    assert texts == {True: "age is missing", False: "any value of age"}
    explanations = explain(lambda frame: frame["job"].isna().to_numpy(), background, X)
    assert {
        str(r) for r, is_missing in zip(explanations.values, X["job"].isna(), strict=True) if is_missing
    } == {"job is missing"}


def test_a_value_missing_only_in_the_instance_is_explained():
    X = np.array([[np.nan, 1.0]])
    background = np.random.default_rng(0).normal(size=(50, 2))
    (rule,) = explain(lambda X: np.isnan(X[:, 0]), background, X).values
    assert str(rule) == "0 is missing"
    assert rule.covers(X).all()


def test_a_constant_model_has_the_empty_rule_whatever_the_parameters():
    X = make_frame(3, seed=1)
    for params in ({}, {"threshold": 0.999}, {"threshold": 0.5, "batch_size": 7, "beam_size": 1}):
        explanations = explain(lambda frame: np.full(len(frame), "same"), make_frame(60), X, **params)
        assert explanations.values.tolist() == [faithkit.Rule()] * 3
        assert explanations.remarks.tolist() == [None] * 3
        assert explanations.values[0].covers(X).all()


def test_a_rule_that_does_not_reach_the_threshold_is_kept_and_remarked():
    X = np.random.default_rng(0).normal(size=(200, 2))
    middle = np.median(X, axis=0)
    model = lambda X: (X[:, 0] > middle[0]) ^ (X[:, 1] > middle[1])  # noqa: E731
    result = faithkit.evaluate(model, X[:4], explainer="anchors:max_size=1,beam_size=1,tau=0.3", background=X)
    assert result.remarks == {"below the threshold": 4}
    assert result.unexplained == 0
    assert all(len(rule.predicates) == 1 for rule in result.rows.explanations.values)
    assert explain(model, X, X[:4], tau=0.3).remarks.tolist() == [None] * 4


def test_max_size_limits_the_conditions():
    X = np.random.default_rng(0).normal(size=(200, 4))
    model = lambda X: (X > 0).sum(axis=1) > 1  # noqa: E731
    sizes = {
        len(rule.predicates) for rule in explain(model, X, X[:8], max_size=2, beam_size=1, tau=0.3).values
    }
    assert max(sizes) == 2


@one_test
@pytest.mark.parametrize(
    ("of_background", "of_sample"),
    [(["a", 3], ["a", 3]), (None, ["a", 3]), (["a", "b"], None), (["0", "1"], [0, 1])],
)
def test_columns_are_named_as_the_sample_names_them(of_background, of_sample):
    values = np.random.default_rng(0).normal(size=(80, 2))
    background, X = (
        v if n is None else pd.DataFrame(v, columns=n)
        for v, n in ((values, of_background), (values[:2], of_sample))
    )
    rules = explain(lambda X: np.asarray(X)[:, 1] > 0, background, X, beam_size=1, tau=0.3).values
    second = 1 if of_sample is None else of_sample[1]
    assert all(second in [p.column for p in rule.predicates] for rule in rules)
    assert all(rule.covers(X)[i] for i, rule in enumerate(rules))


def test_the_order_of_a_frames_columns_does_not_matter():
    frame = make_big_frame(100)
    straight = explain(is_busy, frame, frame[:4], beam_size=1, tau=0.3)
    fitted = make_anchors(beam_size=1, tau=0.3).fit(faithkit.Predictor(is_busy), frame)
    turned = fitted.explain(frame[["hours", "age", "job"]][:4], faithkit.plugin.row_seeds(frame[:4], 0))
    assert turned.values.tolist() == straight.values.tolist()


# --- the search ------------------------------------------------------------------------------------------


def make_big_frame(n=10_500):
    """Larger than the number of rows that anchor-exp estimates coverage from, and without gaps."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(17, 90, n),
            "job": rng.choice(list("abcd"), n),
            "hours": rng.normal(40, 9, n).round(1),
        }
    )


def is_busy(frame):
    return ((frame["hours"] > 45) & (frame["age"] > 30)) | (frame["job"] == "a")


class Upstream:
    """anchor-exp as it is, on the same codes and in the same order."""

    def __init__(self, fitted):
        from anchor.anchor_tabular import AnchorTabularExplainer

        encoder, table = fitted.encoder_, fitted.table_
        categories = {j: list(map(str, values)) for j, values in encoder.categories.items()}
        self.explainer = AnchorTabularExplainer(["no", "yes"], encoder.names, table.codes.copy(), categories)
        self.predict = lambda codes: is_busy(encoder.decode(codes)).to_numpy().astype(int)
        self.encoder = encoder

    def sample_fn(self, row):
        return self.explainer.get_sample_fn(self.encoder.encode(row)[0], self.predict)

    def rule(self, row, seed, beam_size):
        """Search, and write the rule from feature, operator and bin, with the discretizer's own quantiles."""
        from anchor.anchor_base import AnchorBaseBeam

        with faithkit.plugin.seed_global_generators(seed):
            sample, mapping = self.sample_fn(row)
            result = AnchorBaseBeam.anchor_beam(
                sample, delta=0.1, epsilon=0.3, batch_size=100, desired_confidence=0.95, beam_size=beam_size
            )
        predicates = []
        for feature, op, value in (mapping[i] for i in result["feature"]):
            name = self.encoder.names[feature]
            if op == "eq":
                predicates.append(faithkit.plugin.OneOf(name, [self.encoder.categories[feature][int(value)]]))
            else:
                cut = np.unique(np.percentile(self.explainer.train[:, feature], QUARTILES))[value]
                ends = {"high": cut} if op == "leq" else {"low": cut}
                predicates.append(faithkit.plugin.Interval(name, **ends))
        return faithkit.Rule(predicates)


def test_the_rows_drawn_are_those_of_anchor_exp():
    from faithkit_scoped_rules.anchors.perturbed_rows import PerturbedRows, from_bytes

    frame = make_big_frame(400)
    fitted = make_anchors().fit(faithkit.Predictor(is_busy), frame)
    upstream = Upstream(fitted)
    for i in range(6):
        draw_upstream, mapping = upstream.sample_fn(frame[i : i + 1])
        perturbation = PerturbedRows(fitted.table_, fitted.encoder_.encode(frame[i : i + 1])[0], seed=i)
        assert len(mapping) == len(perturbation.conditions)
        with faithkit.plugin.seed_global_generators(i):
            for present in ([], [0], [1, 2], [5, 0, 3], list(mapping)):
                raw, holds, _ = draw_upstream(present, 50)
                drawn, queries = perturbation.draw(present, 50)
                assert np.array_equal(from_bytes(queries), raw)
                assert np.array_equal(perturbation.holds(drawn), holds)


def test_rules_are_those_of_anchor_exps_search():
    frame, beam_size = make_big_frame(), 2
    fitted = make_anchors(beam_size=beam_size, tau=0.3).fit(faithkit.Predictor(is_busy), frame)
    rows, seeds = frame[:1], [11]
    expected = [Upstream(fitted).rule(rows, seeds[0], beam_size)]
    assert fitted.explain(rows, seeds).values.tolist() == expected


def test_engine_library_returns_the_rule_that_anchor_exp_prints():
    """Also where the background is small, of which anchor-exp draws 10,000 rows to estimate coverage."""
    from anchor.anchor_tabular import AnchorTabularExplainer

    frame = make_big_frame(300)
    fitted = make_anchors(beam_size=1, engine="library", bins="decile").fit(
        faithkit.Predictor(is_busy), frame
    )
    rules = fitted.explain(frame[:2], [1, 2]).values
    codes = fitted.encoder_.encode(frame)
    package = AnchorTabularExplainer(
        ["no", "yes"], list(frame), codes[np.lexsort(codes.T)], {1: list("abcd")}, "decile"
    )
    for i, rule in enumerate(rules):
        with faithkit.plugin.seed_global_generators(i + 1):
            answer = package.explain_instance(
                codes[i], lambda X: is_busy(fitted.encoder_.decode(X)).to_numpy().astype(int)
            )
        limits = {}
        for words in map(str.split, answer.names()):
            (column,) = set(words) & set(frame)
            limits[column] = set(words) - {column, "<", "<=", ">", "="}
        assert limits == {p.column: format_limits(p) for p in rule.predicates}


def format_limits(predicate):
    """What anchor-exp prints of a predicate: a category, or cut points with two decimals."""
    if isinstance(predicate, faithkit.plugin.OneOf):
        return set(predicate.values)
    return {f"{end:.2f}" for end in (predicate.low, predicate.high) if np.isfinite(end)}


def test_engine_library_explains_regressors_and_missing_words_and_refuses_missing_numbers():
    X = np.arange(100.0)[:, None]
    tree = DecisionTreeRegressor(max_depth=1).fit(X, X[:, 0] > 49)
    explanations = explain(tree, X, X[[3, 90]], engine="library", within=0.5, batch_size=20)
    assert [str(rule) for rule in explanations.values] == ["0 ≤ 49.5", "0 > 49.5"]
    frame = make_frame().dropna(subset="age")
    fitted = make_anchors(engine="library", batch_size=20, beam_size=1).fit(
        faithkit.Predictor(predict_words), frame
    )
    rows = frame[frame["town"].isna()][:1]
    assert [str(rule) for rule in fitted.explain(rows, [1]).values] == ["town is missing"]
    with pytest.raises(
        faithkit.errors.InputError, match="column 'age' of an explained row has one: use engine=faith"
    ):
        fitted.explain(rows.assign(age=np.nan), [1])
    with pytest.raises(faithkit.errors.InputError, match="column 'age' of the background has one"):
        make_anchors(engine="library").fit(faithkit.Predictor(predict_words), make_frame())


def test_a_wider_beam_finds_rules_that_cover_more():
    frame = make_big_frame(400)
    narrow, wide = (explain(is_busy, frame, frame[:4], beam_size=size, tau=0.3).values for size in (1, 4))
    assert np.mean([r.covers(frame).mean() for r in wide]) > np.mean([r.covers(frame).mean() for r in narrow])


def test_a_bin_without_background_rows_is_filled_with_the_instances_value():
    from faithkit_scoped_rules.anchors.binned_table import BinnedTable
    from faithkit_scoped_rules.anchors.perturbed_rows import PerturbedRows, from_bytes

    table = BinnedTable.learn(np.array([[0.0], [0.0], [0.0], [10.0]]), {}, "quartile")  # cut at 0 and 2.5
    rows = PerturbedRows(table, np.array([2.0]), seed=0)
    drawn, queries = rows.draw([0, 1], 20)  # 0 < value ≤ 2.5
    assert (from_bytes(queries) == 2.0).all()
    assert rows.holds(drawn).all()
    constant = BinnedTable.learn(np.zeros((4, 1)), {}, "quartile")
    _, queries = PerturbedRows(constant, np.array([3.0]), seed=0).draw([0], 20)
    assert (from_bytes(queries) == 3.0).all()


def test_no_million_rows_are_set_aside_for_an_instance():
    X = np.random.default_rng(0).normal(size=(200, 20))
    fitted = make_anchors(beam_size=1, max_size=1).fit(faithkit.Predictor(lambda X: X[:, 0] > 0), X)
    fitted.explain(X[:1], [0])
    tracemalloc.start()
    fitted.explain(X[:1], [0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # a million rows of 60 predicates and 20 values would be 640 MB


# --- a function of the row -------------------------------------------------------------------------------


def test_a_rule_depends_on_seed_and_row_only():
    X, predictor = make_frame(6, seed=1), faithkit.Predictor(predict_words)
    fitted = make_anchors(beam_size=1, tau=0.3).fit(predictor, make_frame(100))
    seeds = faithkit.plugin.row_seeds(X, 0)
    straight = fitted.explain(X, seeds).values.tolist()
    assert fitted.explain(X[::-1], seeds[::-1]).values.tolist() == straight[::-1]
    other = make_anchors(beam_size=1, tau=0.3).fit(predictor, make_frame(100).sample(frac=1, random_state=0))
    assert other.explain(X, seeds).values.tolist() == straight  # the background's order tells nothing
    assert len(set(straight)) > 2
    # NumPy orders ties differently on different processors, so a few seeds may find the same rules
    assert any(fitted.explain(X, seeds + shift).values.tolist() != straight for shift in range(1, 9))


@pytest.mark.slow
def test_two_workers_give_the_same_bytes():
    X = np.random.default_rng(0).normal(size=(120, 3)).round(1)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(
        X, np.where(X[:, 0] * X[:, 1] > 0, "in", "out")
    )
    alone, by_workers = (
        json_of(
            faithkit.evaluate(
                model, X[:16], explainer="anchors:beam_size=1,max_size=2", background=X, n_jobs=n
            )
        )
        for n in (1, 2)
    )
    assert alone == by_workers


def test_the_global_generators_are_left_as_they_were():
    X = np.random.default_rng(0).normal(size=(50, 2))
    before, python = np.random.get_state(), random.getstate()
    explain(lambda X: X[:, 0] > 0, X, X[:3])
    assert random.getstate() == python
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), before, strict=True))


@pytest.mark.slow
def test_neither_lime_nor_spacy_is_ever_imported_and_anchor_only_when_used():
    code = (
        "import sys, numpy as np, faithkit, faithkit_scoped_rules.anchors.tables, faithkit_scoped_rules.anchors.texts\n"
        "assert not {'anchor', 'spacy', 'lime', 'sklearn'} & set(sys.modules)\n"
        "X = np.arange(40.).reshape(-1, 1)\n"
        "faithkit_scoped_rules.anchors.tables.Anchors().fit(faithkit.Predictor(lambda X: X[:, 0] > 9), X).explain(X[:1], [0])\n"
        "assert not {'spacy', 'lime'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# --- bad input -------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"threshold": 1.0}, "threshold must be a number between 0 and 1, got 1.0"),
        ({"threshold": 0}, "threshold must be a number between 0 and 1, got 0"),
        ({"threshold": "high"}, "threshold must be a number between 0 and 1, got 'high'"),
        ({"delta": 0.0}, "delta must be a number between 0 and 1"),
        ({"tau": 0}, "tau must be a number between 0 and 1"),
        ({"tau": float("nan")}, "tau must be a number between 0 and 1, got nan"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        ({"batch_size": True}, "batch_size must be a whole number of at least 1"),
        ({"beam_size": 2.5}, "beam_size must be a whole number of at least 1, got 2.5"),
        ({"max_size": 0}, "max_size must be a whole number of at least 1 or none, got 0"),
        ({"engine": "anchor-exp"}, "engine must be one of faithkit, library, got 'anchor-exp'"),
        ({"bins": "median"}, "bins must be one of quartile, decile, got 'median'"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=f"^anchors: {message}"):
        make_anchors(**params)


def test_texts_and_sparse_matrices_are_refused():
    from scipy.sparse import csr_matrix

    X = np.arange(20.0).reshape(-1, 2)
    model = faithkit.Predictor(lambda X: np.zeros(len(X)))
    with pytest.raises(faithkit.errors.InputError, match="tables, not texts: use anchors-text"):
        make_anchors().fit(model, ["some", "texts"])
    with pytest.raises(faithkit.errors.InputError, match="sparse"):
        make_anchors().fit(model, csr_matrix(X))
    with pytest.raises(faithkit.errors.InputError, match="text"):
        make_anchors().fit(model, X).explain(["some", "texts"], [0, 0])


def test_a_row_with_an_unseen_category_has_no_explanation_and_says_why():
    X = make_frame(3, seed=1)
    usual = explain(predict_words, make_frame(), X, beam_size=1, tau=0.3)
    X.loc[1, "job"] = "pilot"
    result = faithkit.evaluate(
        predict_words, X, explainer="anchors:beam_size=1,tau=0.3", background=make_frame()
    )
    assert result.unexplained == 1
    explanations = result.rows.explanations
    assert explanations.missing.tolist() == [False, True, False]
    assert explanations.remarks[1] == "a category that the background does not have"
    assert [explanations.values[0], explanations.values[2]] == [usual.values[0], usual.values[2]]


def test_a_label_that_the_background_lacks_is_explained_and_remarked():
    background = np.random.default_rng(0).normal(size=(100, 2))
    X = np.array([[50.0, 0.0], [0.1, 0.0]])
    explanations = explain(lambda X: np.where(X[:, 0] > 40, "rare", "common"), background, X)
    assert explanations.values[0].covers(X)[0]
    assert explanations.remarks.tolist() == ["below the threshold", None]
    assert explanations.values[1] == faithkit.Rule()


# --- Adult -----------------------------------------------------------------------------------------------

FOLDER = os.environ.get("FAITHKIT_DATA")
RECORD = {
    "age": 38, "workclass": "Private", "fnlwgt": 89814, "education": "HS-grad", "education-num": 9,
    "marital-status": "Married-civ-spouse", "occupation": "Farming-fishing", "relationship": "Husband",
    "race": "White", "sex": "Male", "capital-gain": 0, "capital-loss": 0, "hours-per-week": 50,
    "native-country": "United-States",
}  # fmt: skip


@pytest.fixture(scope="module")
def adult():
    """The paper's model on its split: train and test frames, and what the model says of the test part."""
    if not FOLDER:
        pytest.skip("set FAITHKIT_DATA to the folder with adult.csv.gz")
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    frame = pd.read_csv(Path(FOLDER) / "adult.csv.gz", keep_default_na=False)
    y = frame.pop("target").to_numpy(object)
    train, test, y, _ = train_test_split(frame, y, train_size=0.66, random_state=0)
    words = list(frame.select_dtypes(exclude="number"))
    coded = make_column_transformer((OrdinalEncoder(), words), remainder="passthrough")
    boosting = GradientBoostingClassifier(learning_rate=0.25, n_estimators=50, max_depth=5, random_state=0)
    model = faithkit.Predictor(make_pipeline(coded, boosting).fit(train, y))
    return model, train, test, model.predict(test)


@pytest.mark.slow
def test_the_papers_record_has_anchors_that_keep_their_promise(adult):
    model, train, test, labels = adult
    record = pd.DataFrame([RECORD])
    assert model.predict(record).tolist() == ["<=50K"]
    for threshold in (0.5, 0.95):
        fitted = make_anchors(threshold=threshold).fit(model, train)
        for seed in (0, 1):
            explanations = fitted.explain(record, faithkit.plugin.row_seeds(record, seed))
            (rule,) = explanations.values
            mask = test.index.isin(filter_rows(test, rule).index)
            n, agree = int(mask.sum()), int((labels[mask] == "<=50K").sum())
            print(f"threshold {threshold}, seed {seed}: {rule}; N^s = {n}, of them <=50K: {agree}")
            assert rule.covers(record).all()
            assert explanations.remarks.tolist() == [None]
            assert agree / n >= threshold - 0.05


@pytest.mark.slow
def test_the_papers_first_anchor_covers_as_many_test_rows_here(adult):
    """Figure 2 has N^s = 7438, 7049 of them <=50K, on a test part of 16,118 rows."""
    _, train, test, labels = adult
    assert np.percentile(train["education-num"], 25) == 9
    covered = faithkit.Rule([faithkit.plugin.Interval("education-num", high=9)]).covers(test)
    assert covered.mean() == pytest.approx(7438 / 16118, abs=0.02)
    assert (labels[covered] == "<=50K").mean() == pytest.approx(7049 / 7438, abs=0.015)
