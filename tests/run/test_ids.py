"""Rows with ids are shown by them, beside their number."""

import pandas as pd
import pytest
from looping import one_test
from pages import page_of

import faithkit
from faithkit.errors import InputError
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log
from faithkit.run.populations.row_metadata import RowIds

LOG = pd.DataFrame(
    {
        "customer": ["0071", "0072", "0071", None],
        "age": [31, 45, 31, 60],
        "why": ["a", "b", "a", "a"],
        "label": ["yes", "yes", "yes", "no"],
    }
)


def score(ids="customer"):
    return faithkit.score(LOG["label"], LOG["why"], X=LOG[["customer", "age"]], ids=ids)


@one_test
@pytest.mark.parametrize(
    "ids", ["customer", LOG["customer"], LOG["customer"].rename(None), LOG["customer"].tolist()]
)
def test_pairs_are_called_by_their_names(ids):
    first, second = score(ids).contradictions(1)[0].pair
    assert first.place in ("row 0 (customer 0071)", "row 0 (id 0071)")
    assert second.place == "row 3"  # nobody said what it is called


def test_reports_and_json_tell_the_names():
    result = score()
    assert "row 0 (customer 0071) → yes" in str(result.contradictions())
    assert "row 0 (customer 0071)" in page_of(result)
    assert [sample_row["id"] for sample_row in result.contradictions()[0].to_dict()["pair"]] == ["0071", None]


def test_a_local_result_tells_the_names_of_its_row_and_of_those_that_share_its_explanation():
    local_result = score().local(0)
    assert (str(local_result.id), local_result.to_dict()["id"], local_result.to_dict()["shared_ids"]) == (
        "customer 0071",
        "0071",
        ["0071", None],
    )
    text = str(local_result)
    assert text.startswith("row 0 (customer 0071): customer = 0071, age = 31")
    assert "2 other rows of the sample share it: 2 (customer 0071), 3." in text


def test_one_other_row_shares_an_explanation():
    text = str(faithkit.score(["yes", "no"], ["a", "a"]).local(0))
    assert "1 other row of the sample shares it: 1." in text


def test_without_names_nothing_is_told_of_them():
    local_result = score(None).local(0)
    assert (local_result.id, local_result.shared_ids) == (None, ())
    assert str(local_result).startswith("row 0: ")


def test_groups_keep_the_names_of_their_rows():
    part = score().by([0, 0, 1, 1])[1]
    assert part.contradictions()[0].pair[0].place == "row 0 (customer 0071)"  # row 2 of the whole


def test_the_rows_of_a_pool_have_names_behind_those_of_the_sample():
    X, pool = pd.DataFrame({"age": [30, 31]}), pd.DataFrame({"age": [90, 32]})
    rules = [faithkit.Rule([faithkit.plugin.Interval("age", high=40)])] * 2
    result = faithkit.score(["no", "no"], rules, X=X, pool=(pool, ["no", "yes"]), ids=list("abcd"))
    (contradiction,) = result.contradictions()
    (sample_row,) = (sample_row for sample_row in contradiction.pair if sample_row.in_pool)
    assert (sample_row.row, sample_row.id.value) == (1, "d")


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_names_its_rows_by_a_column(suffix, tmp_path):
    path = tmp_path / f"log.{suffix}"
    LOG.to_csv(path, index=False) if suffix == "csv" else LOG.to_parquet(path)
    for unexplained in ("count", "pool"):
        log = open_log(str(path), "label", ("why",), ("age",), id="customer")
        result = score_log(log, contradictions=1, unexplained=unexplained)
        places = [sample_row.place for sample_row in result.contradictions[0].pair]
        assert places == ["row 0 (customer 0071)", "row 3"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_keep_their_numbers_in_a_log_whose_unexplained_rows_are_the_pool(suffix, tmp_path):
    log = pd.DataFrame(
        {
            "age": [9, 50, 60, 8, 70],
            "why": [None, "age > 40", "age > 40", None, "age > 40"],
            "label": list("yyyyn"),
        }
    )
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path)
    result = score_log(open_log(str(path), "label", ("why",), ("age",)), contradictions=1, unexplained="pool")
    assert {sample_row.id.value for sample_row in result.contradictions[0].pair} < {1, 2, 4}
    assert all(
        log["age"][sample_row.id.value] == sample_row.values["age"]
        for sample_row in result.contradictions[0].pair
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_rule_that_does_not_hold_is_remarked_where_the_unexplained_rows_are_the_pool(suffix, tmp_path):
    log = pd.DataFrame({"age": [9, 50, 60], "why": [None, "age > 40", "age > 90"], "label": list("yyn")})
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path)
    scored = score_log(open_log(str(path), "label", ("why",), ("age",)), unexplained="pool")
    assert list(scored.result.to_dict()["remarks"].values()) == [1]


@one_test
@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "2 ids for 4 rows: give one per row"),
        ("name", "there is no column 'name' of ids in X"),
        (LOG[["customer"]], r"the ids have shape \(4, 1\): give one value per row"),
        (iter([1]), "the ids are a list_iterator: give a list of one value per row"),
    ],
    ids=["too few", "no column", "a table", "no list"],
)
def test_names_that_do_not_fit_are_refused(ids, message):
    with pytest.raises(InputError, match=message):
        score(ids)


def test_later_rows_and_those_of_a_comparison_are_called_by_their_names():
    rows = pd.DataFrame({"customer": [f"c{age}" for age in range(20, 60)], "age": range(20, 60)})
    options = {"model": lambda rows: (rows["age"] > 40).tolist(), "ids": "customer", "progress": False}

    def halve(rows):
        return (rows["age"] > 50).tolist()

    result = faithkit.compare(X=rows, explainers=[halve], **options).results["halve"]
    nearest = ["row 20 (customer c40)", "row 21 (customer c41)"]  # on either side of what decides
    assert [sample_row.place for sample_row in result.contradictions(1)[0].pair] == nearest
    later = result.on(rows[:30], ids="customer")
    assert [sample_row.place for sample_row in later.contradictions(1)[0].pair] == nearest
    assert str(later.local("c45").id) == str(later.local(25).id) == "customer c45"
    with pytest.raises(InputError, match="the sample has no customer 'c99'"):
        later.local("c99")


def test_a_row_is_found_by_its_name_if_no_other_has_it():
    ids = RowIds.of(LOG["customer"], None, 4)
    assert ids.row("0072") == 1
    with pytest.raises(InputError, match=r"the sample has 2 rows of customer '0071': .* 0, 2\."):
        ids.row("0071")
    with pytest.raises(InputError, match="the sample has no customer '71'; it has '0071', '0072'"):
        ids.row("71")
