"""Results of rows in blocks: what they say, what they can be asked, and which input is refused."""

import numpy as np
import pandas as pd
import pytest
from faithkit_integrations import judge
from looping import one_test

import faithkit
from faithkit.errors import InputError

QUESTION = np.repeat(["q1", "q2", "q3", "q4"], 5)
WORDS = ["a", "a", "b", "b", "b"] * 4
LABELS = [1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]
TABLE = pd.DataFrame({"x": [1.0, 2, 3, 4, 5] * 4, "question": QUESTION})


@pytest.fixture
def no_next_steps():
    """Give advice: it is tested here."""


def test_a_result_says_how_many_blocks_there_are_and_a_file_keeps_it(tmp_path):
    result = faithkit.score(LABELS, WORDS, blocks=QUESTION)
    assert (result.design.blocks, result.design.clusters, result.design.effective) == (4, None, None)
    assert result.n_explanations == 2
    assert "\nIn 4 blocks: instances are compared only within a block.\n" in str(result)
    result.write(tmp_path / "result.json")
    loaded = faithkit.load(tmp_path / "result.json")
    assert loaded.design == result.design
    assert loaded.consistency == result.consistency
    assert str(loaded) == str(result)


def test_blocks_are_named_by_a_column_that_the_model_does_not_use():
    class Model:
        feature_names_in_ = np.array(["x"])

        def predict(self, X):
            return X["x"].to_numpy() > 2

    def halves(X):
        return (X["x"] > 3).tolist()

    options = {"explainer": halves, "background": TABLE[["x"]], "progress": False}
    result = faithkit.evaluate(Model(), TABLE, blocks="question", **options)
    assert (result.design.blocks, result.setup.system.job.background.columns.tolist()) == (4, ["x"])
    # in each question 4 and 5 agree with each other, and 1, 2 and 3 are split: (1 + 1 + ½ + ½ + 0) / 5
    assert result.consistency.value == pytest.approx(0.6)
    later = result.on(TABLE, blocks="question")
    assert result.difference(later).value == 0
    with pytest.raises(InputError, match="have blocks: also give those of the other rows"):
        result.on(TABLE)
    comparison = faithkit.compare(
        Model(),
        TABLE,
        [halves, lambda X: [0] * len(X)],
        blocks="question",
        background=TABLE[["x"]],
        progress=False,
    )
    assert [system.design.blocks for system in comparison.results.values()] == [4, 4]


def test_rows_that_contradict_each_other_and_rows_that_share_are_of_one_block():
    labels = [1, 1, 0, 0, 0] * 3 + [1, 0, 1, 1, 1]
    result = faithkit.score(labels, WORDS, blocks=QUESTION)
    assert [contradiction.rows for contradiction in result.contradictions()] == [(15, 16)]
    local = result.local(17)
    assert (local.shared_by, local.consistency.value, local.consistency.holds_for) == ((18, 19), 1.0, 3)


def test_groups_are_measured_within_blocks():
    result = faithkit.score(LABELS, WORDS, blocks=QUESTION)
    groups = result.by([question in ("q1", "q2") for question in QUESTION])
    assert {group: part.design.blocks for group, part in groups.items()} == {True: 2, False: 2}
    alone = faithkit.score(LABELS[:10], WORDS[:10], blocks=QUESTION[:10])
    assert groups[True].consistency.value == alone.consistency.value


def test_a_new_row_has_no_block():
    result = faithkit.evaluate(
        lambda X: X[:, 0] > 2,
        TABLE[["x"]].to_numpy(),
        lambda X: (X > 3).tolist(),
        blocks=QUESTION,
        progress=False,
    )
    with pytest.raises(InputError, match="a new row has no block"):
        result.local(np.array([[1.0]]))


def test_errors_of_a_mean_of_scores_are_those_of_blocks_as_clusters():
    by_block = faithkit.score(LABELS, WORDS, blocks=QUESTION).mean(LABELS)
    by_cluster = faithkit.score(LABELS, WORDS, clusters=QUESTION).mean(LABELS)
    assert by_block == by_cluster


def test_a_plan_needs_rows_without_blocks():
    with pytest.raises(InputError, match="have weights, clusters or blocks"):
        faithkit.plan(0.1, pilot=faithkit.score(LABELS, WORDS, blocks=QUESTION))


@one_test
@pytest.mark.parametrize("other", [{}, {"clusters": QUESTION}, {"blocks": np.arange(20) % 4}])
def test_results_of_other_blocks_are_no_pair(other):
    result, second = faithkit.score(LABELS, WORDS, blocks=QUESTION), faithkit.score(LABELS, WORDS, **other)
    why = (
        "their weights, clusters or blocks are others"
        if "blocks" in other
        else "give both blocks, or neither"
    )
    with pytest.raises(InputError, match=why):
        result.difference(second)


# --- findings ----------------------------------------------------------------------------------------------


