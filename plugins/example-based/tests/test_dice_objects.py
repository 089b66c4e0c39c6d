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

pytestmark = pytest.mark.filterwarnings(
    "ignore::faithkit.errors.FaithkitWarning"
)  # of rows that repeat others

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


@cache
def library_result():
    return build_examples()


def build_examples(rows=X, others=None, gone=GONE, sparse=None, **columns):
    """Write counterfactuals as dice-ml does: beside a worse one, with the outcome as the last column."""
    outcome = serialize.DummyDataInterface("label")
    others = own_counterfactuals().values if others is None else others
    examples = []
    for row in range(len(rows)):
        instance = rows.iloc[[row]].assign(label=0, **columns)
        both = pd.concat([others.iloc[[row]], rows.iloc[[row]]], ignore_index=True).assign(label=1, **columns)
        counterfactuals = None if gone[row] else both
        examples.append(
            diverse_counterfactuals.CounterfactualExamples(outcome, counterfactuals, instance, sparse)
        )
    return examples


def own_explanations():
    missing = own_counterfactuals().missing | GONE
    return faithkit.Explanations(
        kind="example", values=own_counterfactuals().values, instances=X, missing=missing, relation="in-ball"
    )


@pytest.mark.parametrize("discretizer", ["original", "is-feature-modified"])
def test_the_numbers_are_those_of_the_plugins_own_explainer_to_the_bit(discretizer):
    counterfactuals = counterfactual_explanations.CounterfactualExplanations(library_result())
    expected, result = (
        faithkit.score(LABELS, explanations, X, discretizer=discretizer)
        for explanations in (own_explanations(), counterfactuals)
    )
    assert (result.consistency, result.sufficiency) == (expected.consistency, expected.sufficiency)
    assert result.sufficiency.value > 0


@one_test
@pytest.mark.parametrize(
    "counterfactuals",
    lambda: [
        counterfactual_explanations.CounterfactualExplanations(library_result()),
        library_result(),
        [counterfactual_explanations.CounterfactualExplanations([example]) for example in library_result()],
        [None if gone else example for example, gone in zip(library_result(), GONE, strict=True)],
    ],
    ids=["one object", "its parts", "a list of objects", "none where there is none"],
)
def test_the_counterfactuals_are_those_of_the_plugins_own_explainer(counterfactuals):
    explanations = faithkit.plugin.adapt(counterfactuals, X=X)
    assert explanations.missing.tolist() == own_explanations().missing.tolist()
    values, expected = (
        frame[~GONE].reset_index(drop=True) for frame in (explanations.values, own_explanations().values)
    )
    pd.testing.assert_frame_equal(values, expected)


def test_a_row_without_a_counterfactual_is_missing_and_says_so():
    explanations = faithkit.plugin.adapt(library_result(), X=X)
    assert explanations.missing.tolist() == GONE.tolist()
    assert set(explanations.remarked[GONE]) == {"no counterfactual found"}
    assert explanations.relation == "in-ball"
    assert explanations.values.dtypes.to_dict() == X.dtypes.to_dict()


def test_numbers_that_dice_took_for_categories_are_numbers_again():
    texts = {name: X[name].astype(str) for name in ("month", "member")}
    others = own_counterfactuals().values.assign(
        **{name: own_counterfactuals().values[name].astype(str) for name in texts}
    )
    explanations = faithkit.plugin.adapt(build_examples(X.assign(**texts), others, GONE), X=X)
    pd.testing.assert_frame_equal(
        explanations.values[~GONE], own_counterfactuals().values[~GONE], check_index_type=False
    )


def test_columns_stand_in_the_order_of_X():
    turned = X[X.columns[::-1]]
    assert list(faithkit.plugin.adapt(library_result(), X=turned).values.columns) == list(turned.columns)


def test_an_array_has_columns_by_their_place():
    numbers = X[["age", "hours"]].astype(float)
    counterfactuals = build_examples(numbers, numbers + 1.0)
    explanations = faithkit.plugin.adapt(counterfactuals, X=numbers.to_numpy())
    np.testing.assert_array_equal(explanations.values[1], numbers.iloc[1] + 1.0)


def test_without_X_the_explained_rows_are_those_of_the_object():
    explanations = faithkit.plugin.adapt(library_result())
    pd.testing.assert_frame_equal(pd.DataFrame(explanations.instances), X, check_index_type=False)


def test_what_dice_made_sparser_is_taken():
    sparse = X.iloc[[0]].assign(age=99, label=1)
    examples = build_examples(X[:2], own_counterfactuals().values[:2], [False, False], sparse)
    assert faithkit.plugin.adapt(examples).values["age"].tolist() == [99, 99]


@pytest.mark.slow
def test_a_real_search_is_taken_and_its_counterfactuals_are_other_labels():
    rows = X[["age", "hours", "job"]]
    data = dice_ml.Data(
        dataframe=rows.assign(label=LABELS), continuous_features=["age", "hours"], outcome_name="label"
    )

    class Model:
        def predict(self, frame):
            return predict(frame.astype({"age": float, "hours": float}))

        def predict_proba(self, frame):
            return np.eye(2)[self.predict(frame)]

    search = dice_ml.Dice(data, dice_ml.Model(Model(), backend="sklearn"), method="random")
    answer = search.generate_counterfactuals(rows[:8], total_CFs=2, random_seed=0, verbose=False)
    explanations = faithkit.plugin.adapt(answer, X=rows[:8])
    assert (predict(explanations.values[~explanations.missing]) != LABELS[:8][~explanations.missing]).all()
    jobs = [examples.final_cfs_df_sparse["job"].iloc[0] for examples in answer.cf_examples_list]
    assert explanations.values["job"].tolist() == jobs
    from_json = counterfactual_explanations.CounterfactualExplanations.from_json(answer.to_json())
    pd.testing.assert_frame_equal(faithkit.plugin.adapt(from_json, X=rows[:8]).values, explanations.values)


@one_test
@pytest.mark.parametrize(
    ("counterfactuals", "params", "message"),
    lambda: [
        (
            library_result(),
            {"X": X.drop(columns="age")},
            "counterfactuals have the columns age, .*, and X has hours",
        ),
        (
            library_result(),
            {"X": X.rename(columns={"age": "years"})},
            "and X has years, .*: give X with the columns",
        ),
        (library_result(), {"X": X[:7]}, "24 explanations for 7 rows of X"),
        (
            counterfactual_explanations.CounterfactualExplanations(library_result()),
            {"X": X[:7]},
            "made 24 explanations for 7 rows",
        ),
        (counterfactual_explanations.CounterfactualExplanations([]), {}, "the result is of no rows"),
        ([*library_result()[:2], {"age": 3}], {}, "row 2 of the list is a dict among dice_ml"),
        (
            library_result()[:1] + build_examples(X[:1], extra=1),
            {},
            "row 1 has the columns .*extra, and row 0 has",
        ),
    ],
    ids=itemgetter(-1),
)
def test_what_cannot_be_understood_is_refused_in_one_line(counterfactuals, params, message):
    with pytest.raises(faithkit.errors.FaithkitError, match=message) as error:
        faithkit.plugin.adapt(counterfactuals, **params)
    assert "\n" not in str(error.value)
