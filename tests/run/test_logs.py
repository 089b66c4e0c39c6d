"""Logs larger than memory: read in pieces, and no number changes."""

import functools
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from looping import one_test
from nearly import assert_nearly
from pages import page_of

import faithkit
from faithkit.cli import main
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.next_steps import suggest_next_steps
from faithkit.run.populations import log_scoring
from faithkit.run.populations.log_scoring import score_log
from faithkit.run.populations.on_disk import OnDisk

pytestmark = pytest.mark.usefixtures("first_pairs")

N = 80
KINDS = 10  # of explanations


def rule(limit):
    return json.dumps(faithkit.Rule([faithkit.plugin.Interval("age", high=limit)]).to_json())


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, KINDS, N)
    holes = rng.random(N) < 0.1
    table = np.round(rng.normal(size=(KINDS, 3)), 1)
    frame = pd.DataFrame(table[kind], columns=["phi_a", "phi_b", "phi_c"])
    frame.loc[rng.random(N) < 0.05, "phi_b"] = -0.0
    frame.loc[rng.random(N) < 0.05, "phi_c"] = np.nan
    frame.loc[holes, ["phi_a", "phi_b", "phi_c"]] = np.nan
    return frame.assign(
        label=np.where(rng.random(N) < kind / KINDS, "yes", np.where(rng.random(N) < 0.2, "no", "maybe")),
        truth=rng.random(N) < kind / KINDS,
        number=rng.integers(0, 3, N),
        sex=np.where(rng.random(N) < 0.1, None, np.where(rng.random(N) < 0.5, "f", "m")),
        age=rng.integers(20, 70, N),
        rule=np.where(holes, None, np.array([rule(40 + 5 * (k % 5)) for k in kind], dtype=object)),
        word=np.where(holes, None, np.array(["good", "bad", "[sic]"], dtype=object)[kind % 3]),
        kind=kind,
        big_a=2**60 + kind // 8,
        big_b=np.round(rng.normal(size=N)),
        late_a=np.where(np.arange(N) == N - 1, None, kind % 4).astype(object),
        late_b=kind % 3,
        p_a=(score := np.round(kind / KINDS + rng.uniform(0, 0.4, N), 3) / 2),
        p_b=1 - score,
        single=score.astype(np.float32),
        price=1000 * (kind // 2),
    )


@pytest.fixture
def small_pieces(monkeypatch):
    """Read a few rows at a time, and no log as a whole because it is small; search no column for repeated rows."""
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 120)
    monkeypatch.setattr(log_scoring, "MAX_ROWS", 0)
    monkeypatch.setattr("faithkit.inputs.logs.log_files.warn_about_long_format", lambda table, log: None)


@pytest.fixture(scope="module")
def log_folder(frame, tmp_path_factory):
    """The frame on disk, in files of many rows, of none and of one."""
    schema = pa.Schema.from_pandas(frame.assign(late_a=frame["late_a"].astype("float").astype("Int64")))
    table = pa.Table.from_pandas(frame, schema=schema).replace_schema_metadata()
    folder = tmp_path_factory.mktemp("log")
    for i, (start, stop) in enumerate([(0, 30), (30, 30), (30, 31), (31, N)]):
        pq.write_table(table.slice(start, stop - start), folder / f"part-{i}.parquet", row_group_size=25)
    return folder


@pytest.fixture
def log(log_folder, small_pieces):
    """The folder, read in small pieces."""
    return log_folder


@pytest.fixture(autouse=True)
def rows_in_memory_are_not_searched(monkeypatch):
    """A log that is read in pieces is searched neither for repeated rows nor for an order."""
    monkeypatch.setattr(
        "faithkit.run.populations.in_memory.InMemory.with_cases", lambda population: population
    )
    monkeypatch.setattr("faithkit.run.judgement._warn_of_order", lambda population, counts: None)


def numbers_of(report):
    """Return all numbers but sufficiency by label, which needs all rows in memory."""
    payload = report.to_dict()
    if "by_label" in payload:
        payload["by_label"]["measures"].pop("sufficiency", None)
    return payload


def score_both_ways(
    log, prediction="label", explanation=("phi_*",), features=(), by=None, outcome=None, **options
):
    """Score in pieces and in memory."""
    opened = open_log(str(log), prediction, explanation, features, by, outcome=outcome)
    assert len(opened.table.pieces) >= 5
    pieces = score_log(opened, contradictions=3, control_draws=0, **options)
    assert isinstance(pieces.result.evidence.population, OnDisk)
    rows = opened.read()
    in_memory = faithkit.score(
        rows.predictions, rows.explanations, X=rows.X, outcome=outcome, control_draws=0, **options
    )
    return pieces, EvaluationReport.of(in_memory, 3, rows.groups)


