"""`lime`: the lime package's own numbers, on the same perturbations, and what it does not do: mixed columns."""

import functools
import random
from typing import ClassVar

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from lime.lime_base import LimeBase
from lime.lime_tabular import LimeTabularExplainer
from looping import one_test
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

import faithkit

RNG = np.random.default_rng(0)
CODES = np.column_stack([RNG.normal(size=(300, 2)), RNG.gamma(2.0, 3.0, 300), RNG.integers(0, 4, (300, 2))])
SCORE = CODES[:, 0] + CODES[:, 1] * (CODES[:, 3] - 1) + CODES[:, 2] / 4
TWO, THREE = SCORE > 1.5, np.digitize(SCORE, [0.5, 2.5])
CATEGORIES = [3, 4]
ROWS, SEEDS = CODES[:6], [11, 12, 13, 14, 15, 16]

SETTINGS = {
    "quartiles": {},
    "deciles": {"discretizer": "decile"},
    "numbers": {"discretize_continuous": False},
    "around the instance": {"discretize_continuous": False, "sample_around_instance": True},
    "a narrow kernel": {"kernel_width": 0.5},
}


def make_lime(**params):
    return faithkit.plugin.registry().create("explainer", "lime", params)


def are_same(values, others):
    """Whether weights are the same up to what the kernel rounds away."""
    return np.allclose(values, others, rtol=0, atol=1e-9)


def fit_lime(model, background=CODES, **params):
    params = {"samples": 200, "categorical_features": CATEGORIES, "target": "all", "offset": True} | params
    return make_lime(**params).fit(faithkit.Predictor(model), background)


def explain_with_package(explainer, scores, row, seed, settings):
    """Let the lime package explain a row from our perturbations: only its random numbers are replaced."""
    package = LimeTabularExplainer(
        CODES, categorical_features=CATEGORIES, feature_selection="none", random_state=0, **settings
    )
    values, _ = explainer.neighbourhood_.draw(row[None], [seed])
    inverse = values[:, 0].T
    data = inverse.copy()
    if package.discretizer is None:
        data[:, CATEGORIES] = inverse[:, CATEGORIES] == row[CATEGORIES]
    else:
        data = (package.discretizer.discretize(inverse) == package.discretizer.discretize(row)).astype(float)
    package._LimeTabularExplainer__data_inverse = lambda row, n: (data, inverse)
    classes = range(scores(CODES[:1]).shape[1])
    result = package.explain_instance(row, scores, labels=classes, num_features=5, num_samples=len(data))
    weights = [[dict(result.local_exp[k])[j] for j in range(5)] for k in classes]
    return np.array([*np.ravel(weights), *(result.intercept[k] for k in classes)])


# --- the lime package's own numbers ------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("settings", "y"),
    list(zip(SETTINGS.values(), [TWO, THREE, TWO, THREE, TWO], strict=True)),
    ids=SETTINGS,
)
def test_weights_are_those_of_the_lime_package_on_the_same_perturbations(settings, y):
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(CODES, y)
    explainer = fit_lime(model, **settings)
    values = explainer.explain(ROWS, SEEDS).values
    for row, seed, weights in list(zip(ROWS, SEEDS, values, strict=True))[::3]:
        expected = explain_with_package(explainer, model.predict_proba, row, seed, settings)
        np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-11)
        assert np.abs(expected).max() > 0.01


def draw_with_package(settings, row, n):
    """What the lime package itself draws."""
    package = LimeTabularExplainer(CODES, categorical_features=CATEGORIES, random_state=3, **settings)
    data, inverse = package._LimeTabularExplainer__data_inverse(row, n)
    return data[1:], inverse[1:]


@one_test
@pytest.mark.parametrize("settings", list(SETTINGS.values())[:4], ids=list(SETTINGS)[:4])
def test_perturbations_have_the_distribution_of_the_packages(settings):
    model = GradientBoostingClassifier(n_estimators=2).fit(CODES, TWO)
    n, row = 3000, CODES[7]
    values, features = fit_lime(model, samples=n, **settings).neighbourhood_.draw(row[None], [5])
    numbers = values[:, 0, 1:]
    data, inverse = draw_with_package(settings, row, n)
    for j in range(3):
        assert stats.ks_2samp(numbers[j], inverse[:, j]).pvalue > 0.01
    for j in CATEGORIES:
        both = pd.crosstab(np.r_[numbers[j], inverse[:, j]], np.repeat([0, 1], n - 1))
        assert stats.chi2_contingency(both).pvalue > 0.01
    if settings.get("discretize_continuous", True):
        shares = features[0, :, 1:].mean(axis=1), data.mean(axis=0)
        np.testing.assert_allclose(*shares, atol=4 * np.sqrt(0.5 / n))
    # columns are drawn independently, as there
    assert np.abs(np.corrcoef(numbers)[np.triu_indices(5, 1)]).max() < 4 / np.sqrt(n)