def test_nothing_is_tested_where_every_block_has_one_label():
    result = faithkit.score(np.repeat([0, 1, 0, 1], 5), WORDS, blocks=QUESTION)
    assert (result.consistency.finding, result.consistency.chance) == ("one label", 1)
    assert result.verdict.reason == "in every block all predictions agree with each other"
    assert "In every block all predictions are the same: nothing was tested." in result.to_text(verbose=True)
    assert result.next_steps[0].startswith("In every block all predictions are the same")
    assert "in every block all predictions are the same" in judge(result, consistency=0.1)[0].words


def test_a_label_is_compared_within_its_blocks():
    labels = [1, 0, 1, 0, 0] + [0] * 10 + [0, 1, 1, 0, 0]
    result = faithkit.score(labels, WORDS, blocks=QUESTION)
    assert "by predicted label" in result.to_text(verbose=True)
    # each row of the rare label shares its word with rows of the other label alone
    rare = result.by_label()["consistency"][1]
    assert (rare.n, rare.estimate) == (4, 0.0)
    assert rare.chance == pytest.approx(1 / 4)  # of four other rows in its block, one has its label


def test_explanations_that_name_the_label_are_found_across_blocks():
    assert faithkit.score(LABELS, LABELS, blocks=QUESTION).consistency.finding == "names the label"
    mixed = [f"{label}{question}" for label, question in zip(LABELS, QUESTION, strict=True)]
    assert faithkit.score(LABELS, mixed, blocks=QUESTION).consistency.finding != "names the label"


def test_explanations_that_no_row_of_their_block_shares_leave_nothing_to_check():
    result = faithkit.score(LABELS, list(range(20)), blocks=QUESTION)
    assert (result.consistency.verified, result.consistency.value, result.consistency.low) == (0, None, 0)
    assert result.verdict.reason == "no two instances of one block share an explanation"
    text = result.to_text(verbose=True)
    assert "No two instances of one block share an explanation, so nothing could be checked." in text


def test_clusters_in_which_every_explanation_lives_point_to_blocks():
    mixed = [f"{word}{question}" for word, question in zip(WORDS, QUESTION, strict=True)]
    (step,) = faithkit.score(LABELS, mixed, clusters=QUESTION).next_steps
    assert step.startswith("Every explanation occurs in one cluster only")
    assert "--blocks" in step
    assert faithkit.score(LABELS, mixed, blocks=QUESTION).consistency.verified == 1


def test_no_pool_is_proposed_to_rows_in_blocks():
    rules = [
        faithkit.Rule([faithkit.plugin.Interval("x", low=float(x) - 0.5, high=float(x))]) for x in TABLE["x"]
    ]
    explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    result = faithkit.score(LABELS, explanations, TABLE[["x"]], blocks=QUESTION)
    assert result.sufficiency.verified == 0
    assert not any("pool" in step for step in result.next_steps)


# --- input that is refused ---------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blocks": np.arange(20)}, "each of the 20 rows is a block of its own"),
        ({"blocks": ["q"] * 20}, "all rows are of one block"),
        ({"blocks": [None, *QUESTION[1:]]}, "row 0 has no value among the blocks"),
        ({"blocks": QUESTION[:-1]}, "19 blocks for 20 rows"),
        ({"blocks": "answer"}, "answer"),
        ({"blocks": QUESTION, "clusters": QUESTION}, "in every block all rows are of one cluster"),
        ({"blocks": QUESTION, "uninformative": True}, "uninformative is said of weights and clusters"),
    ],
)
def test_blocks_that_say_nothing_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        faithkit.score(LABELS, WORDS, TABLE, **options)


def test_rows_of_a_pool_are_compared_within_their_blocks():
    rules = [faithkit.Rule([faithkit.plugin.Interval("x", high=3.0)])] * 20
    explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    pool = {"pool": (TABLE[["x"]][:5] + 0.25, [1, 1, 1, 1, 1])}
    with pytest.raises(InputError, match="20 blocks, and the pool has 5 rows more: give 25"):
        faithkit.score(LABELS, explanations, TABLE[["x"]], blocks=QUESTION, **pool)
    of_first = [*QUESTION, *["q1"] * 5]
    alone, with_pool = (
        faithkit.score(LABELS, explanations, TABLE[["x"]], blocks=blocks, **more).sufficiency.value
        for blocks, more in ((QUESTION, {}), (of_first, pool))
    )
    # in the first block, the rule holds for the labels 1, 1 and 0, and for two ones of the pool
    before, after = [1 / 2, 1 / 2, 0, 1 / 3, 1 / 3], [3 / 4, 3 / 4, 0, 1 / 5, 1 / 5]
    assert with_pool - alone == pytest.approx((sum(after) - sum(before)) / 20)


def test_numbers_that_do_not_vary_within_blocks_have_nothing_to_explain():
    with pytest.raises(
        InputError, match="in every block all predictions of rows with a weight are the same number"
    ):
        faithkit.score(np.repeat([0.5, 1.5, 2.5, 3.5], 5), WORDS, blocks=QUESTION, outcome="numbers")