@functools.cache
def score_by_sex(log):
    """Score the log by sex, in pieces and in memory, once for all tests that look at the results."""
    return score_both_ways(log, by="sex")


@one_test
@pytest.mark.parametrize(
    "question",
    [
        {"prediction": "truth", "discretizer": "1fp", "features": ("age", "sex")},
        {"explanation": ("big_*",), "estimator": "majority"},
        {"explanation": ("late_*",), "estimator": "verified-only", "confidence": 0.8},
        {"explanation": ("rule",)},
        {"explanation": ("sex", "word"), "prediction": "number"},
        {"explanation": ("rule",), "features": ("age", "sex"), "estimator": "majority"},
        {"relation": "near-explanation:tau=0.5", "discretizer": "sign", "features": ("age",)},
    ],
    ids=str,
)
def test_pieces_give_the_same_as_the_whole(log, question):
    pieces, whole = score_both_ways(log, **question)
    assert_nearly(numbers_of(pieces), numbers_of(whole))
    assert str(pieces) == str(whole)
    if "features" in question:
        assert pieces.contradictions


@one_test
@pytest.mark.parametrize(
    "question",
    [
        {"outcome": "labels"},
        {"prediction": "price", "outcome": "numbers", "estimator": "verified-only"},
        {"prediction": "p_*", "outcome": "numbers", "discretizer": "sign"},
        {"prediction": "single", "by": "sex", "agree": "within:0.05"},
        {"by": "number", "prediction": "p_*", "explanation": ("word",)},
        {"relation": "near-explanation:tau=0.5", "features": ("age",)},
        {"explanation": ("rule",), "features": ("age", "sex"), "prediction": "p_*"},
    ],
    ids=str,
)
def test_numbers_in_pieces_give_the_same_as_the_whole(log, frame, question, monkeypatch):
    columns = {"prediction": "p_a"} | question
    if "rule" in columns.get("explanation", ()):  # `str` shows the advice as well
        monkeypatch.setattr("faithkit.run.result.suggest_next_steps", suggest_next_steps)
    pieces, whole = score_both_ways(log, **columns)
    assert_nearly(numbers_of(pieces), numbers_of(whole))
    assert str(pieces) == str(whole)
    kind = "scores" if columns["prediction"] == "p_*" else "numbers"
    assert pieces.result.setup.outcome.kind == question.get("outcome", kind)
    if columns["prediction"] == "p_a":
        for contradiction in pieces.contradictions:
            predictions = [sample_row.prediction for sample_row in contradiction.pair]
            assert predictions == [frame["p_a"][sample_row.row] for sample_row in contradiction.pair]
            assert len(set(predictions)) == 2
    if "features" in question:
        assert pieces.contradictions


def test_pieces_and_the_whole_have_the_same_page_and_the_same_advice(log, monkeypatch):
    monkeypatch.setattr("faithkit.run.result.suggest_next_steps", suggest_next_steps)
    pieces, whole = score_by_sex(log)
    assert_nearly(numbers_of(pieces), numbers_of(whole))
    assert str(pieces) == str(whole)
    assert page_of(pieces) == page_of(whole)
    assert pieces.result.next_steps == whole.result.next_steps
    assert pieces.result.next_steps[0].startswith("10 of 80 rows have no explanation")


def test_other_discretizers_are_tried_without_reading_the_log_again(log, monkeypatch):
    names = ["original", "sign", "1fp", "sign-of-top:k=1"]
    pieces, whole = score_by_sex(log)
    expected = faithkit.try_discretizers(whole.result, names)
    monkeypatch.setattr("faithkit.run.populations.on_disk.take_census", None)
    comparison = faithkit.try_discretizers(pieces.result, names)
    pd.testing.assert_frame_equal(comparison, expected)
    assert comparison["consistency"].nunique() > 2


def test_another_discretizer_of_a_group_counts_the_rows_of_the_group(log, frame):
    group = score_by_sex(log)[0].result.by("sex")["f"]
    tried = faithkit.try_discretizers(group, "sign")
    rows = frame[frame["sex"] == "f"]
    expected = faithkit.score(rows["label"], rows[["phi_a", "phi_b", "phi_c"]], discretizer="sign")
    assert tried.loc[0, "estimate"] == pytest.approx(expected.consistency.estimate, abs=1e-12)
    assert tried.loc[0, "n_explanations"] == expected.n_explanations


def test_a_group_that_is_discretized_already_keeps_its_discretizer(log):
    result = score_log(open_log(str(log), "label", ("phi_*",), by="sex"), discretizer="sign").result
    tried = faithkit.try_discretizers(result.by("sex")["f"], "1fp")
    assert "1fp cannot be applied inside a group in a log that was read in pieces" in tried.loc[0, "note"]