def test_the_first_perturbation_is_the_row_itself():
    model = GradientBoostingClassifier(n_estimators=2).fit(CODES, TWO)
    for settings in SETTINGS.values():
        values, features = fit_lime(model, **settings).neighbourhood_.draw(ROWS, SEEDS)
        np.testing.assert_array_equal(values[:, :, 0].T, ROWS)
        assert (features[:, CATEGORIES, 0] == 1).all()


def test_a_bin_with_a_single_value_is_drawn_as_that_value():
    """lime draws (value − mean) / deviation there: 0, whatever the value."""
    X = np.column_stack([np.full(40, 7.0), np.repeat([2.0, 3.0, 4.0], [20, 10, 10]), np.arange(40.0)])
    package = LimeTabularExplainer(X, random_state=0)
    _, package_values = package._LimeTabularExplainer__data_inverse(X[0], 400)
    assert set(package_values[1:, 0]) == {0.0}
    assert (package_values[1:, 1] == 0.0).mean() == pytest.approx(0.5, abs=0.1)
    model = DecisionTreeClassifier(max_depth=2).fit(X, X[:, 2] > 20)
    values, _ = fit_lime(model, X, categorical_features=None).neighbourhood_.draw(X[:1], [1])
    assert set(values[0].ravel()) == {7.0}
    assert (values[1] == 2.0).mean() == pytest.approx(0.5, abs=0.1)
    assert values[1].min() == 2.0


