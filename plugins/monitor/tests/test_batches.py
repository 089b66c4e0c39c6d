"""Batches of a path: a file, a folder of files, a day, or a folder of days in the order of their dates."""

from pathlib import Path

import pytest
from faithkit_monitor.log_batches import Columns, list_batches
from faithkit_monitor.tallies import Tallies
from looping import one_test
from monitor.streams import log

from faithkit.errors import InputError

RECORDED = Path(__file__).parent / "recorded"
COLUMNS = Columns("label", ("why",))


def write_logs(folder, files):
    """Write logs of three rows each, by their paths."""
    for number, name in enumerate(files):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        frame = log(3, seed=number)
        frame.to_parquet(file) if name.endswith(".parquet") else frame.to_csv(file, index=False)


@one_test
@pytest.mark.parametrize(
    ("files", "names", "rows"),
    [
        (["a.csv", "b.csv", "c.csv.gz", "notes.txt"], ["log"], [9]),
        (["a.parquet", "b.parquet"], ["log"], [6]),
        (["date=2026-11-10/a.csv", "date=2026-11-09/b.csv"], ["date=2026-11-09", "date=2026-11-10"], [3, 3]),
        (["date=2026-11-10/model=b/a.csv", "date=2026-11-10/model=a/a.csv"], ["date=2026-11-10"], [6]),
        (["date=2026-11-10/a.csv", "date=2026-11-10/.a.csv", "date=2026-11-10/_temporary/b.csv"], ["date=2026-11-10"], [3]),
        (["date=2026-11-10/a.csv", "_SUCCESS.csv", ".hidden/a.csv"], ["date=2026-11-10"], [3]),
    ],
)  # fmt: skip
def test_a_folder_is_one_batch_or_one_for_every_day(tmp_path, files, names, rows):
    write_logs(tmp_path / "log", files)
    result = list_batches(tmp_path / "log")
    assert [batch.name for batch in result] == names
    assert [batch.count(COLUMNS).count.sum() for batch in result] == rows


@one_test
@pytest.mark.parametrize(
    "days",
    [
        ["dt=20260110", "dt=20261110"],
        ["hour=2026-11-09T23", "hour=2026-11-10T07"],
        ["t=2026-11-10 07%3A30", "t=2026-11-10T08:00Z"],
    ],
)
def test_days_are_in_the_order_of_their_dates_however_dates_are_written(tmp_path, days):
    write_logs(tmp_path, [f"{day}/a.csv" for day in reversed(days)])
    assert [batch.name for batch in list_batches(tmp_path)] == days


@one_test
@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["date=yesterday/a.csv"], "date=yesterday has no date such as date=2026-11-14"),
        (["date=__HIVE_DEFAULT_PARTITION__/a.csv"], "has no date"),
        (["date=2026-11-10/a.csv", "date=2026-11-10/b.parquet"], "are of different kinds, CSV and Parquet"),
        (["date=2026-11-10/a.csv", "date=2026-11-10/a.csv.gz"], "have the same name, packed and not"),
        (["date=2026-11-10/deep/a.csv"], "has files in a folder inside it"),
        (["date=2026-11-10/.a.csv"], "has no file that ends in .csv"),
        (["date=2026-11-10/a.csv", "b.csv"], "b.csv lies beside folders of days"),
    ],
)  # fmt: skip
def test_what_is_no_log_of_score_is_no_batch(tmp_path, files, message):
    write_logs(tmp_path / "log", files)
    with pytest.raises(InputError, match=message):
        [batch.count(COLUMNS) for batch in list_batches(tmp_path / "log")]


def test_a_day_that_is_named_itself_is_that_day(tmp_path):
    write_logs(tmp_path, ["date=2026-11-10/a.csv"])
    (by_name,) = list_batches(tmp_path / "date=2026-11-10")
    (by_folder,) = list_batches(tmp_path)
    assert by_name.name == by_folder.name == "date=2026-11-10"
    assert (by_name.is_daily, by_folder.is_daily) == (False, True)


def test_a_folder_with_another_name_like_that_is_a_folder(tmp_path):
    write_logs(tmp_path / "model=a", ["a.csv"])
    write_logs(tmp_path / "model=b", ["date=2026-11-10/a.csv"])
    assert [batch.name for batch in list_batches(tmp_path / "model=a")] == ["model=a"]
    assert [batch.name for batch in list_batches(tmp_path / "model=b")] == ["date=2026-11-10"]


def test_in_which_files_and_formats_the_rows_are_does_not_matter(tmp_path):
    frame = log(100, seed=0)
    for name in ("parquet", "csv", "parts"):
        (tmp_path / name).mkdir()
    frame.to_parquet(tmp_path / "parquet" / "a.parquet")
    frame.to_csv(tmp_path / "csv" / "a.csv", index=False)
    frame[60:].to_csv(tmp_path / "parts" / "1.csv", index=False)
    frame[:60].to_csv(tmp_path / "parts" / "2.csv.gz", index=False)
    tallies = [
        Tallies.of(list_batches(tmp_path / name)[0].count(COLUMNS)) for name in ("parquet", "csv", "parts")
    ]
    assert len({tally.fingerprint() for tally in tallies}) == 1


@one_test
@pytest.mark.parametrize("link", ["date=2026-11-11", "date=2026-11-10/b.csv"])
def test_rows_are_not_counted_twice_through_a_link(tmp_path, link):
    write_logs(tmp_path / "log", ["date=2026-11-10/a.csv"])
    day = (tmp_path / "log" / "date=2026-11-10").absolute()
    (tmp_path / "log" / link).symlink_to(day / "a.csv" if link.endswith("csv") else day)
    with pytest.raises(InputError, match=f"{link} is a link; expected files and folders themselves"):
        [batch.count(COLUMNS) for batch in list_batches(tmp_path / "log")]


def test_a_pattern_names_a_batch_for_every_file(tmp_path):
    write_logs(tmp_path, ["b.csv", "a.csv", ".c.csv"])
    assert [batch.name for batch in list_batches(tmp_path / "*.csv")] == ["a.csv", "b.csv"]
    with pytest.raises(InputError, match="no file matches"):
        list_batches(tmp_path / "*.parquet")


def test_a_recorded_folder_is_read_day_by_day():
    """As Spark writes it: parts, markers and checksums."""
    result = list_batches(RECORDED / "log")
    assert [batch.name for batch in result] == [f"date=2026-11-{day:02}" for day in range(9, 16)]
    columns = Columns("prediction", ("phi_*",))
    assert [batch.count(columns).count.sum() for batch in result[:2]] == [120, 120]  # in one part, and in two
