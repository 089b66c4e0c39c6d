"""Faithfulness inside subgroups: both instances come from the group, and each group is compared with the rest."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import page_of

import faithkit
from faithkit.run.evaluation_report import EvaluationReport

RNG = np.random.default_rng(1)
N = 240
X = pd.DataFrame(
    {
        "sex": RNG.choice(["f", "m"], N),
        "age": RNG.integers(20, 60, N),
        "job": np.where(RNG.random(N) < 0.1, None, RNG.choice(["cook", "smith"], N)),
    }
)
# explained well for women; for men the explanation is drawn at random
PREDICTIONS = RNG.choice(["no", "yes"], N)
EXPLANATIONS = np.where(X["sex"] == "f", PREDICTIONS, RNG.choice(["no", "yes"], N)).tolist()


@pytest.fixture(scope="module")
def result():
    return faithkit.score(PREDICTIONS, EXPLANATIONS, X=X)


def test_each_group_is_measured_by_its_own_rows_alone(result):
    for sex, part in result.by("sex").items():
        rows = np.flatnonzero(X["sex"] == sex)
        alone = faithkit.score(PREDICTIONS[rows], [EXPLANATIONS[i] for i in rows])
        assert part.consistency == alone.consistency
        assert part.n == len(rows)


def test_a_group_is_compared_with_everybody_else(result):
    parts = result.by("sex")
    women = parts.difference("f")
    assert women.low > 0.3
    assert women.value == pytest.approx(parts["f"].consistency.value - parts["m"].consistency.value)
    frame = parts.to_frame()
    assert frame.index.name == "sex"
    assert frame.loc["f", "difference"] == women.value
    # two groups are one question asked twice: Holm doubles the smaller p-value, and the larger follows it
    assert frame["p_value"].tolist() == [min(1.0, 2 * women.p_value)] * 2


def test_missing_values_are_a_group_of_their_own_and_come_last(result):
    assert list(result.by("job")) == ["cook", "smith", "missing"]
    assert result.by("job")["missing"].n == X["job"].isna().sum()


def test_a_text_that_says_missing_is_not_what_is_missing():
    parts = faithkit.score(["a"] * 4, ["x"] * 4).by(["missing", None, "f", None])
    assert {group: part.n for group, part in parts.items()} == {"f": 1, "missing": 1, "(missing)": 2}


def test_groups_may_be_given_as_values_and_numbers_are_sorted(result):
    decade = X["age"] // 10 * 10
    assert list(result.by(decade)) == [20, 30, 40, 50]
    assert result.by(decade).name == "age"
    assert result.by(decade.tolist()).name == "group"


def test_groups_may_be_a_tensor(result):
    class Tensor:
        __array__ = staticmethod(lambda dtype=None, copy=None: np.arange(result.n) % 2)

    assert list(result.by(Tensor())) == [0, 1]


def test_columns_whose_names_are_numbers_can_be_grouped_by():
    numbered = X.set_axis([0, 1, 2], axis="columns")
    parts = faithkit.score(PREDICTIONS, EXPLANATIONS, X=numbered).by(0)
    assert parts.name == "0"
    assert {group: part.n for group, part in parts.items()} == X["sex"].value_counts().to_dict()


def test_a_series_and_the_column_it_is_make_the_same_groups(result):
    by_name, by_values = result.by("job"), result.by(X["job"])
    assert by_name.to_dict() == by_values.to_dict()


def test_a_group_that_is_everybody_has_nothing_to_be_compared_with(result):
    parts = result.by(["all"] * N)
    assert parts.difference("all") is None
    assert parts["all"].consistency == result.consistency
    assert "–" in str(parts)


def test_groups_made_of_the_prediction_are_warned_of(result):
    with pytest.warns(faithkit.errors.FaithkitWarning, match="follow from the prediction"):
        result.by(PREDICTIONS)


@one_test
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ("colour", "no column 'colour' to group by in X. Available: sex, age, job"),
        ("jbo", "Did you mean 'job'?"),
        (2, "no column 2 to group by"),
        ((sex for sex in X["sex"]), "the groups are a generator: give a list of one value per row"),
        (["a"], "1 groups for 240 rows"),
        (list(range(N)), "240 values; expected at most 50 groups"),
    ],
)
def test_groups_that_make_no_sense_are_refused(result, groups, message):
    with pytest.raises(faithkit.errors.InputError, match=message):
        result.by(groups)


def test_the_table_fits_eighty_columns_and_marks_what_differs(result):
    text = str(result.by("sex"))
    assert max(map(len, text.splitlines())) <= 80
    minus = text[text.index("minus the rest") :].splitlines()
    assert all(line.rstrip().endswith("*") for line in minus if line.startswith(("f ", "m ")))


def test_a_group_in_which_nothing_could_be_compared_has_dashes():
    labels, words = ["yes"] * 10 + ["no"] * 10 + ["yes", "no"], ["early"] * 10 + ["late"] * 10 + ["a", "b"]
    text = str(faithkit.score(labels, words).by(["large"] * 20 + ["tiny"] * 2))
    assert [line.split()[1:] for line in text.splitlines() if line.startswith("tiny")] == [
        ["2", "–", "–", "0.000", "0", "%", "–"],  # yes and no never agree
        ["–", "–", "–"],
    ]


def test_json_has_every_group_and_no_nan(result):
    payload = result.by("job").to_dict()
    assert payload["by"] == "job"
    assert set(payload["groups"]["consistency"]) == {"cook", "smith", "missing"}
    alone = faithkit.score(["a", "b"], ["x", "x"]).by(["g", "h"]).to_dict()["groups"]["consistency"]["g"]
    assert (alone["value"], alone["agree"], alone.get("difference")) == (None, None, None)
    assert (alone["verified"], alone["checked"]) == (0, 0)
    assert (alone["low"], alone["high"]) == (0, 1)


# groups, clusters: the groups that are one independent instance, and those with a difference
ONE = {
    "one row": ("ffgggm", None, "m", "fg"),
    "two groups of one row": ("ffffgm", None, "gm", "f"),
    "one row is the rest": ("fffffm", None, "m", ""),
    "one cluster": ("ffggmm", [0, 1, 2, 3, 4, 4], "m", "fg"),
    "one of two clusters": ("ffggmm", [0, 1, 2, 3, 4, 5], "", "fgm"),
}


@one_test
@pytest.mark.parametrize("case", ONE)
def test_one_instance_has_nothing_to_be_checked_against_and_so_no_difference(case):
    groups, clusters, alone, compared = ONE[case]
    parts = faithkit.score([0, 0, 1, 0, 1, 1], ["a"] * 6, clusters=clusters).by(list(groups))
    assert [group for group in parts if parts.difference(group) is not None] == list(compared)
    payload = parts.to_dict()["groups"]["consistency"]
    assert [group for group in payload if payload[group].get("difference") is not None] == list(compared)
    text = " ".join(str(parts).split())
    sentence = "One instance alone has nothing to be checked against, nor to be compared: "
    assert (sentence in text) == bool(alone)
    assert " and ".join(alone) + "." in text


def test_the_page_says_that_one_instance_alone_is_not_compared():
    report = EvaluationReport.of(faithkit.score([0, 0, 1, 0], ["a"] * 4), by=["f", "f", "f", "m"])
    sentence = "<p>One instance alone has nothing to be checked against, nor to be compared: m.</p>"
    assert sentence in page_of(report)


def test_a_table_of_results_has_the_difference_of_each_group_to_the_rest():
    labels, group = [1, 0, 1, 1] * 15 + [0], ["f", "m"] * 30 + ["alone"]
    report = EvaluationReport.of(faithkit.score(labels, ["a", "b", "a", "b"] * 15 + ["a"]), by=group)
    table = report.to_frame().set_index("rows")
    assert [row for row in table.index if "minus" in row] == [
        "group = f minus the rest",
        "group = m minus the rest",
    ]
    expected = report.subgroups.to_frame().loc["f", ["difference", "from", "to", "p_value"]]
    assert (
        table.loc["group = f minus the rest", ["value", "low", "high", "p_value"]].tolist()
        == expected.tolist()
    )
