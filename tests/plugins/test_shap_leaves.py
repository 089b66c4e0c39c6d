"""SHAP values leaf by leaf: against the definition, through preparation, and where it must step aside."""

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.shap_values import leaf_games, leaf_tables, leaves, owners, parts
from faithkit_feature_importance.shap_values.ensembles import UnreadableError
from faithkit_feature_importance.shap_values.leaf_shap import LeafShap
from faithkit_feature_importance.shap_values.readers import read_ensemble
from faithkit_feature_importance.shap_values.rescaling import Rescaling, probability
from faithkit_feature_importance.shap_values.trees import TreeShap
from hypothesis import given, settings
from hypothesis import strategies as st
from shapley_values import shapley_values
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.inputs.models import default_model


def shap(**params):
    return faithkit.registry().create("explainer", "shap", {"background": "rows", **params})


def explained(model, table, rows, **params):
    fitted = shap(**params).fit(faithkit.Predictor(model), table)
    return fitted.explain(rows, faithkit.row_seeds(rows, 0))


def raw_scores(model, rows):
    """What a model adds up, two classes as −d and d; forests add up probabilities."""
    if not hasattr(model, "decision_function"):
        return model.predict_proba(rows)
    found = model.decision_function(rows)
    return np.column_stack([-found, found]) if found.ndim == 1 else found


def by_definition(model, table, reference, rows):
    """Values (rows, columns, classes) from all coalitions of the table's own columns."""

    def score(cells):
        if isinstance(table, pd.DataFrame):
            return raw_scores(
                model, pd.DataFrame(cells, columns=table.columns).astype(table.dtypes.to_dict())
            )
        return raw_scores(model, np.array(cells, dtype=table.dtype))

    reference, rows = (np.asarray(part.astype(object)) for part in (reference, rows))
    return np.array([shapley_values(score, row, reference) for row in rows])


def per_class(found):
    classes = len(found.shared["base_value"])
    return found.values.reshape(len(found), classes, -1).transpose(0, 2, 1)


# One leaf


@given(st.integers(1, 4), st.data())
def test_the_shares_of_a_leaf_are_those_of_the_definition(k, data):
    patterns = st.lists(st.booleans(), min_size=k, max_size=k)
    row, reference = data.draw(patterns), data.draw(st.lists(patterns, min_size=1, max_size=4))
    wanted = shapley_values(lambda cells: [[all(cell)] for cell in cells], row, reference)[:, 0]
    bits = 2 ** np.arange(k)
    counts = np.bincount(np.array(reference) @ bits, minlength=2**k) / len(reference)
    table, pattern = leaf_tables.tables(counts).ravel(), np.array([np.array(row) @ bits])
    for player in range(k):
        first, second = leaf_tables.looked_up(pattern, player, k)
        assert table[first] + table[second] == pytest.approx(wanted[player], abs=1e-12)


# Whole models


KINDS = {
    "tree": lambda seed: DecisionTreeClassifier(max_depth=5, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(3, max_depth=4, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(3, max_depth=4, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=3, random_state=seed),
    "histogram": lambda seed: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
    "categories": lambda seed: HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=3, categorical_features=[1, 3]
    ),
}
WITH_GAPS = ("tree", "forest", "histogram", "categories")


@given(st.sampled_from(sorted(KINDS)), st.sampled_from([2, 3]), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_raw_scores_are_explained_as_by_all_coalitions(kind, classes, seed):
    """Few distinct values: columns repeat on a path, thresholds are equal, rows lie on both sides of them."""
    random = np.random.default_rng(seed)
    table = random.integers(0, 5, (60, 4)).astype(float)
    if kind in WITH_GAPS:
        table[random.random(table.shape) < 0.15] = np.nan
    labels = random.integers(0, classes, 60)
    labels[:classes] = range(classes)
    model = KINDS[kind](seed % 1000).fit(table, labels)
    rows = table[40:42]
    found = explained(model, table[:6], rows, output="raw", target="all")
    assert found.shared["algorithm"] == "leaves"
    assert per_class(found) == pytest.approx(by_definition(model, table, table[:6], rows), abs=1e-9)


def numbers(n=200, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5)).round(1)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] > 0.3).astype(int)


