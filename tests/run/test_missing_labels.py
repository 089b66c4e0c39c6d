"""Rows without a label are left out and counted, whatever the form in which they come."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.populations.log_scoring import score_log

N = 60
RNG = np.random.default_rng(0)
LABELS = [None if i % 10 == 3 else ("yes", "no")[i % 2] for i in range(N)]
WORDS = [f"word {i % 4}" for i in range(N)]
KEPT = [i for i in range(N) if LABELS[i] is not None]
NOTE = "6 rows have no prediction, and are left out."


def score_kept(**options):
    return faithkit.score([LABELS[i] for i in KEPT], [WORDS[i] for i in KEPT], **options)


@one_test
@pytest.mark.parametrize("form", [list, np.array, pd.Series], ids=["list", "array", "series"])
def test_rows_without_a_label_are_left_out_and_counted(form):
    result = faithkit.score(form(LABELS), WORDS)
    assert result.n == len(KEPT)
    assert result.consistency.value == pytest.approx(score_kept().consistency.value)
    assert NOTE in result.notes
    assert NOTE in " ".join(str(result).split())


def test_what_belongs_to_a_row_goes_with_it_and_the_others_keep_their_numbers():
    clusters, weights = np.arange(N) // 2, RNG.integers(1, 4, N)
    X = pd.DataFrame({"a": RNG.integers(0, 2, N)})
    result = faithkit.score(LABELS, WORDS, X, clusters=clusters, weights=weights.tolist())
    expected = score_kept(X=X.iloc[KEPT], clusters=clusters[KEPT], weights=weights[KEPT])
    assert result.consistency.estimate == pytest.approx(expected.consistency.estimate)
    sample_row = faithkit.score(LABELS, ["same"] * N).contradictions(1)[0].pair[0]
    assert LABELS[sample_row.id.value] == sample_row.prediction


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_has_the_same_note_and_its_groups_stay_with_their_rows(suffix, tmp_path):
    log = pd.DataFrame({"label": LABELS, "why": WORDS, "site": np.arange(N) % 3})
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path, row_group_size=7)
    report = score_log(open_log(str(path), "label", ("why",), by="site"))
    assert NOTE in report.result.notes
    assert report.result.n == len(KEPT)
    for site, part in report.subgroups.items():
        assert part.n == sum(1 for i in KEPT if i % 3 == int(site))


def test_a_sample_without_any_label_is_an_error():
    with pytest.raises(faithkit.errors.InputError, match="predictions are missing"):
        faithkit.score([None, None], ["a", "b"])


def test_a_missing_number_is_an_error_because_no_label_is_meant():
    with pytest.raises(faithkit.errors.InputError, match="missing or infinite"):
        faithkit.score([0.5, None, 1.5], ["a", "a", "b"])