@one_test
@pytest.mark.parametrize(
    ("columns", "classes", "samples"), [(1, 1, 2), (3, 2, 50), (20, 3, 30), (70, 2, 400)]
)
def test_the_ridge_is_that_of_scikit_learn(columns, classes, samples):
    from faithkit_feature_importance.lime_weights.weighted_ridge import weighted_ridge

    rng = np.random.default_rng(columns)
    features = rng.normal(size=(4, columns, samples)) + 30
    scores, weights = rng.normal(size=(4, classes, samples)), rng.random((4, samples)) ** 3
    original = features.copy()
    coefficients, intercepts = weighted_ridge(features, scores, weights)
    assert (features == original).all()
    for i in range(4):
        ridge = Ridge(alpha=1).fit(features[i].T, scores[i].T, sample_weight=weights[i])
        np.testing.assert_allclose(coefficients[i].T, np.atleast_2d(ridge.coef_), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(intercepts[i], ridge.intercept_, rtol=1e-9, atol=1e-9)


def test_where_all_scores_are_alike_all_weights_are_exactly_zero():
    """Else rounding errors would be taken for explanations, each row's for another."""

    class Constant(Xor):
        def predict_proba(self, X):
            return np.tile([0.9, 0.1], (len(X), 1))

    X = np.random.default_rng(0).normal(size=(30, 3))
    result = faithkit.evaluate(Constant(), X, "lime:samples=100", background=X)
    assert result.n_explanations == 1
    offset = make_lime(samples=100, offset=True).fit(faithkit.Predictor(Constant()), X).explain(X[:2], [1, 2])
    assert (offset.values[:, :3] == 0).all()
    assert offset.values[:, 3] == pytest.approx(0.1, abs=1e-12)


# --- the lime package itself -------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("name", ["deciles", "around the instance"])
def test_engine_library_returns_the_weights_of_the_lime_package(name):
    settings = SETTINGS[name]
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(CODES, THREE)
    explanations = fit_lime(model, engine="library", **settings).explain(ROWS, SEEDS)
    for row, seed, vector in list(zip(ROWS, SEEDS, explanations.values, strict=True))[:2]:
        package = LimeTabularExplainer(
            CODES, categorical_features=CATEGORIES, feature_selection="none", random_state=seed, **settings
        )
        answer = package.explain_instance(
            row, model.predict_proba, labels=range(3), num_features=5, num_samples=200
        )
        weights = [[dict(answer.local_exp[k])[j] for j in range(5)] for k in range(3)]
        expected = [*np.ravel(weights), *(answer.intercept[k] for k in range(3))]
        np.testing.assert_allclose(vector, expected, rtol=0, atol=1e-12)
    assert explanations.shared["names"] == fit_lime(model).explain(ROWS, SEEDS).shared["names"]


def test_engine_library_explains_the_number_that_a_regressor_predicts():
    model = Ridge().fit(CODES, SCORE)
    settings = {"target": None, "offset": False, "samples": 2000}
    vectors = fit_lime(model, engine="library", **settings).explain(ROWS, SEEDS).values
    package = LimeTabularExplainer(
        CODES, mode="regression", categorical_features=CATEGORIES, feature_selection="none", random_state=11
    )
    answer = package.explain_instance(ROWS[0], model.predict, num_features=5, num_samples=2000)
    np.testing.assert_allclose(vectors[0], [dict(answer.local_exp[1])[j] for j in range(5)], atol=1e-12)
    with pytest.raises(faithkit.errors.InputError, match="explains one number, and the model predicts 2"):
        fit_lime(Ridge().fit(CODES, np.c_[SCORE, SCORE]), engine="library", **settings)


def test_engine_library_asks_the_model_about_words_and_refuses_what_lime_cannot_take():
    people = PEOPLE.dropna(subset=["age"])
    explainer = fit_lime(fit_on_people(), people, categorical_features=None, engine="library", samples=2000)
    rows = people.iloc[:2]
    faster = fit_lime(fit_on_people(), people, categorical_features=None, samples=2000)
    np.testing.assert_allclose(
        explainer.explain(rows, [1, 2]).values, faster.explain(rows, [1, 2]).values, atol=0.1
    )
    with pytest.raises(
        faithkit.errors.InputError, match=r"engine=library .* column 'age' of row 1 .* engine=faithkit"
    ):
        explainer.explain(PEOPLE.iloc[:2], [1, 2])
    with pytest.raises(faithkit.errors.InputError, match="'pilot'"):
        explainer.explain(rows.assign(job="pilot"), [1, 2])
    with pytest.raises(faithkit.errors.InputError, match="column 'age' of row 1 of the background"):
        fit_lime(fit_on_people(), PEOPLE, categorical_features=None, engine="library")


# --- the paper's example -----------------------------------------------------------------------------------


class Xor:
    """1 where both features have the same sign: appendix B."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return (X[:, 0] * X[:, 1] > 0).astype(int)

    def predict_proba(self, X):
        return np.eye(2)[self.predict(X)]


def test_lime_explains_two_labels_of_xor_alike():
    background = np.random.default_rng(0).normal(size=(5000, 2))
    X = np.array([[2.5, 0.5], [-2.5, 0.5]])
    settings = {"discretize_continuous": False, "sample_around_instance": True, "target": "predicted"}
    weights = make_lime(**settings).fit(faithkit.Predictor(Xor()), background).explain(X, [1, 2]).values
    assert Xor().predict(X).tolist() == [1, 0]
    np.testing.assert_allclose(weights, [[0.0, 0.44], [0.0, 0.44]], atol=0.03)


# --- mixed columns -----------------------------------------------------------------------------------------


def make_people(n=240):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, n),
            "children": rng.integers(0, 5, n),
            "job": pd.Series(rng.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "town": pd.Categorical(rng.choice(["Bonn", "Ulm"], n)),
            "owner": rng.random(n) < 0.4,
        }
    )
    frame.loc[frame.index % 6 == 1, "age"] = np.nan
    frame.loc[frame.index % 8 == 2, "job"] = None
    return frame


PEOPLE = make_people()
INCOME = (
    PEOPLE["age"].fillna(50) / 10 + PEOPLE["children"] + 2 * (PEOPLE["job"] == "clerk") + PEOPLE["owner"]
).to_numpy()
CLASSES = np.array(["low", "middle", "high"])[np.digitize(INCOME, np.quantile(INCOME, [0.3, 0.7]))]


@functools.cache
def fit_on_people():
    words = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder(handle_unknown="ignore")
    )
    prepare = make_column_transformer(
        (SimpleImputer(), ["age", "children", "owner"]), (words, ["job", "town"]), sparse_threshold=0
    )
    return make_pipeline(prepare, RandomForestClassifier(3, random_state=0)).fit(PEOPLE, CLASSES)


def explain_by_hand(explainer, codes, seed, features, width):
    """The weights that lime's own base gives for features that the test has worked out."""
    values, _ = explainer.neighbourhood_.draw(codes[None], [seed])
    inverse = values[:, 0].T
    scores = explainer.predictor_.scores(explainer.encoder_.decode(inverse))
    features_of_draws = features(inverse)
    distances = np.sqrt(((features_of_draws - features_of_draws[0]) ** 2).sum(axis=1))
    base = LimeBase(lambda d: np.sqrt(np.exp(-(d**2) / width**2)), random_state=0)
    answers = [
        base.explain_instance_with_data(features_of_draws, scores, distances, k, 5, feature_selection="none")
        for k in range(scores.shape[1])
    ]
    weights = [[dict(pairs)[j] for j in range(5)] for _, pairs, _, _ in answers]
    return np.array([*np.ravel(weights), *(intercept for intercept, *_ in answers)])


def is_in_same_bin(values, row, cuts):
    """Whether each value lies in the row's bin; missing values are a bin of their own."""
    bins = np.where(np.isnan(values), -1, np.searchsorted(cuts, values))
    return bins == (-1 if np.isnan(row) else np.searchsorted(cuts, row))


@one_test
@pytest.mark.parametrize("discretize", [True, False])
def test_mixed_columns_with_missing_cells_are_explained_as_the_definition_says(discretize):
    explainer = fit_lime(
        fit_on_people(), PEOPLE, categorical_features=None, samples=100, discretize_continuous=discretize
    )
    rows = PEOPLE.iloc[:3]  # a whole row, a missing age and a missing job
    explanations = explainer.explain(rows, range(3))
    codes = explainer.encoder_.encode(rows)
    numbers = [PEOPLE["age"].dropna().to_numpy(), PEOPLE["children"].to_numpy()]

    def features(row):
        def compute_features(values):
            columns = [values[:, j] == row[j] for j in range(5)]
            for j, known in enumerate(numbers):
                if discretize:
                    columns[j] = is_in_same_bin(
                        values[:, j], row[j], np.unique(np.quantile(known, [0.25, 0.5, 0.75]))
                    )
                elif np.isnan(row[j]):
                    columns[j] = np.isnan(values[:, j])
                else:
                    columns[j] = (values[:, j] - known.mean()) / known.std()
            return np.column_stack(columns).astype(float)

        return compute_features

    for i, row in enumerate(codes):
        expected = explain_by_hand(explainer, row, i, features(row), 0.75 * 5**0.5)
        np.testing.assert_allclose(explanations.values[i], expected, rtol=1e-8, atol=1e-10)
    assert np.isfinite(explanations.values).all()
    assert explanations.shared["names"][:2] == ["high: age", "high: children"]
    assert explanations.shared["names"][-1] == "middle: offset"


def test_missing_numbers_are_drawn_as_often_as_the_background_has_them():
    explainer = fit_lime(fit_on_people(), PEOPLE, categorical_features=None, samples=4000)
    codes = explainer.encoder_.encode(PEOPLE.iloc[:2])
    values, features = explainer.neighbourhood_.draw(codes, [1, 2])
    assert np.isnan(codes[:, 0]).tolist() == [False, True]
    share = PEOPLE["age"].isna().mean()
    assert np.isnan(values[0]).mean() == pytest.approx(share, abs=0.02)
    assert features[1, 0].mean() == pytest.approx(share, abs=0.02)
    numbers = fit_lime(
        fit_on_people(), PEOPLE, categorical_features=None, discretize_continuous=False, samples=4000
    )
    values, features = numbers.neighbourhood_.draw(codes, [1, 2])
    assert not np.isnan(values[0, 0]).any()
    assert np.isnan(values[0, 1]).mean() == pytest.approx(share, abs=0.02)
    assert set(features[1, 0]) == {0.0, 1.0}


def test_a_category_that_the_background_lacks_belongs_to_the_row_alone():
    queries = []

    class Spy:
        classes_ = np.array([0, 1])

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

        def predict_proba(self, X):
            queries.append(X)
            chance = 0.5 + 0.5 * (X["job"] == "pilot").to_numpy()
            return np.column_stack([1 - chance, chance])

    background = PEOPLE[["age", "job"]].dropna().reset_index(drop=True)
    explainer = make_lime(samples=50).fit(faithkit.Predictor(Spy()), background)
    queries.clear()
    new = pd.DataFrame({"age": [30.0], "job": ["pilot"]})
    explanations = explainer.explain(new, [3])
    assert not any(X["job"].isna().any() for X in queries)
    assert [len(X) for X in queries] == [50, 1]
    queries.clear()
    both = explainer.explain(pd.DataFrame({"age": [30.0, 40.0], "job": ["pilot", "baker"]}), [3, 4])
    assert [len(X) for X in queries] == [100, 2]
    assert queries[1]["job"].tolist() == ["pilot", "baker"]
    assert are_same(both.values[0], explanations.values[0])
    assert explanations.values[0, 1] > 0.2  # the row's own score is the one that stands out


def test_models_get_the_columns_and_dtypes_they_were_trained_on():
    dtypes_of_queries = []

    class Spy:
        classes_ = np.array(["no", "yes"])

        def predict(self, X):
            return np.full(len(X), "no")

        def predict_proba(self, X):
            dtypes_of_queries.append(X.dtypes.astype(str).to_dict())
            return np.full((len(X), 2), 0.5)

    explainer = make_lime(samples=20, categorical_features="children").fit(faithkit.Predictor(Spy()), PEOPLE)
    explanations = explainer.explain(PEOPLE.iloc[:3], [1, 2, 3])
    dtypes = PEOPLE.dtypes.astype(str).to_dict()
    assert all(query == dtypes for query in dtypes_of_queries)
    np.testing.assert_allclose(explanations.values, 0, atol=1e-12)


def test_numbers_named_as_categories_are_drawn_from_the_background():
    model = GradientBoostingClassifier(n_estimators=2).fit(CODES, TWO)
    with_gap = np.where(np.arange(300)[:, None] % 5 == [9, 9, 9, 9, 1], np.nan, CODES)
    for columns in ([3, 4], ["x3", "x4"], np.array([3, 4])):
        explainer = fit_lime(_Filling(model), with_gap, categorical_features=columns)
        values, features = explainer.neighbourhood_.draw(with_gap[:2], [1, 2])
        assert set(values[3].ravel()) <= {0.0, 1.0, 2.0, 3.0}
        missing = np.isnan(values[4])
        assert missing.mean() == pytest.approx(0.2, abs=0.06)
        assert (features[1, 4] == missing[1]).all()  # the second row's own is missing


class _Filling:
    """A model that takes missing values, as scikit-learn's gradient boosting does not."""

    def __init__(self, model):
        self.model, self.classes_ = model, model.classes_

    def predict(self, X):
        return self.model.predict(np.nan_to_num(X))

    def predict_proba(self, X):
        return self.model.predict_proba(np.nan_to_num(X))


def test_columns_without_a_number_or_with_one_value_get_a_weight():
    X = np.column_stack([np.full(30, np.nan), np.full(30, 3.0), np.arange(30.0)])
    model = _Filling(DecisionTreeClassifier(max_depth=1).fit(np.nan_to_num(X), X[:, 2] > 14))
    new = np.array([[np.nan, 3.0, 2.0], [1.0, np.nan, np.nan]])
    for settings in ({}, {"discretize_continuous": False}):
        explanations = fit_lime(model, X, categorical_features=None, **settings).explain(new, [1, 2])
        assert np.isfinite(explanations.values).all()
        np.testing.assert_allclose(explanations.values[0, 3:5], 0, atol=0.05)


# --- one row is one row ------------------------------------------------------------------------------------


def fit_xgboost():
    """Return a model whose scores are of single precision."""
    library = pytest.importorskip("xgboost")
    return library.XGBClassifier(n_estimators=3, max_depth=2, n_jobs=1).fit(CODES, THREE)


@one_test
@pytest.mark.parametrize("fit", [fit_xgboost, lambda: LinearSVC().fit(CODES, THREE)])
def test_an_explanation_is_a_function_of_model_row_and_seed(fit):
    explainer = make_lime(samples=101, target="all").fit(faithkit.Predictor(fit()), CODES)
    X, seeds = CODES[:3], np.arange(3)
    before = random.getstate(), np.random.get_state()[1].tolist()
    whole = explainer.explain(X, seeds).values
    assert before == (random.getstate(), np.random.get_state()[1].tolist())
    assert are_same(whole, [explainer.explain(X[[i]], seeds[[i]]).values[0] for i in range(3)])
    assert are_same(whole, explainer.explain(X[::-1], seeds[::-1]).values[::-1])
    assert (whole == cloudpickle.loads(cloudpickle.dumps(explainer)).explain(X, seeds).values).all()
    assert (whole != explainer.explain(X, seeds + 1).values).any(axis=1).all()


def test_the_order_of_the_background_does_not_matter_even_in_the_last_bit():
    shuffled = PEOPLE.sample(frac=1, random_state=0)
    straight, turned = (
        make_lime(samples=50, discretize_continuous=False)
        .fit(faithkit.Predictor(fit_on_people()), rows)
        .explain(PEOPLE[:2], range(2))
        for rows in (PEOPLE, shuffled)
    )
    assert (straight.values == turned.values).all()


def test_the_number_of_threads_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 70))
    model = DecisionTreeClassifier(max_depth=5).fit(X, rng.integers(0, 10, 200))
    explainer = make_lime(samples=500, target="all").fit(faithkit.Predictor(model), X)
    several = explainer.explain(X[:2], [1, 2]).values
    with threadpool_limits(1):
        assert are_same(explainer.explain(X[:2], [1, 2]).values, several)