@pytest.mark.parametrize("output", ["raw", "probability"])
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"categories"}))
def test_values_are_those_of_shap_for_the_same_reference_rows(kind, output):
    """shap works out its weights in single precision, and rescales rows of equal log-odds by noise."""
    X, y = numbers()
    model = KINDS[kind](0).fit(X, y)
    scores, reference = raw_scores(model, X)[:, 1], X[:3]
    rows = X[np.abs(scores[:, None] - scores[:3]).min(axis=1) > 1e-6]
    mine = LeafShap(model, output, reference, faithkit.Encoder(X)).values(rows)
    assert mine == pytest.approx(TreeShap(model, output, reference).values(rows), abs=1e-7)
    assert len(rows) > 20


@pytest.mark.parametrize("rows", [1, 7])
def test_rows_alone_and_in_blocks_have_the_same_bits(monkeypatch, rows):
    X, y = numbers()
    model = HistGradientBoostingClassifier(max_iter=10).fit(X, y)
    fitted = LeafShap(model, "probability", X[:50], faithkit.Encoder(X))
    whole = fitted.values(X)
    assert all((fitted.values(X[i : i + 1])[0] == whole[i]).all() for i in range(0, 200, 13))
    monkeypatch.setattr(leaf_games, "ROWS_AT_ONCE", rows)
    assert (fitted.values(X) == whole).all()


@pytest.mark.parametrize("bits", [0, 2, 4, 12])
@pytest.mark.parametrize("kind", KINDS)
def test_into_which_parts_trees_are_cut_changes_no_value(monkeypatch, kind, bits):
    X = np.random.default_rng(0).integers(0, 5, (90, 4)).astype(float)
    model = KINDS[kind](0).fit(X, X.sum(axis=1) % 3)
    usual = LeafShap(model, "raw", X, faithkit.Encoder(X)).values(X)
    monkeypatch.setattr(parts, "MOST_BITS", bits)
    np.testing.assert_allclose(LeafShap(model, "raw", X, faithkit.Encoder(X)).values(X), usual, atol=1e-11)


def test_thresholds_are_compared_in_the_models_precision():
    """scikit-learn's trees turn cells into float32; histogram boosting keeps float64."""
    cells = np.array([1.0, 1.0 + 1e-9, 1.0 + 2e-9, 2.0])[np.arange(80) % 4]
    X, y = np.column_stack([cells, np.arange(80) % 3]), (np.arange(80) % 4 > 1).astype(int)
    for model in (DecisionTreeClassifier(), HistGradientBoostingClassifier(min_samples_leaf=2)):
        found = explained(model.fit(X, y), X, X, output="raw", target="all", algorithm="tree")
        total = per_class(found).sum(axis=1) + found.shared["base_value"]
        assert total == pytest.approx(raw_scores(model, X), abs=1e-9)
        assert found.shared["algorithm"] == "leaves"


# The scale of probabilities


@pytest.mark.parametrize(("low", "high"), [(-3.0, 2.0), (-10.0, 10.0), (-40.0, 25.0), (5.0, 5.0)])
def test_the_factor_to_probabilities_is_a_short_sum_of_products(low, high):
    x, r = np.linspace(low, high, 41)[:, None], np.linspace(low, high, 38)[None, :]
    rescaling = Rescaling.on(low, high)
    found = (rescaling.signs * rescaling.terms(x[:, 0])) @ rescaling.terms(r[0]).T
    with np.errstate(invalid="ignore"):
        wanted = (probability(x) - probability(r)) / (x - r)
    slope = probability(x) * probability(-x)
    wanted = np.where(np.abs(x - r) < 1e-4, slope, wanted)
    assert found == pytest.approx(wanted, abs=1e-9)
    assert len(rescaling.signs) <= (9 if high <= 10 else 14)


