"""Logs on disk whose rows have weights or clusters: read in pieces, they give what memory gives."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.errors import InputError
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log
from faithkit.run.populations.weighted_log import WeightedLog

RNG = np.random.default_rng(5)
N = 140
LOG = pd.DataFrame(
    {
        "reason": RNG.choice(
            ["income", "age", "debt", "rare 1", "rare 2"], N, p=[0.5, 0.3, 0.19, 0.005, 0.005]
        ),
        "phi": RNG.integers(0, 40, N) / 4,
        "label": RNG.choice(["yes", "no", "maybe"], N),
        "price": RNG.normal(size=N).round(2),
        "weight": np.exp(RNG.normal(size=N)),
        "customer": RNG.integers(0, 60, N),
    }
)
LOG.loc[7, "reason"] = None


@pytest.fixture
def path(tmp_path):
    LOG.to_parquet(tmp_path / "log.parquet", row_group_size=50)
    return str(tmp_path / "log.parquet")


@one_test
@pytest.mark.parametrize(
    ("prediction", "explanation", "design", "uninformative"),
    [
        ("label", "reason", {"weights": "weight"}, False),
        ("label", "phi", {"clusters": "customer"}, True),
        ("label", "reason", {"weights": "weight", "clusters": "customer"}, True),
        ("price", "reason", {"clusters": "customer"}, True),
        ("price", "phi", {"weights": "weight", "clusters": "customer"}, False),
    ],
)
def test_pieces_give_what_memory_gives_to_the_last_bit(path, prediction, explanation, design, uninformative):
    log = open_log(path, prediction, (explanation,), (), **design)
    report = score_log(log, contradictions=3, uninformative=uninformative)
    result = report.result
    assert isinstance(result.evidence.population, WeightedLog)
    columns = {role: LOG[name] for role, name in design.items()}
    whole = faithkit.score(LOG[prediction], LOG[[explanation]], **columns, uninformative=uninformative)
    assert result.consistency.to_dict() == whole.consistency.to_dict()
    for field in ("n", "design", "unexplained", "chance", "uniqueness", "tails"):
        assert getattr(result, field) == getattr(whole, field)
    rows = [contradiction.rows for contradiction in report.contradictions]
    assert rows == [contradiction.rows for contradiction in whole.contradictions(3)]
    assert len(rows) == 3


def test_rows_that_contradict_each_other_are_of_two_clusters(path):
    result = score_log(open_log(path, "label", ("reason",), (), clusters="customer"), contradictions=2)
    for contradiction in result.contradictions:
        first, second = (sample_row.row for sample_row in contradiction.pair)
        assert LOG.customer[first] != LOG.customer[second]
        assert LOG.reason[first] == LOG.reason[second]
        assert LOG.label[first] != LOG.label[second]


@one_test
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("weight", -1.0, "the weight of row 130 is -1"),
        ("weight", np.nan, "row 130 has no value among the weights"),
        ("customer", None, "row 130 has no value among the clusters"),
    ],
)
def test_a_bad_row_is_named_by_its_place_in_the_log(tmp_path, column, value, message):
    bad = LOG.astype({"customer": object})
    bad.loc[130, column] = value
    bad.to_parquet(tmp_path / "bad.parquet", row_group_size=50)
    design = {"weights": "weight"} if column == "weight" else {"clusters": "customer"}
    with pytest.raises(InputError, match=message):
        score_log(open_log(str(tmp_path / "bad.parquet"), "label", ("reason",), (), **design))


def test_uninformative_weights_without_weights_are_refused(path):
    command = ["score", path, "--prediction", "label", "--explanation", "reason", "--uninformative-weights"]
    run = CliRunner().invoke(main, command)
    assert run.exit_code == 1
    assert "there are none" in run.output