class ByBatch(Xor):
    """Its last bits depend on how many rows it is asked about, as those of matrix products can."""

    sizes: ClassVar = []

    def predict_proba(self, X):
        self.sizes.append(len(X))
        return super().predict_proba(X) * (1 + len(X) % 7 * 2.0**-52)


def test_a_model_is_asked_about_many_rows_at_once_even_where_its_last_bits_depend_on_that():
    X = RNG.normal(size=(40, 2))
    explainer = make_lime(samples=31).fit(faithkit.Predictor(ByBatch()), X)
    ByBatch.sizes.clear()
    together = explainer.explain(X, np.arange(40)).values
    assert ByBatch.sizes == [40 * 31]
    assert are_same(together, [explainer.explain(X[[i]], [i]).values[0] for i in range(40)])


@one_test
@pytest.mark.parametrize("rows_per_chunk", [1, 7])
def test_counts_are_exact_for_a_model_whose_last_bits_depend_on_the_batch(rows_per_chunk, monkeypatch):
    rows = np.repeat(RNG.normal(size=(20, 2)), 3, axis=0)[np.random.default_rng(1).permutation(60)]
    explainer = make_lime(samples=31)
    monkeypatch.setattr(explainer, "rows_per_chunk", rows_per_chunk)
    result = faithkit.evaluate(ByBatch(), rows, explainer, background=rows)
    assert (result.n_explanations, result.consistency.value) == (20, 1.0)
    assert len(result.local(rows[:1]).shared_by) == 3


