"""Nearest counterfactuals: the paper's definition, and a refinement that is never farther and never unflipped."""

import numpy as np
import pandas as pd
import pytest
from brute_distances import Distances, in_order, nearest, rows_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from looping import one_test
from mixed_tables import FirstColumns, tables
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import faithkit

LABELS = st.sampled_from([("no", "yes"), (0, 1, 2), (False, True)])


def build_explainer(**params):
    return faithkit.plugin.registry().create("explainer", "nearest-counterfactual", params)


def split_table(frame, labels):
    """Return a model, a table and the background taken from the table, which has at least two labels."""
    model = faithkit.Predictor(FirstColumns(labels), classes=labels)
    background = frame.iloc[2:].reset_index(drop=True)
    assume(len(set(model.predict(background).tolist())) > 1)
    return model, frame, background


@given(tables(), LABELS)
@settings(max_examples=4)
def test_it_is_the_closest_row_of_another_label_and_content_decides_ties(frame, labels):
    model, X, background = split_table(frame, labels)
    explanations = build_explainer().fit(model, background).explain(X, None)
    distance = explanations.shared["distance"]
    slow = Distances(distance["name"], background, distance["scale"])
    ordered = in_order(rows_of(background))
    label_of_row = dict(zip(rows_of(background), model.predict(background).tolist(), strict=True))
    expected = []
    for row, label in zip(rows_of(X), model.predict(X).tolist(), strict=True):
        others = [other for other in ordered if label_of_row[other] != label]
        expected.append(others[nearest(slow, row, others)[0]])
    assert rows_of(explanations.values) == expected


@given(tables(), LABELS, st.booleans(), st.randoms(use_true_random=False))
@settings(max_examples=3)
def test_neither_the_order_of_the_background_nor_chunks_matter(frame, labels, refine, random):
    model, X, background = split_table(frame, labels)
    whole = build_explainer(refine=refine).fit(model, background).explain(X, None)
    shuffled = background.iloc[random.sample(range(len(background)), len(background))]
    fitted = build_explainer(refine=refine).fit(model, shuffled)
    parts = [fitted.explain(X.iloc[rows], None) for rows in (slice(1), slice(1, 3), slice(3, None))]
    assert rows_of(faithkit.Explanations.concat(parts).values) == rows_of(whole.values)


@given(tables(), LABELS)
@settings(max_examples=3)
def test_the_refined_one_is_never_farther_and_its_label_is_another(frame, labels):
    model, X, background = split_table(frame, labels)
    plain, refined = (
        build_explainer(refine=refine).fit(model, background).explain(X, None) for refine in (False, True)
    )
    slow = Distances(plain.shared["distance"]["name"], background, plain.shared["distance"]["scale"])
    own = model.predict(X)
    for explanations in (plain, refined):
        assert (model.predict(explanations.values) != own).all()
    for row, before, after in zip(rows_of(X), rows_of(plain.values), rows_of(refined.values), strict=True):
        assert slow(row, after) <= slow(row, before)


@given(tables(), LABELS)
@settings(max_examples=3)
def test_within_the_background_itself_the_ball_is_pure(frame, labels):
    model, _, background = split_table(frame, labels)
    result = faithkit.evaluate(
        model,
        background,
        explainer="nearest-counterfactual",
        background=background,
        estimator="verified-only",
    )
    assert result.relation == "in-ball"
    if result.sufficiency.verified:
        assert result.sufficiency.value == 1.0


def test_labels_of_three_classes_are_searched_among_all_others():
    line = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]])
    model = faithkit.Predictor(lambda X: np.digitize(X[:, 0], [5, 20]))
    explanations = build_explainer().fit(model, line).explain(np.array([[4.0], [9.0], [29.0], [18.0]]), None)
    assert explanations.values.ravel().tolist() == [10.0, 2.0, 11.0, 30.0]


def test_a_label_that_the_background_lacks_has_all_rows_as_others():
    line = np.array([[0.0], [1.0], [8.0]])
    model = faithkit.Predictor(lambda X: np.digitize(X[:, 0], [5, 20]))
    assert build_explainer().fit(model, line).explain(np.array([[25.0]]), None).values.tolist() == [[8.0]]


def test_bisection_stops_at_the_models_threshold_and_undoing_keeps_other_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    model = faithkit.Predictor(lambda X: X[:, 2] > 0.3)
    explanations = build_explainer(refine=True).fit(model, X[:400]).explain(X[400:], None)
    unchanged = explanations.values == X[400:]
    assert unchanged[:, [0, 1, 3]].all()  # only the column that the model reads is left changed
    plain = build_explainer().fit(model, X[:400]).explain(X[400:], None).values[:, 2]
    step = np.abs(plain - X[400:, 2]) / 2**10
    assert (np.abs(explanations.values[:, 2] - 0.3) <= step + 1e-12).all()


def test_whole_numbers_stay_whole_and_dtypes_stay():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(0, 90, 200), "n": rng.normal(size=200), "job": rng.choice(["a", "b"], 200)}
    )
    model = faithkit.Predictor(lambda X: (X["age"] > 40.5) & (X["n"] > -0.5))
    fitted = build_explainer(refine=True).fit(model, frame)
    explanations = fitted.explain(frame, None)
    assert explanations.values.dtypes.tolist() == frame.dtypes.tolist()
    young = (frame["age"] < 40) & (frame["n"] > -0.5) & ~model.predict(frame)
    assert set(explanations.values.loc[young.to_numpy(), "age"]) == {41}


