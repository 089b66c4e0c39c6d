"""SHAP values of trees by raw column: which prepared column comes from which, and where that cannot be told."""

import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf import column_origins
from faithkit_feature_importance.shap_values.leaf_by_leaf.tree_inputs import TreeInputs
from leaf_by_leaf import by_definition, check_by_definition, explained, per_class
from looping import one_test
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline, make_union
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
from faithkit.inputs.models.default_models import default_model


def make_people(n=80, seed=0, classes=2):
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
    return table, pd.qcut(score, classes, labels=False)


class Halved(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A stranger's step, which says by its names what it makes of what."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.asarray(X, dtype=float) / 2


class Doubled(BaseEstimator):
    """A stranger's step that makes two columns of each."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.hstack([np.asarray(X, dtype=float), -np.asarray(X, dtype=float)])

    def get_feature_names_out(self, input_features=None):
        return [f"{sign}{name}" for sign in ("", "minus ") for name in input_features]


def add_exclamation(X):
    return np.asarray(X, dtype=object) + "!"


def make_forest():
    return RandomForestClassifier(3, max_depth=4, random_state=0)


NUMBERS, WORDS = ["age", "pay"], ["job", "town"]
ONE_HOT = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
FILL = SimpleImputer(strategy="constant", fill_value="none")
WHOLE = make_column_transformer(
    (make_pipeline(FILL, ONE_HOT), WORDS),
    (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), NUMBERS),
    remainder="passthrough",
)
PREPARED = {
    "one-hot, scaled, the rest as it is": WHOLE,
    "short names": make_column_transformer(
        (ONE_HOT, WORDS),
        (SimpleImputer(add_indicator=True), NUMBERS),
        remainder="passthrough",
        verbose_feature_names_out=False,
    ),
    "the rest scaled": make_column_transformer((ONE_HOT, WORDS), remainder=StandardScaler()),
    "DataFrames": make_column_transformer(
        (ONE_HOT, WORDS), (SimpleImputer(add_indicator=True), NUMBERS), remainder="passthrough"
    ).set_output(transform="pandas"),
    "DataFrames, step by step": make_pipeline(
        make_column_transformer((ONE_HOT, WORDS), (SimpleImputer(), NUMBERS)), VarianceThreshold()
    ).set_output(transform="pandas"),
    "sparse": make_column_transformer((OneHotEncoder(), [*WORDS, "hair"]), sparse_threshold=1.0),
    "sparse and dense": make_column_transformer(
        (OneHotEncoder(), WORDS), (SimpleImputer(add_indicator=True), NUMBERS), sparse_threshold=1.0
    ),
    "dropped": make_column_transformer((ONE_HOT, ["town"]), ("drop", ["pay"]), remainder="drop"),
    "positions": make_column_transformer((ONE_HOT, [3, 1]), (SimpleImputer(), [-3, 0])),
    "a slice of positions": make_column_transformer((ONE_HOT, slice(3, 4)), ("passthrough", slice(4, None))),
    "slices of names": make_column_transformer(
        (ONE_HOT, slice("town", "town")),
        (SimpleImputer(strategy="most_frequent"), slice("pay", "pay")),
        (OrdinalEncoder(), slice("town", None)),
        ("passthrough", slice(None, "age")),
    ),
    "a mask": make_column_transformer((ONE_HOT, [False, True, False, True, False]), remainder="passthrough"),
    "a selector": make_column_transformer(
        (ONE_HOT, make_column_selector(dtype_include="str")), remainder=SimpleImputer()
    ),
    "one name": make_column_transformer((Halved(), ["pay"]), (ONE_HOT, ["town"])),
    "ordinal, one-hot bins": make_column_transformer(
        (OrdinalEncoder(encoded_missing_value=-1), WORDS),
        (make_pipeline(SimpleImputer(), KBinsDiscretizer(4, quantile_method="linear")), NUMBERS),
    ),
    "ordinal bins": make_column_transformer(
        (ONE_HOT, WORDS),
        (
            make_pipeline(SimpleImputer(), KBinsDiscretizer(4, encode="ordinal", quantile_method="linear")),
            ["pay", "hair", "age"],
        ),
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
    "nested": make_pipeline(
        "passthrough",
        make_column_transformer(
            (Pipeline([("inner", make_pipeline(FILL, "passthrough", ONE_HOT)), ("same", None)]), WORDS),
            (
                make_column_transformer((SimpleImputer(), [1]), remainder=SimpleImputer(strategy="median")),
                NUMBERS,
            ),
        ),
        make_union(StandardScaler(), "passthrough", KBinsDiscretizer(2, quantile_method="linear")),
    ),
    "one column, mixed": make_column_transformer(
        (make_pipeline(FILL, ONE_HOT, PCA(2, random_state=0)), ["job"]),
        (make_union(StandardScaler(), PolynomialFeatures(2)), ["pay"]),
        (FunctionTransformer(np.exp), ["pay", "hair"]),
        verbose_feature_names_out=False,
    ),
    "functions": make_column_transformer(
        (
            make_pipeline(
                FILL, FunctionTransformer(add_exclamation, feature_names_out="one-to-one"), ONE_HOT
            ),
            WORDS,
        ),
        (FunctionTransformer(np.square), ["pay", "hair"]),
        (FunctionTransformer(), NUMBERS),
    ),
    "strangers": make_column_transformer(
        (ONE_HOT, WORDS), (Halved(), ["pay", "age"]), (Doubled(), ["hair", "pay"])
    ),
}


def check_preparation(name):
    table, y = make_people()
    expected = check_by_definition(make_pipeline(PREPARED[name], make_forest()).fit(table, y), table)
    assert np.abs(expected).max() > 1e-3


def test_raw_columns_are_explained_through_column_wise_preparation():
    check_preparation("functions")


@pytest.mark.slow
@one_test
@pytest.mark.parametrize("name", sorted(PREPARED))
def test_raw_columns_are_explained_through_every_preparation(name):
    check_preparation(name)


@one_test
@pytest.mark.parametrize(
    ("name", "classes"),
    [
        *(("slices of names", 2), ("DataFrames", 2), ("nested", 2), ("one column, mixed", 2)),
        *(("strangers", 2), ("target, splines", 3)),
    ],
)
def test_a_prepared_column_comes_from_the_raw_column_that_changes_it(name, classes):
    """Of three classes TargetEncoder makes three columns of each."""
    table, y = make_people(40, classes=classes)
    prepare = PREPARED[name].fit(table, y)
    turned = [table.assign(**{column: table[column][::-1].set_axis(table.index)}) for column in table]
    prepared = csr_array(prepare.transform(pd.concat([table, *turned], ignore_index=True)), dtype=float)
    usual, *others = np.split(prepared.toarray(), 6)
    changes = np.array([~np.isclose(usual, other, equal_nan=True).all(axis=0) for other in others])
    assert (changes.sum(axis=0) <= 1).all()
    varies = changes.any(axis=0)
    assert varies.sum() > 2
    origins = np.array(column_origins.trace_columns([prepare], list(range(5)), prepared.shape[1]))
    assert origins[varies].tolist() == changes.argmax(axis=0)[varies].tolist()


def test_three_classes_are_explained_through_a_sparse_matrix():
    table, y = make_people(classes=3)
    model = GradientBoostingClassifier(n_estimators=2, max_depth=2)
    check_by_definition(make_pipeline(PREPARED["sparse"], model).fit(table, y), table)


def test_a_column_that_is_dropped_gets_exactly_nothing():
    table, y = make_people()
    model = make_pipeline(PREPARED["dropped"], DecisionTreeClassifier(random_state=0)).fit(table, y)
    values = explained(model, table, table).values
    assert (values[:, [0, 1, 2, 4]] == 0).all()
    assert (values[:, 3] != 0).any()


def test_an_unknown_category_goes_where_the_transformer_sends_it():
    table, y = make_people()
    model = make_pipeline(WHOLE, make_forest()).fit(table, y)
    rows = table.iloc[:3].assign(job="diver", town=["rome", "york", None])
    explanations = explained(model, table.iloc[10:15], rows, target="all")
    assert explanations.shared["algorithm"] == "leaves"
    expected = by_definition(model, table, table.iloc[10:15], rows)
    assert per_class(explanations) == pytest.approx(expected, abs=1e-9)


def test_columns_are_followed_by_name_where_the_background_has_another_order():
    table, y = make_people()
    model = make_pipeline(PREPARED["slices of names"], make_forest()).fit(table, y)
    turned = table[["hair", "town", "job", "pay", "age"]]
    explanations = explained(model, turned[:8], turned[:2], algorithm="tree", target="all")
    assert explanations.shared["names"][:5] == ["0: hair", "0: town", "0: job", "0: pay", "0: age"]
    expected = by_definition(model, turned, turned[:8], turned[:2])
    assert per_class(explanations) == pytest.approx(expected, abs=1e-9)


def test_columns_are_read_by_name_or_else_by_place():
    step = StandardScaler().fit(pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]}))
    assert column_origins.input_columns(step, ["b", "z", "a"]) == [2, 0]
    assert column_origins.input_columns(step, ["b", "y", "z"]) == [-1, 0]
    assert column_origins.input_columns(step, ["y", "z"]) == [0, 1]


@pytest.mark.usefixtures("few_trees")
def test_default_models_on_tables_with_words_and_gaps_are_read():
    table, y = make_people()
    check_by_definition(default_model("gradient-boosting", table).fit(table, y), table)


def test_an_encoder_before_trees_is_seen_through():
    table, y = make_people()
    encode = FunctionTransformer(faithkit.plugin.Encoder(table).encode, feature_names_out="one-to-one")
    check_by_definition(
        make_pipeline(encode, HistGradientBoostingClassifier(max_iter=2)).fit(table, y), table
    )


def test_the_papers_own_step_is_seen_through():
    boosters = pytest.importorskip("faithkit_paper.boosters")
    table, y = make_people()
    check_by_definition(
        make_pipeline(boosters.Codes(), GradientBoostingClassifier(n_estimators=3)).fit(table, y), table
    )


def test_the_best_model_of_a_search_is_read():
    table, y = make_people()
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(model, {"decisiontreeclassifier__max_depth": [2, 3]}, cv=2).fit(table[["pay"]], y)
    assert explained(search, table[["pay"]], table[["pay"]][:2]).shared["algorithm"] == "leaves"


# Where it steps aside


class Nameless(Doubled):
    get_feature_names_out = None


class Numbered(Doubled):
    def get_feature_names_out(self, input_features=None):
        return [f"x{i}" for i in range(2 * len(input_features))]


class Short(Doubled):
    def get_feature_names_out(self, input_features=None):
        return input_features


class OwnImputer(KNNImputer):
    """Which says no more of itself than what it is made from."""


@one_test
@pytest.mark.parametrize(
    ("before", "why"),
    [
        (PCA(6, random_state=0), "PCA computes columns from several columns"),
        (Normalizer(), "Normalizer computes columns from several columns"),
        (KNNImputer(), "KNNImputer computes columns from several columns"),
        (OwnImputer(), "KNNImputer computes columns from several columns"),
        (PolynomialFeatures(1), "PolynomialFeatures computes columns from several columns"),
        (
            FunctionTransformer(np.fliplr),
            "FunctionTransformer computes columns from several columns, or does not say fe.*",
        ),
        (Nameless(), "Nameless.get_feature_names_out failed with TypeError.*"),
        (Numbered(), "Numbered does not say from which column 'x0' comes"),
        (Short(), "Short does not say from which column each of its 28 columns comes"),
        (make_pipeline(StandardScaler(), make_union(PCA(3))), "PCA computes columns from several columns"),
        (
            make_column_transformer((PCA(2), [1, 2]), remainder="passthrough"),
            "PCA computes columns from several columns",
        ),
        (
            ColumnTransformer([("two", Short(), [1, 2])]),
            "two does not say from which column each of its 4 c.*",
        ),
    ],
    ids=lambda case: f"{type(case[0]).__name__}: {case[1]}",
)
def test_a_step_that_mixes_columns_is_named(before, why):
    with pytest.raises(UnreadableError, match=f"^{why}$"):
        TreeInputs.read(fit_after(before), [f"x{j}" for j in range(14)])


MANY_COLUMNS = np.random.default_rng(0).normal(size=(60, 14))


def fit_after(before):
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    return make_pipeline(before, tree).fit(MANY_COLUMNS, MANY_COLUMNS.sum(axis=1) > 0)


def test_where_a_step_mixes_columns_the_model_is_asked():
    model, rows = fit_after(PCA(6, random_state=0)), MANY_COLUMNS[:1]
    why = r"\(PCA computes columns from several columns\)"
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=f"cannot read .*{why}, so Permutation SHAP steps in"
    ):
        explanations = explained(model, MANY_COLUMNS, rows, background="sample:2")
    assert explanations.shared["algorithm"] == "permutation"
    with pytest.raises(faithkit.errors.InputError, match=f"cannot read Pipeline as trees {why}"):
        explained(model, MANY_COLUMNS, rows, algorithm="tree")


# What would be followed wrongly


class Turned(Halved):
    """Which keeps the names in their order, not the columns."""

    def transform(self, X):
        return X[:, ::-1]


class Centred(Halved):
    """Which takes the mean of a row from each of its cells."""

    def transform(self, X):
        return X - X.mean(axis=1, keepdims=True)


@one_test
@pytest.mark.parametrize(
    "before",
    [
        FunctionTransformer(np.fliplr, feature_names_out="one-to-one"),
        FunctionTransformer(Centred().transform, feature_names_out="one-to-one"),
        Turned(),
        Centred(),
    ],
    ids=["function turned", "function centred", "turned", "centred"],
)
def test_a_step_that_says_other_than_it_does_is_noticed(before):
    """Values add up all the same, so mixtures of rows have to tell."""
    X = np.random.default_rng(0).normal(size=(100, 4)).round(1)
    model = make_pipeline(before, GradientBoostingClassifier(n_estimators=2)).fit(X, X[:, 0] > X[:, 1])
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match="misses the model's own output by .* on mixtures .* Kernel"
    ):
        assert explained(model, X[:9], X[:1]).shared["algorithm"] == "kernel"


def test_a_column_that_is_taken_for_another_is_noticed(monkeypatch):
    X = np.random.default_rng(0).normal(size=(100, 5)).round(1)
    model = make_pipeline(StandardScaler(), GradientBoostingClassifier(n_estimators=5)).fit(
        X, X[:, 0] > X[:, 1]
    )
    monkeypatch.setattr(
        "faithkit_feature_importance.shap_values.leaf_by_leaf.tree_inputs.trace_columns",
        lambda *arguments: column_origins.trace_columns(*arguments)[::-1],
    )
    with pytest.raises(faithkit.errors.InputError, match=r"misses the model's own output by .* on mixtures"):
        explained(model, X, X[:2], algorithm="tree")