def test_rows_are_explained_in_blocks_of_bounded_size(monkeypatch):
    from faithkit_feature_importance.lime_weights import perturbations

    model = GradientBoostingClassifier(n_estimators=3).fit(CODES, TWO)
    whole = fit_lime(model).explain(CODES[:11], range(11)).values
    sizes = []
    monkeypatch.setattr(perturbations, "VALUES_PER_BATCH", 3 * 200 * 5)
    explainer = fit_lime(model)
    predict = model.predict_proba
    monkeypatch.setattr(model, "predict_proba", lambda X: sizes.append(len(X)) or predict(X))
    assert are_same(explainer.explain(CODES[:11], range(11)).values, whole)
    assert sizes == [600, 600, 600, 400]


# --- targets and offsets -----------------------------------------------------------------------------------


def test_targets_and_offsets_are_parts_of_the_whole():
    model = GradientBoostingClassifier(n_estimators=5).fit(CODES, THREE)
    whole = fit_lime(model).explain(ROWS, SEEDS)
    weights, offsets = whole.values[:, :15].reshape(6, 3, 5), whole.values[:, 15:]
    predicted = model.predict(ROWS)
    explanations = fit_lime(model, target=None).explain(ROWS, SEEDS)
    assert (explanations.values == np.c_[weights, offsets[:, :, None]][np.arange(6), predicted]).all()
    assert explanations.shared == {
        "names": ["x0", "x1", "x2", "x3", "x4", "offset"],
        "offsets": 1,
        "target": "predicted",
    }
    two = GradientBoostingClassifier(n_estimators=5).fit(CODES, TWO)
    positive = fit_lime(two, target=None, offset=False).explain(ROWS, SEEDS)
    assert (positive.values == fit_lime(two).explain(ROWS, SEEDS).values[:, 5:10]).all()