@pytest.mark.parametrize(
    ("model", "steepness"),
    [
        (HistGradientBoostingClassifier(max_iter=15), 1),
        (GradientBoostingClassifier(n_estimators=5, loss="exponential"), 2),  # half of log-odds
    ],
)
def test_probabilities_are_log_odds_rescaled_for_each_reference_row(model, steepness):
    X, y = numbers()
    model.fit(X, y)
    rows, reference = X[100:110], X[:25]
    p, margin = model.predict_proba(X)[:, 1], model.decision_function(X)
    wanted = np.zeros(rows.shape)
    for i, other in enumerate(reference):
        log_odds = explained(model, other[None], rows, output="raw").values
        apart = margin[100:110] - margin[i]
        near, slope = np.abs(apart) < 1e-9, steepness * p[i] * (1 - p[i])
        factor = np.where(near, slope, (p[100:110] - p[i]) / np.where(near, 1, apart))
        wanted += log_odds * factor[:, None]
    found = explained(model, reference, rows)
    assert found.shared["algorithm"] == "leaves"
    assert found.values == pytest.approx(wanted / 25, abs=1e-9)


# Through preparation


def people(n=120, seed=0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.normal(40, 10, n).round(),
            "job": pd.Series(random.choice(["clerk", "smith", "cook"], n), dtype="str"),
            "pay": random.normal(size=n).round(1),
            "town": pd.Series(random.choice(["york", "bath"], n), dtype="str"),
            "hair": random.integers(0, 3, n),
        }
    )
    table.loc[random.random(n) < 0.15, "age"] = np.nan
    table.loc[random.random(n) < 0.15, "job"] = None
    score = (
        table["pay"] * (table["job"] == "clerk") + table["age"].fillna(20) / 40 + (table["town"] == "york")
    )
    return table, (score > score.median()).astype(int)


NUMBERS, WORDS = ["age", "pay"], ["job", "town"]
ONE_HOT = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
FILL = SimpleImputer(strategy="constant", fill_value="none")
PREPARED = {
    "one-hot, scaled": make_column_transformer(
        (make_pipeline(FILL, ONE_HOT), WORDS),
        (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUMBERS),
        remainder="passthrough",
    ),
    "sparse": make_column_transformer((OneHotEncoder(), [*WORDS, "hair"]), sparse_threshold=1.0),
    "dropped": make_column_transformer((ONE_HOT, ["town"]), ("drop", ["pay"]), remainder="drop"),
    "ordinal, binned": make_column_transformer(
        (OrdinalEncoder(encoded_missing_value=-1), WORDS),
        (make_pipeline(SimpleImputer(), KBinsDiscretizer(4, quantile_method="linear")), NUMBERS),
    ),
    "target, splines": make_column_transformer(
        (TargetEncoder(cv=2), WORDS),
        (make_pipeline(SimpleImputer(), SplineTransformer(3)), NUMBERS),
        (MissingIndicator(), ["age", "hair"]),
    ),
    "selected": make_pipeline(
        make_column_transformer((make_pipeline(FILL, ONE_HOT), WORDS), (SimpleImputer(), NUMBERS)),
        SelectKBest(k=4),
        StandardScaler(),
    ),
    "one column, mixed": make_column_transformer(
        (make_pipeline(FILL, ONE_HOT, PCA(2, random_state=0)), ["job"]),
        (make_union(StandardScaler(), PolynomialFeatures(2)), ["pay"]),
        (FunctionTransformer(np.exp), ["pay", "hair"]),
        verbose_feature_names_out=False,
    ),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "forest") for name in PREPARED] + [("one-hot, scaled", "histogram"), ("sparse", "boosting")],
)
def test_raw_columns_are_explained_through_column_wise_preparation(name, kind):
    table, y = people()
    model = make_pipeline(PREPARED[name], KINDS[kind](0)).fit(table, y)
    reference, rows = table.iloc[:5], table.iloc[40:42]
    found = explained(model, reference, rows, output="raw", target="all", algorithm="tree")
    assert found.shared["algorithm"] == "leaves"
    assert per_class(found) == pytest.approx(by_definition(model, table, reference, rows), abs=1e-9)