def test_whole_numbers_are_rounded_towards_the_counterfactual():
    model = faithkit.Predictor(lambda X: (np.abs(X[:, 0] - 2.3) < 0.1) | (X[:, 0] == 50))
    fitted = build_explainer(refine=True).fit(model, np.array([[0], [10], [50]]))
    assert fitted.explain(np.array([[2.3]]), None).values.tolist() == [[2.0]]


def test_what_is_undone_is_the_instances_own_value_even_if_it_is_new_or_missing():
    background = pd.DataFrame({"n": [0, 1, 8, 9], "job": ["cook", "cook", "smith", "smith"]})
    model = faithkit.Predictor(lambda X: X["n"].fillna(0).to_numpy() > 4)
    X = pd.DataFrame({"n": [2.0, np.nan, 7.5], "job": ["pilot", None, "cook"]})
    fitted = build_explainer(refine=True).fit(model, background)
    explanations = fitted.explain(X, None)
    assert explanations.values["job"].isna().tolist() == [False, True, False]
    assert explanations.values["job"].tolist()[0::2] == ["pilot", "cook"]
    assert (model.predict(explanations.values) != model.predict(X)).all()
    one_by_one = faithkit.Explanations.concat([fitted.explain(X.iloc[[i]], None) for i in range(3)])
    assert one_by_one.values.reset_index(drop=True).equals(
        explanations.values
    )  # a chunk's cells do not decide its dtypes


def test_a_users_distance_is_never_exceeded_either():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    model = faithkit.Predictor(lambda X: X[:, 0] > 0)

    def odd(a, b):  # changing one column alone may lead away by this measure
        return abs((a - b).sum())

    kind = type(build_explainer())
    plain, refined = (
        kind(distance=odd, refine=r).fit(model, X[:40]).explain(X[40:], None).values for r in (False, True)
    )
    before, after = (np.abs((X[40:] - values).sum(axis=1)) for values in (plain, refined))
    assert (after <= before).all()
    assert (model.predict(refined) != model.predict(X[40:])).all()


def test_pipelines_of_frames_with_missing_values_are_explained_and_evaluated():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(120) < 0.1, np.nan, rng.integers(18, 80, 120)),
            "job": pd.Series(rng.choice(["cook", "smith", None], 120), dtype="str"),
            "hours": pd.array(rng.integers(0, 60, 120), dtype="Int64"),
        }
    )
    labels = np.select([frame["age"] > 50, frame["job"] == "cook"], ["old", "cook"], "other")
    encode = FunctionTransformer(faithkit.plugin.Encoder(frame).encode)
    model = make_pipeline(encode, DecisionTreeClassifier(random_state=0)).fit(frame, labels)
    train, test = frame.iloc[:80], frame.iloc[80:]
    for refine in (False, True):
        result = faithkit.evaluate(
            model,
            test,
            explainer=f"nearest-counterfactual:refine={refine}",
            background=train,
            discretizer="delta-sign",
        )
        values = result.rows.explanations.values
        assert (model.predict(values) != model.predict(test)).all()
        assert result.sufficiency is not None
        assert result.unexplained == 0


def test_a_linear_models_refined_counterfactuals_do_not_depend_on_the_batch():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 6))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X @ rng.normal(size=6) > 0)
    fitted = build_explainer(refine=True).fit(faithkit.Predictor(model), X[:80])
    whole = fitted.explain(X[80:90], None).values
    for i in (0, 9):
        assert (fitted.explain(X[80 + i : 81 + i], None).values == whole[i]).all()


def test_text_arrays_are_explained():
    X = np.array([["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]])
    model = faithkit.Predictor(lambda X: X[:, 0] == "a")
    for refine in (False, True):
        explanations = build_explainer(refine=refine).fit(model, X).explain(X, None)
        assert explanations.values.tolist() == [["b", "x"], ["b", "y"], ["a", "x"], ["a", "y"]]


@one_test
@pytest.mark.parametrize("refine", [False, True])
def test_no_rows_have_no_counterfactuals(refine):
    model = faithkit.Predictor(lambda X: X[:, 0] > 0.5)
    explanations = build_explainer(refine=refine).fit(model, np.eye(3)).explain(np.empty((0, 3)), None)
    assert explanations.values.shape == (0, 3)


def test_a_background_of_one_label_is_an_error():
    with pytest.raises(
        faithkit.errors.InputError, match="all 3 distinct rows of the background the label 'no'"
    ):
        build_explainer().fit(faithkit.Predictor(lambda X: np.full(len(X), "no")), np.eye(3))


@one_test
@pytest.mark.parametrize("rows", [["a text", "another"], csr_array(np.eye(3))], ids=["texts", "sparse"])
def test_other_inputs_than_tables_are_refused(rows):
    with pytest.raises(faithkit.errors.InputError, match="examples are rows of a table"):
        build_explainer().fit(faithkit.Predictor(lambda X: [0, 1, 1]), rows)


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [({"refine": "yes"}, "refine must be true or false"), ({"distance": 2}, "distance must be one of")],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=message):
        build_explainer(**params)


def test_categories_that_only_the_instances_have_stay_categories():
    class Model:
        classes_ = np.array(["no", "yes"])

        def predict(self, X):
            assert isinstance(X["job"].dtype, pd.CategoricalDtype)
            return np.where((X["job"].astype(object) == "smith") & (X["age"] > 5), "yes", "no")

    background = pd.DataFrame({"job": pd.Categorical(["smith", "clerk"]), "age": [9.0, 2.0]})
    X = pd.DataFrame({"job": pd.Categorical(["cook", "clerk"]), "age": [6.0, 6.0]})
    refined = build_explainer(refine=True).fit(faithkit.Predictor(Model()), background).explain(X, None)
    assert refined.values.to_numpy(object).tolist() == [["smith", 6.0], ["smith", 6.0]]