@pytest.mark.slow
def test_lime_is_evaluated_with_the_same_bytes_whatever_the_workers():
    model = GradientBoostingClassifier(n_estimators=3).fit(CODES, TWO)
    settings = {"explainer": "lime:samples=200", "discretizer": "1fp", "background": CODES}
    alone = faithkit.evaluate(model, CODES[:70], **settings)
    by_workers = faithkit.evaluate(model, CODES[:70], n_jobs=2, **settings)
    assert alone.to_dict() == by_workers.to_dict()
    assert (alone.rows.explanations.values == by_workers.rows.explanations.values).all()


# --- bad input ---------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"samples": 1}, "samples must be a whole number of at least 2, got 1"),
        ({"samples": 50.0}, "samples must be a whole number"),
        ({"samples": True}, "samples must be a whole number"),
        ({"kernel_width": 0}, "kernel_width must be a number above 0, got 0"),
        ({"kernel_width": "wide"}, "kernel_width must be a number"),
        ({"kernel_width": float("inf")}, "kernel_width must be a number"),
        ({"discretizer": "entropy"}, "discretizer must be 'quartile' or 'decile', got 'entropy'"),
        ({"discretize_continuous": "no"}, "discretize_continuous must be true or false, got 'no'"),
        (
            {"sample_around_instance": True},
            "no effect on numbers that are discretized: set discretize_continuous",
        ),
        ({"engine": "lime"}, "engine must be one of faithkit, library, got 'lime'"),
        ({"offset": 1}, "offset must be true or false, got 1"),
        ({"target": "negative"}, "target must be one of positive, predicted, all"),
        ({"categorical_features": [1.5]}, "has 1.5; expected names or positions"),
        ({"categorical_features": True}, "has True; expected names or positions"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=f"lime: .*{message}"):
        make_lime(**params)