def test_a_column_that_is_dropped_gets_exactly_nothing():
    table, y = people()
    model = make_pipeline(PREPARED["dropped"], DecisionTreeClassifier(random_state=0)).fit(table, y)
    values = explained(model, table, table).values
    assert (values[:, [0, 1, 2, 4]] == 0).all()
    assert (values[:, 3] != 0).any()


def test_an_unknown_category_goes_where_the_transformer_sends_it():
    table, y = people()
    model = make_pipeline(PREPARED["one-hot, scaled"], KINDS["forest"](0)).fit(table, y)
    rows = table.iloc[:3].assign(job="diver", town=["rome", "york", None])
    found = explained(model, table.iloc[10:15], rows, target="all")
    assert found.shared["algorithm"] == "leaves"
    wanted = by_definition(model, table, table.iloc[10:15], rows)
    assert per_class(found) == pytest.approx(wanted, abs=1e-9)


def test_categories_that_the_model_encodes_itself_are_its_own_columns():
    table, y = people()
    table = table.astype({"job": "category", "town": "category"})
    model = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3).fit(table, y)
    found = explained(model, table.iloc[:5], table.iloc[40:43], output="raw", target="all")
    assert found.shared["algorithm"] == "leaves"
    wanted = by_definition(model, table, table.iloc[:5], table.iloc[40:43])
    assert per_class(found) == pytest.approx(wanted, abs=1e-9)


def test_columns_are_followed_by_name_where_the_background_has_another_order():
    table, y = people()
    model = make_pipeline(PREPARED["one-hot, scaled"], KINDS["forest"](0)).fit(table, y)
    turned = table[["hair", "town", "job", "pay", "age"]]
    one, two = (explained(model, part, part[:9]) for part in (table, turned))
    assert two.shared["names"] == list(turned.columns)
    order = [turned.columns.get_loc(name) for name in table.columns]
    assert two.values[:, order] == pytest.approx(one.values, abs=1e-9)


@pytest.mark.parametrize("name", ["gradient-boosting", "tree"])
def test_default_models_on_tables_with_words_and_gaps_are_read(name):
    table, y = people()
    model = default_model(name, table).fit(table, y)
    found = explained(model, table.iloc[:5], table.iloc[40:42], output="raw", target="all")
    assert found.shared["algorithm"] == "leaves"
    wanted = by_definition(model, table, table.iloc[:5], table.iloc[40:42])
    assert per_class(found) == pytest.approx(wanted, abs=1e-9)


def test_an_encoder_before_trees_is_seen_through():
    table, y = people()
    encode = FunctionTransformer(faithkit.Encoder(table).encode)
    model = make_pipeline(encode, HistGradientBoostingClassifier(max_iter=5)).fit(table, y)
    found = explained(model, table.iloc[:5], table.iloc[40:42], output="raw", target="all")
    assert found.shared["algorithm"] == "leaves"
    wanted = by_definition(model, table, table.iloc[:5], table.iloc[40:42])
    assert per_class(found) == pytest.approx(wanted, abs=1e-9)


