"""Texts that are taken for labels and look like numbers are spoken of; labels are not."""

import warnings

import pandas as pd
import pytest

import faithkit
from faithkit.errors import FaithkitWarning

# the predictions, options, and the text that is spoken of, if any
CASES = {
    "decimal commas": (["0,35", "0,4", "0,35", "1"], {}, "0,35"),
    "percent signs": (["35%", "40 %", "35%", "100 %"], {}, "100 %"),
    "a log's texts": (["0.35", "0.4", "0.35", "-.5"], {}, "-.5"),
    "called labels": (["0,35", "0,4", "0,35", "1"], {"outcome": "labels"}, None),
    "whole numbers": (["1", "2", "1", "2"], {}, None),
    "versions": (["1.0", "2.0", "1.0", "2.0"], {}, None),
    "a word among them": (["0,35", "high", "0,35", "1"], {}, None),
    "words": (["yes", "no", "yes", ""], {}, None),
    "truths": ([True, False, True, False], {}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_texts_that_look_like_numbers_are_spoken_of(case):
    predictions, options, example = CASES[case]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        faithkit.score(predictions, ["a", "a", "b", "b"], **options)
    about = [str(one.message) for one in said if "are taken for labels" in str(one.message)]
    assert [f"predictions such as {example!r} are texts" in one for one in about] == [True] * (
        example is not None
    )


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_those_of_a_file_are_spoken_of_too(kind, tmp_path):
    from faithkit.inputs.logs.opening import open_log
    from faithkit.run.scoring import score_log

    frame = pd.DataFrame({"p": ["0,35", "0,4", "0,35", "1,5"], "why": list("aabb")})
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet", index=False)
    with pytest.warns(
        FaithkitWarning, match=r"^predictions such as '0,35' are texts, and are taken for labels"
    ):
        score_log(open_log(str(tmp_path / f"log.{kind}"), "p", ("why",)))