@one_test
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda X: X[:, 0] > 0, "gives labels only"),
        (DecisionTreeClassifier().fit(CODES, np.ones(300)), "two classes or more"),
        (DecisionTreeClassifier().fit(CODES[:, :2], TWO), "asked about 1 rows, failed with ValueError"),
    ],
    ids=["no scores", "one class", "another width"],
)
def test_models_that_cannot_be_explained_are_refused(model, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        make_lime().fit(
            faithkit.Predictor(model, background=CODES[:5, :2] if "width" in message else None), CODES
        )


def test_wrong_data_are_refused():
    model = faithkit.Predictor(GradientBoostingClassifier(n_estimators=2).fit(CODES, TWO))
    explainer = make_lime(samples=10).fit(model, CODES)
    with pytest.raises(faithkit.errors.InputError, match=r"shape \(6, 3\); expected 5 columns"):
        explainer.explain(ROWS[:, :3], SEEDS)
    for call in (lambda: make_lime().fit(model, ["a text"]), lambda: explainer.explain(["a text"], [1])):
        with pytest.raises(faithkit.errors.InputError, match="list of texts: use lime-text"):
            call()
    with pytest.raises(
        faithkit.errors.InputError, match=r"'job', which is no column .*: it has x0, x1, x2, x3, x4\."
    ):
        make_lime(categorical_features="job").fit(model, CODES)
    three = faithkit.Predictor(DecisionTreeClassifier().fit(CODES, THREE))
    with pytest.raises(faithkit.errors.InputError, match="target=positive needs two classes"):
        make_lime(target="positive").fit(three, CODES)


def test_infinite_numbers_are_refused():
    spoilt = CODES.copy()
    spoilt[17, 2] = np.inf
    model = _Filling(DecisionTreeClassifier(max_depth=2).fit(CODES, TWO))
    with pytest.raises(faithkit.errors.InputError, match="column 'x2' is infinite in row 17"):
        make_lime().fit(faithkit.Predictor(model), spoilt)
    with pytest.raises(faithkit.errors.InputError, match="column 'x2' is infinite in row 0"):
        make_lime(samples=10).fit(faithkit.Predictor(model), CODES).explain(spoilt[17:18], [1])