@one_test
@pytest.mark.parametrize(
    "question",
    [
        {"permutations": 5},
        {"discretizer": "quantile:bins=2"},
        {"relation": "near-explanation:tau=0.5", "by": "sex"},
        {"relation": "same-top-features:k=1", "features": ("age", "number", "kind")},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:no background:faithkit.errors.FaithkitWarning")
def test_what_needs_all_rows_at_once_reads_them_all(log, question):
    options = dict(question)
    by, features = options.pop("by", None), options.pop("features", ())
    result = score_log(open_log(str(log), "label", ("phi_a,phi_b,phi_c",), features, by), **options)
    assert type(result.result) is faithkit.Evaluation
    assert result.result.n == N
    assert (result.subgroups is None) == (by is None)


def test_a_result_without_rows_says_so_where_rows_are_needed(log):
    result = score_by_sex(log)[0].result
    for question in (lambda: result.local(3), lambda: result.difference(result), lambda: result.by("age")):
        with pytest.raises(faithkit.errors.InputError, match=r"read in pieces|was not read with"):
            question()
    with pytest.raises(faithkit.errors.InputError, match="learns from all rows"):
        result.measure("same-top-features:k=1")
    assert result.difference(result, paired=False).value == 0
    assert faithkit.plan(0.1, pilot=result) is not None


def test_another_measure_can_be_asked_for_later(log):
    pieces, whole = score_by_sex(log)
    near = "near-explanation:tau=0.3"
    assert pieces.result.measure(near).value == whole.result.measure(near).value


def test_a_discretizer_that_learns_cannot_be_tried_on_a_log_and_says_so(log):
    tried = faithkit.try_discretizers(score_by_sex(log)[0].result, ["quantile", "sign"])
    assert tried["discretizer"].tolist() == ["sign", "quantile"]
    assert "cannot learn from the explanations in a log that was read in pieces" in tried["note"].iloc[-1]


def test_row_groups_and_order_of_columns_change_nothing(frame, small_pieces, tmp_path):
    names = ["label", "phi_a", "phi_b", "phi_c"]
    measures = set()
    for columns, size in [(names, 5), (names[::-1], 17), (names, 1000)]:
        frame[columns][:40].to_parquet(tmp_path / "log.parquet", row_group_size=size)
        opened = open_log(str(tmp_path / "log.parquet"), "label", ("phi_a", "phi_b", "phi_c"))
        measures.add(json.dumps(score_log(opened).result.to_dict()["measures"]))
    assert len(measures) == 1


def test_memory_grows_with_distinct_explanations_only(tmp_path):
    sizes = []
    for n in (1_000, 10_000):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"phi": rng.integers(0, 50, n), "label": rng.integers(0, 2, n)})
        table.to_parquet(tmp_path / "log.parquet", row_group_size=500)
        result = score_log(open_log(str(tmp_path / "log.parquet"), "label", ("phi",))).result
        census = result.evidence.population.census
        sizes.append((len(census.count), len(census.explanations)))
    assert sizes == [(100, 50)] * 2


