"""What predictions are, on the command line: a log that keeps a number, and a model that predicts one."""

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from consoles import run
from looping import one_test

import faithkit

N = 90  # readers of so few rows choose no trees, which take long


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, N)
    p = np.round(0.2 * group + rng.uniform(0, 0.2, N), 4)
    table = pd.DataFrame({"why": [f"reason {k}" for k in group], "p": p, "q": 1 - p, "price": 1000 * group})
    return table.assign(sex=np.where(rng.random(N) < 0.5, "f", "m"), word=np.where(p > 0.5, "yes", "no"))


@pytest.fixture
def log(frame, tmp_path):
    """The path of a log in Parquet, which has a CSV beside it."""
    frame.to_csv(tmp_path / "log.csv", index=False, float_format="%.6f")  # with zeros behind
    frame.to_parquet(tmp_path / "log.parquet", row_group_size=17)
    return tmp_path / "log.parquet"


def run_to_json(*arguments):
    done = run(*arguments, "--out", "-", "--format", "json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def score_command(log, *options, prediction="p"):
    return "score", log, "--prediction", prediction, "--explanation", "why", *options


# --- what a column of predictions is -----------------------------------------------------------------------

# the column, options, what is measured, and the same options in Python
COLUMNS = [
    ("p", (), "numbers", {}),
    ("p", ("--outcome", "numbers"), "numbers", {}),
    ("p", ("--agree", "within:0.05"), "numbers", {"agree": "within:0.05"}),
    ("p", ("--outcome", "labels"), "labels", {"outcome": "labels"}),
    ("price", (), "labels", {}),
    ("price", ("--outcome", "numbers"), "numbers", {"outcome": "numbers"}),
    ("price", ("--agree", "within:1000"), "numbers", {"agree": "within:1000"}),
    ("word", (), "labels", {}),
    ("p,q", (), "scores", {}),
    ("p,q", ("--outcome", "numbers"), "numbers", {"outcome": "numbers"}),
    ("p,price", (), "numbers", {}),
]
CASES = [("csv", *case) for case in COLUMNS]
CASES += [("parquet", *case) for case in (COLUMNS[0], COLUMNS[5], COLUMNS[8])]


@one_test
@pytest.mark.parametrize(("suffix", "column", "options", "kind", "parameters"), CASES)
def test_a_log_is_measured_as_python_measures_its_columns(
    log, frame, suffix, column, options, kind, parameters
):
    result = run_to_json(
        *score_command(log.with_suffix(f".{suffix}"), *options, "--control-draws", "0", prediction=column)
    )
    names = column.split(",")
    predictions = frame[names[0]] if len(names) == 1 else frame[sorted(names, key=list(frame).index)]
    expected = faithkit.score(predictions, frame["why"].tolist(), **parameters)
    assert result["outcome"]["kind"] == kind
    assert result["measures"]["consistency"]["value"] == pytest.approx(expected.consistency.value, abs=1e-12)
    assert result["measures"]["consistency"]["low"] == pytest.approx(expected.consistency.low, abs=1e-9)


# --- predictions that cannot be meant ----------------------------------------------------------------------

# the cells of the column, options, and the message
BAD = [
    (["0.1", "0.2", "", "0.4"], (), "1 of 4 predictions are missing or infinite (the first in row 2)"),
    (["0.1", "inf", "0.3", "0.4"], (), "1 of 4 predictions are missing or infinite (the first in row 1)"),
    (["0.1", "0.2", "0.3", "nan"], (), "numbers, such as '0.1', and words, such as 'nan' in row 3"),
    (["0.1", "high", "0.3", "0.4"], (), "numbers, such as '0.1', and words, such as 'high' in row 1"),
    (["0.1", "high", "0.3", "0.4"], ("--outcome", "numbers"), "predictions that are no numbers"),
    (["yes", "no", "no", "no"], ("--agree", "within:1"), "predictions that are no numbers"),
    (["0.5", "0.50", ".5", "5e-1"], (), "nothing to explain: all 4 predictions are 0.5"),
    (["3", "3", "3", "3"], ("--outcome", "numbers"), "nothing to explain: all 4 predictions are 3.0"),
    (["0.1", "0.2", "0.3", "0.4"], ("--agree", "within:-1"), "expected 'within:ε'"),
    (["0.1", "0.2", "0.3", "0.4"], ("--agree", "nearly"), "expected 'within:ε'"),
    (["0.1", "0.2", "0.3", "0.4"], ("--agree", "within:nan"), "expected 'within:ε'"),
    (["0.1", "0.2", "0.3", "0.4"], ("--outcome", "scores"), "scores are probabilities"),
    (["1", "2", "1", "2"], ("--outcome", "labels", "--agree", "within:1"), "is for numbers, and the outcome"),
]


@one_test
@pytest.mark.parametrize(("cells", "options", "words"), BAD, ids=[f"{cells} {o}" for cells, o, _ in BAD])
def test_predictions_that_cannot_be_measured_are_named_in_one_line(tmp_path, cells, options, words):
    (tmp_path / "log.csv").write_text("p,why\n" + "".join(f"{cell},a\n" for cell in cells))
    done = run(*score_command(tmp_path / "log.csv", *options))
    assert done.exit_code == 1
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_several_columns_with_a_word_are_not_advised_to_be_labels_which_are_one_column(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    frame = pd.DataFrame({"no": ["0.25", "0.5"], "yes": ["0.75", "n/a"], "why": ["a", "a"]})
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    done = run(*score_command(path, prediction="no,yes"))
    assert (done.exit_code, "--outcome" in done.stderr) == (1, False)
    assert "in several columns must be numbers" in done.stderr
    assert "'n/a'): correct it, or give one column of labels." in done.stderr


@one_test
@pytest.mark.parametrize("outcome", ["numbers", "scores"])
def test_predictions_of_different_lengths_are_an_error_that_says_what_to_do(outcome):
    with pytest.raises(faithkit.errors.InputError, match="say outcome='labels'"):
        faithkit.score([[0.1, 0.2], [0.3]], ["a", "b"], outcome=outcome)


@one_test
@pytest.mark.parametrize(("bad", "row"), [(np.nan, 2), (np.inf, 3), (-np.inf, 0)])
def test_a_prediction_in_parquet_that_is_no_number_is_named_by_its_row(tmp_path, bad, row):
    p = np.array([0.1, 0.2, 0.3, 0.4])
    p[row] = bad
    pd.DataFrame({"p": p, "why": "a"}).to_parquet(tmp_path / "log.parquet", row_group_size=2)
    done = run(*score_command(tmp_path / "log.parquet"))
    assert done.exit_code == 1
    assert (
        f"the prediction of row {row} is {'missing' if np.isnan(bad) else 'infinite'}: drop such rows."
        in done.stderr
    )


Y = [0.1, 0.2, 0.5, 0.6, 0.9, 0.8, 0.3, 0.35, 0.7, 0.72]
PLAIN = pa.table({"p": Y, "why": list("aabbccddee")})

# a column that says the same in another way: exactly, in other units, as categories, or as texts
ALIKE = {
    "decimals": (pa.array([Decimal(str(y)) for y in Y]), ()),
    "categories": (pa.array(Y).dictionary_encode(), ()),
    "texts": (pa.array([str(y) for y in Y]), ("--outcome", "numbers")),
    "huge": (pa.array([y * 1e300 for y in Y]), ()),
    "tiny": (pa.array([y * 1e-300 for y in Y]), ()),
    "moved": (pa.array([y + 1e6 for y in Y]), ()),
}


@one_test
@pytest.mark.parametrize(("cells", "options"), ALIKE.values(), ids=ALIKE)
def test_a_number_is_what_it_says_however_it_is_written(tmp_path, cells, options):
    pq.write_table(PLAIN.set_column(0, "p", cells), tmp_path / "log.parquet", row_group_size=3)
    payload = run_to_json(*score_command(tmp_path / "log.parquet", *options))
    consistency = payload["measures"]["consistency"]
    expected = faithkit.score(Y, PLAIN["why"].to_pylist()).consistency
    assert consistency["value"] == pytest.approx(expected.value, abs=1e-8)
    assert consistency["low"] == pytest.approx(expected.low, abs=1e-8)


def test_groups_of_one_number_are_left_out_with_a_word(tmp_path):
    table = PLAIN.append_column("sex", pa.array(list("ffffmmmmmm"))).to_pandas()
    table.loc[table["sex"] == "f", "p"] = 0.5
    table.to_parquet(tmp_path / "log.parquet", row_group_size=3)
    done = run(*score_command(tmp_path / "log.parquet", "--by", "sex"))
    assert done.exit_code == 0
    assert "sex = f: left out, since all predictions of the group are the same number" in done.stderr


# --- gates and references ----------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("limit", "code"), [("0.5", 0), ("0.999", 3)])
def test_a_gate_holds_for_numbers(log, limit, code):
    result = log.with_name("result.json")
    assert run(*score_command(log, "--out", result)).exit_code == 0
    done = run("gate", result, "--fail-under", f"consistency={limit}")
    assert done.exit_code == code
    assert ("failed: consistency may be as low as" in done.stderr) == (code == 3)


def test_a_reference_of_numbers_is_compared_and_one_of_labels_refused(log, tmp_path):
    before, now, others = (tmp_path / f"{name}.json" for name in ("before", "now", "others"))
    assert run(*score_command(log, "--out", before)).exit_code == 0
    assert run(*score_command(log, "--out", now)).exit_code == 0
    assert run(*score_command(log, "--agree", "within:0.1", "--out", others)).exit_code == 0
    gate = ("--reference", before, "--fail-if-worse", "consistency=0.5")
    done = run("gate", now, *gate)
    assert done.exit_code == 0, done.stderr
    done = run("gate", others, *gate)
    assert done.exit_code == 1
    assert "predictions are numbers, within 0.1 here and numbers there" in done.stderr


@pytest.fixture
def outliers(tmp_path):
    """A log of rules whose scopes are full of outliers, so that they leave more than a constant one does."""
    rng = np.random.default_rng(0)
    rule = json.dumps(faithkit.Rule([faithkit.plugin.Interval("a", low=49.5)]).to_json())
    wider_rule = json.dumps(faithkit.Rule([faithkit.plugin.Interval("a", low=48)]).to_json())
    p = np.concatenate([0.1 * rng.normal(size=50), 30 * rng.normal(size=50)])
    table = pd.DataFrame({"p": p, "a": np.arange(100.0), "why": [rule] * 50 + [wider_rule] * 50})
    table.to_parquet(tmp_path / "log.parquet", row_group_size=30)
    return tmp_path / "log.parquet"


def test_sufficiency_below_nothing_is_told_kept_compared_and_planned_with(outliers, tmp_path):
    before, command = (
        tmp_path / "before.json",
        score_command(outliers, "--features", "a", "--control-draws", "0"),
    )
    assert run(*command, "--out", before).exit_code == 0
    sufficiency = json.loads(before.read_text())["measures"]["sufficiency"]
    assert sufficiency["low"] < sufficiency["value"] < 0
    assert run("gate", before, "--reference", before, "--fail-if-worse", "sufficiency=1").exit_code == 0
    assert run("plan", "--pilot", before, "--measure", "sufficiency").exit_code == 0
    done = run("gate", before, "--fail-under", "sufficiency=0")
    assert done.exit_code == 3
    assert "failed: sufficiency may be as low as -0." in done.stderr


# --- models ------------------------------------------------------------------------------------------------


TREE = ("--explainer", "tree", "--model", "tree", "--diagnose", "none", "--control-draws", "0")


def test_a_dataset_whose_target_is_a_number_is_evaluated_at_once():
    result = run_to_json("evaluate", "--data", "houses", *TREE, "--samples", "60")
    assert result["n"] == 60  # rows that were not drawn do not matter
    assert result["outcome"] == {"kind": "numbers", "within": None, "range": None, "unasked": False}
    assert "DecisionTreeRegressor" in result["model"]
    assert 0 < result["measures"]["consistency"]["low"] < result["measures"]["consistency"]["high"] <= 1


# the cells of the target, options, and the model that is trained
TARGETS = [
    (["0.5", "1.25", "3"], (), "DecisionTreeRegressor"),
    (["1", "2", "3"], (), "DecisionTreeClassifier"),
    (["1", "2", "3"], ("--outcome", "numbers"), "DecisionTreeRegressor"),
    (["1", "2", "3"], ("--agree", "within:1"), "DecisionTreeRegressor"),
    (["a", "b", "c"], ("--outcome", "scores"), "DecisionTreeClassifier"),
]


@one_test
@pytest.mark.parametrize(("cells", "options", "model"), TARGETS)
def test_the_target_decides_what_is_trained(tmp_path, cells, options, model):
    rows = "".join(f"{k},{k % 5},{cells[k % 3]}\n" for k in range(60))
    (tmp_path / "data.csv").write_text(f"a,b,y\n{rows}")
    result = run_to_json("evaluate", "--data", tmp_path / "data.csv", "--target", "y", *TREE, *options)
    assert model in result["model"]


def test_local_and_compare_take_the_same_options():
    data = ("--data", "diabetes", "--model", "tree", "--samples", "40", "--agree", "within:30")
    assert run("local", "--row", "0", *data, "--explainer", "tree").exit_code == 0
    explainers = ("--explainer", "tree", "--explainer", "tree:max_depth=2")
    assert run("compare", *data, *explainers).exit_code == 0
