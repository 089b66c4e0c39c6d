"""What dice-ml returns gives the numbers of the same counterfactuals by the plugin's own explainer."""

from functools import cache
from operator import itemgetter

import numpy as np
import pandas as pd
import pytest
from faithkit_example_based.dice_search.explainer import Dice
from lazy_modules import import_when_used
from looping import one_test

import faithkit

dice_ml = import_when_used("dice_ml")
counterfactual_explanations = import_when_used("dice_ml.counterfactual_explanations")
diverse_counterfactuals = import_when_used("dice_ml.diverse_counterfactuals")
serialize = import_when_used("dice_ml.utils.serialize")

pytestmark = pytest.mark.filterwarnings("ignore::faithkit.FaithkitWarning")  # of rows that repeat others

RNG = np.random.default_rng(0)
N = 24
X = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, N),
        "hours": np.round(RNG.normal(40, 10, N), 1),
        "job": RNG.choice(["cook", "clerk"], N),
        "month": RNG.integers(1, 4, N),
        "member": RNG.choice([False, True], N),
    }
)


def predict(rows):
    return ((rows["age"] > 45) | (rows["job"] == "cook") & (rows["hours"] > 42)).astype(int).to_numpy()


LABELS = predict(X)
GONE = np.arange(N) % 7 == 0  # say that dice-ml found nothing for these


@cache
def own_counterfactuals():
    explainer = Dice(sparsity=None).fit(faithkit.Predictor(predict), X)
    return explainer.explain(X, np.arange(N, dtype=np.uint32))


def results(rows=X, others=None, gone=GONE, sparse=None, **columns):
    """Write counterfactuals as dice-ml does: beside a worse one, with the outcome as the last column."""
    outcome = serialize.DummyDataInterface("label")
    others = own_counterfactuals().values if others is None else others
    examples = []
    for row in range(len(rows)):
        mine = rows.iloc[[row]].assign(label=0, **columns)
        other = pd.concat([others.iloc[[row]], rows.iloc[[row]]], ignore_index=True).assign(
            label=1, **columns
        )
        best = None if gone[row] else other
        examples.append(diverse_counterfactuals.CounterfactualExamples(outcome, best, mine, sparse))
    return examples


def expected():
    missing = own_counterfactuals().missing | GONE
    return faithkit.Explanations(
        kind="example", values=own_counterfactuals().values, instances=X, missing=missing, relation="in-ball"
    )


@one_test
@pytest.mark.parametrize(
    "counterfactuals",
    lambda: [
        counterfactual_explanations.CounterfactualExplanations(results()),
        results(),
        [counterfactual_explanations.CounterfactualExplanations([example]) for example in results()],
        [None if gone else example for example, gone in zip(results(), GONE, strict=True)],
    ],
    ids=["one object", "its parts", "a list of objects", "none where there is none"],
)
def test_the_numbers_are_those_of_the_plugins_own_explainer_to_the_bit(counterfactuals):
    discretizers = ["original"]
    if isinstance(counterfactuals, counterfactual_explanations.CounterfactualExplanations):
        discretizers += ["delta", "is-feature-modified"]
    for discretizer in discretizers:
        own = faithkit.score(LABELS, expected(), X, discretizer=discretizer)
        result = faithkit.score(LABELS, counterfactuals, X, discretizer=discretizer)
        assert (result.consistency, result.sufficiency) == (own.consistency, own.sufficiency)
        assert result.sufficiency.value > 0


def test_a_row_without_a_counterfactual_is_missing_and_says_so():
    explanations = faithkit.adapt(results(), X=X)
    assert explanations.missing.tolist() == GONE.tolist()
    assert set(explanations.remarked[GONE]) == {"no counterfactual found"}
    assert explanations.relation == "in-ball"
    assert explanations.values.dtypes.to_dict() == X.dtypes.to_dict()