PEAK = """
import sys
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log
parquet.VALUES_PER_BATCH = 2**20
print(score_log(open_log(sys.argv[1], "label", ("phi_*",))).result.n)
print(*(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
def test_four_times_the_rows_need_no_more_memory(tmp_path):
    peaks = []
    for n in (500_000, 2_000_000):
        rng = np.random.default_rng(0)
        phi = rng.normal(size=(1000, 14))[rng.integers(0, 1000, n)]
        table = pa.table({"label": rng.integers(0, 2, n)} | {f"phi_{j}": phi[:, j] for j in range(14)})
        pq.write_table(table, tmp_path / "log.parquet", row_group_size=50_000)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, tmp_path / "log.parquet"], capture_output=True, check=True
        )
        n_rows, peak = map(int, done.stdout.split())
        assert n_rows == n
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 60  # MB; the rows themselves take 180 more


# --- bad input ------------------------------------------------------------------------------------------


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def score_and_be_refused(path, *more):
    """Score with an output file, and return the one line of the error."""
    out = path.parent / "result.json"
    arguments = ("score", path, "--prediction", "label", "--explanation", "phi_*", "--out", out, *more)
    result = run(*arguments)
    assert result.exit_code == 1, result.output
    assert result.stdout == ""
    assert not out.exists()
    (line,) = result.stderr.splitlines()
    return line


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "log"
    folder.mkdir()
    for name in "ab":
        table = pd.DataFrame({"label": [0, 1] * 50, "phi_a": np.arange(100.0) % 7, "phi_b": 0.5})
        table.to_parquet(folder / f"{name}.parquet", row_group_size=25)
    return folder


def test_files_of_different_columns_are_refused(folder):
    file = folder / "b.parquet"
    pd.read_parquet(file).assign(phi_c=1.0).to_parquet(file)
    assert "a.parquet and b.parquet have different columns: only b.parquet has phi_c" in score_and_be_refused(
        folder
    )
    pd.read_parquet(file).drop(columns=["phi_b", "phi_c"]).to_parquet(file)
    assert "only a.parquet has phi_b" in score_and_be_refused(folder)


def test_files_of_different_types_are_refused(folder):
    pd.read_parquet(folder / "b.parquet").astype({"phi_a": "float32"}).to_parquet(folder / "b.parquet")
    assert "column 'phi_a' is double in a.parquet and float in b.parquet" in score_and_be_refused(folder)


@one_test
@pytest.mark.parametrize("checksums", [True, False])
def test_a_damaged_row_group_is_named_and_nothing_is_written(folder, checksums):
    file = folder / "b.parquet"
    table = pa.table(
        {"label": [0, 1] * 500, "phi_a": np.random.default_rng(0).normal(size=1000), "phi_b": [0.5] * 1000}
    )
    pq.write_table(table, file, row_group_size=250, write_page_checksum=checksums, use_dictionary=False)
    roles = ("--prediction", "label", "--explanation", "phi_*", "--diagnose", "none")
    assert run("score", folder / "b.parquet", *roles).exit_code == 0
    pq.write_table(pq.read_table(folder / "a.parquet").replace_schema_metadata(), folder / "a.parquet")
    place = pq.ParquetFile(file).metadata.row_group(2).column(1)
    data = bytearray(file.read_bytes())
    if checksums:
        data[place.data_page_offset + place.total_compressed_size // 2] ^= 1
    else:  # without checksums only damage to the structure can be told
        data[place.data_page_offset : place.data_page_offset + 40] = bytes(40)
    file.write_bytes(data)
    line = score_and_be_refused(folder)
    assert "b.parquet failed with" in line
    assert "2" in line.partition("reading row group")[2].partition(" of ")[0]
    assert "damaged" in line


def test_a_truncated_file_of_a_folder_is_named(folder):
    data = (folder / "b.parquet").read_bytes()
    (folder / "b.parquet").write_bytes(data[:-20])
    line = score_and_be_refused(folder)
    assert "b.parquet failed with" in line
    assert "not a whole Parquet file" in line


def test_an_empty_folder_is_refused(tmp_path):
    (tmp_path / "log").mkdir()
    assert "has no file that ends in .csv, .jsonl, .ndjson or .parquet" in score_and_be_refused(
        tmp_path / "log"
    )


def test_files_in_folders_of_a_folder_are_refused(folder):
    (folder / "old").mkdir()
    (folder / "b.parquet").rename(folder / "old" / "b.parquet")
    assert "in a folder inside it (old/b.parquet)" in score_and_be_refused(folder)


def test_files_without_rows_are_refused(folder):
    for name in "ab":
        pd.read_parquet(folder / f"{name}.parquet").head(0).to_parquet(folder / f"{name}.parquet")
    assert "0 rows" in score_and_be_refused(folder)


def test_a_row_without_a_label_is_left_out_of_a_log_in_pieces(folder):
    table = pd.read_parquet(folder / "b.parquet").astype({"label": "Int64"})
    table.loc[30, "label"] = None
    table.to_parquet(folder / "b.parquet", row_group_size=25)
    pd.read_parquet(folder / "a.parquet").astype({"label": "Int64"}).to_parquet(folder / "a.parquet")
    printed = run("score", folder, "--prediction", "label", "--explanation", "phi_*").stdout
    assert "1 row has no prediction, and is left out." in " ".join(printed.split())


def test_several_columns_of_predictions_are_no_labels(folder):
    options = ("--prediction", "phi_*", "--explanation", "phi_a", "--outcome", "labels")
    assert "--prediction 'phi_*' matches 2 columns; expected one" in run("score", folder, *options).stderr


def test_a_log_in_pieces_has_no_order_of_rows_for_a_target(tmp_path):
    log = tmp_path / "log.parquet"
    pd.DataFrame({"label": ["a", "b"] * 500, "why": ["x", "y"] * 500}).to_parquet(log, row_group_size=100)
    result = score_log(open_log(str(log), "label", ("why",))).result
    assert isinstance(result.evidence.population, OnDisk)
    with pytest.raises(faithkit.errors.InputError, match="the predictions of rows are not available"):
        result.with_target(["a", "b"] * 500)