def test_the_best_model_of_a_search_is_read():
    table, y = people()
    model = make_pipeline(PREPARED["one-hot, scaled"], DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(model, {"decisiontreeclassifier__max_depth": [2, 3]}, cv=2).fit(table, y)
    assert explained(search, table, table[:2]).shared["algorithm"] == "leaves"


# Reference rows


def test_all_of_the_background_is_compared_with_by_default():
    X, y = numbers()
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    found = explained(model, X, X[:3], background=None)
    assert found.shared["base_value"] == pytest.approx(model.predict_proba(X).mean(axis=0), abs=1e-12)
    assert found.values.tolist() == explained(model, X, X[:3], background="rows").values.tolist()


def test_the_result_says_which_algorithm_ran():
    X, y = numbers()
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y)
    result = faithkit.evaluate(model, X[:50], "shap", background=X[50:])
    assert result.to_dict()["explained_by"] == {"algorithm": "leaves", "target": "positive"}


def test_where_the_model_is_asked_a_hundred_rows_are_compared_with_by_default():
    X, y = numbers()
    model = LogisticRegression().fit(X, y)
    found = explained(model, X, X[:2], background=None)
    assert found.values.tolist() == explained(model, X, X[:2], background="sample:100").values.tolist()


# Where it steps aside


def wide(seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(150, 14))
    return X, (X.sum(axis=1) > 0).astype(int)


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (PCA(6, random_state=0), "PCA makes columns from several"),
        (Normalizer(), "Normalizer makes columns from several"),
        (KNNImputer(), "KNNImputer makes columns from several"),
        (PolynomialFeatures(1), "PolynomialFeatures makes columns from several"),
        (FunctionTransformer(np.fliplr), "FunctionTransformer makes columns from several"),
        (make_pipeline(StandardScaler(), make_union(PCA(3))), "PCA makes columns from several"),
        (
            make_column_transformer((PCA(2), [1, 2]), remainder="passthrough"),
            "PCA makes columns from several",
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
def test_a_step_that_mixes_columns_is_named_and_the_model_is_asked(before, why):
    X, y = wide()
    model = make_pipeline(before, DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, y)
    with pytest.warns(
        faithkit.FaithkitWarning, match=rf"cannot read .*\({why}\), so Permutation SHAP steps in"
    ):
        found = explained(model, X, X[:1], background="sample:2")
    assert found.shared["algorithm"] == "permutation"
    with pytest.raises(faithkit.InputError, match=rf"cannot read Pipeline as trees \({why}\)"):
        explained(model, X, X[:1], algorithm="tree")


def test_a_model_around_trees_is_asked():
    X, y = numbers()
    model = CalibratedClassifierCV(DecisionTreeClassifier(max_depth=2), cv=2).fit(X, y)
    assert explained(model, X, X[:1], background="sample:3").shared["algorithm"] == "kernel"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (GradientBoostingClassifier(init=LogisticRegression()), "starts from LogisticRegression"),
    ],
)
def test_a_model_whose_trees_do_not_say_all_is_not_read(model, why):
    X, y = numbers()
    with pytest.raises(UnreadableError, match=why):
        read_ensemble(model.fit(X, y))


@pytest.mark.parametrize(
    ("where", "limit", "value"), [(parts, "MOST_PLAYERS", 2), (leaves, "TABLE_CELLS", 100)]
)
def test_trees_that_are_too_large_are_left_to_shap(monkeypatch, where, limit, value):
    X, y = numbers()
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setattr(where, limit, value)
    found = explained(model, X, X[:3], background=None)
    assert found.shared["algorithm"] == "tree"
    few = explained(model, X, X[:3], background="sample:100")
    assert found.values.tolist() == few.values.tolist()


def test_a_column_that_is_taken_for_another_is_noticed(monkeypatch):
    """Values add up all the same, so mixtures of rows have to tell."""
    X, y = numbers()
    model = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=5)).fit(X, y)
    found = owners.follow

    def turned(*given):
        return found(*given)[::-1]

    monkeypatch.setattr("faithkit_feature_importance.shap_values.cells.follow", turned)
    with pytest.raises(faithkit.InputError, match=r"misses the model's own output by .* on mixtures"):
        explained(model, X, X[:2], algorithm="tree")