def test_numbers_that_dice_took_for_categories_are_numbers_again():
    texts = {name: X[name].astype(str) for name in ("month", "member")}
    others = own_counterfactuals().values.assign(
        **{name: own_counterfactuals().values[name].astype(str) for name in texts}
    )
    explanations = faithkit.adapt(results(X.assign(**texts), others, GONE), X=X)
    pd.testing.assert_frame_equal(
        explanations.values[~GONE], own_counterfactuals().values[~GONE], check_index_type=False
    )


def test_columns_stand_in_the_order_of_X():
    turned = X[X.columns[::-1]]
    assert list(faithkit.adapt(results(), X=turned).values.columns) == list(turned.columns)


def test_an_array_has_columns_by_their_place():
    numbers = X[["age", "hours"]].astype(float)
    given = results(numbers, numbers + 1.0)
    np.testing.assert_array_equal(
        faithkit.adapt(given, X=numbers.to_numpy()).values[1], numbers.iloc[1] + 1.0
    )


def test_without_X_the_explained_rows_are_those_of_the_object():
    result = faithkit.score(LABELS, results(), discretizer="delta")
    assert result.consistency == faithkit.score(LABELS, expected(), X, discretizer="delta").consistency


def test_what_dice_made_sparser_is_taken():
    sparse = X.iloc[[0]].assign(age=99, label=1)
    assert faithkit.adapt(results(X[:2], own_counterfactuals().values[:2], [False, False], sparse)).values[
        "age"
    ].tolist() == [
        99,
        99,
    ]


@pytest.mark.slow
def test_a_real_search_is_taken_and_its_counterfactuals_are_other_labels():
    rows = X[["age", "hours", "job"]]
    data = dice_ml.Data(
        dataframe=rows.assign(label=LABELS), continuous_features=["age", "hours"], outcome_name="label"
    )

    class Model:
        def predict(self, given):
            return predict(given.astype({"age": float, "hours": float}))

        def predict_proba(self, given):
            return np.eye(2)[self.predict(given)]

    search = dice_ml.Dice(data, dice_ml.Model(Model(), backend="sklearn"), method="random")
    given = search.generate_counterfactuals(rows[:8], total_CFs=2, random_seed=0, verbose=False)
    explanations = faithkit.adapt(given, X=rows[:8])
    assert (predict(explanations.values[~explanations.missing]) != LABELS[:8][~explanations.missing]).all()
    first = [one.final_cfs_df_sparse.iloc[0] for one in given.cf_examples_list]
    assert explanations.values["job"].tolist() == [one["job"] for one in first]
    again = counterfactual_explanations.CounterfactualExplanations.from_json(given.to_json())
    pd.testing.assert_frame_equal(faithkit.adapt(again, X=rows[:8]).values, explanations.values)


@one_test
@pytest.mark.parametrize(
    ("given", "params", "message"),
    lambda: [
        (
            results(),
            {"X": X.drop(columns="age")},
            "counterfactuals have the columns age, .*, and X has hours",
        ),
        (
            results(),
            {"X": X.rename(columns={"age": "years"})},
            "and X has years, .*: give X with the columns",
        ),
        (results(), {"X": X[:7]}, "24 explanations for 7 rows of X"),
        (
            counterfactual_explanations.CounterfactualExplanations(results()),
            {"X": X[:7]},
            "made 24 explanations for 7 rows",
        ),
        (counterfactual_explanations.CounterfactualExplanations([]), {}, "the result is of no rows"),
        ([*results()[:2], {"age": 3}], {}, "row 2 of the list is a dict among dice_ml"),
        (results()[:1] + results(extra=1)[:1], {}, "row 1 has the columns .*extra, and row 0 has"),
    ],
    ids=itemgetter(-1),
)
def test_what_cannot_be_understood_is_refused_in_one_line(given, params, message):
    with pytest.raises(faithkit.FaithkitError, match=message) as error:
        faithkit.adapt(given, **params)
    assert "\n" not in str(error.value)
