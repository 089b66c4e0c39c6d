"""A pool of predictions that are numbers: one in another unit is spoken of."""

import json
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main

X = np.arange(40.0)[:, None]
Y = np.arange(40) / 8


@one_test
@pytest.mark.parametrize(
    ("pool", "named"),
    [
        (Y + 0.01, False),
        (Y + 4, False),
        (1000 * Y + 1000, True),
        (-Y - 1, True),
    ],
    ids=["alike", "partly", "other units", "below"],
)
def test_a_pool_none_of_whose_numbers_lies_among_the_samples_is_spoken_of(pool, named):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        faithkit.score(Y, (Y > 2).tolist(), X=X, relation=lambda x, e: (x[0] > 16) == e, pool=(X, pool))
    about = [str(one.message) for one in said if "in the same unit?" in str(one.message)]
    assert len(about) == named
    if named:
        assert about[0].startswith(
            f"none of the pool's predictions ({pool.min():g} to {pool.max():g}) lies among"
        )


@one_test
@pytest.mark.parametrize("options", [(), ("--agree", "within:20", "--permutations", "9")])
def test_rows_that_were_not_drawn_are_a_pool_for_numbers_too(options):
    command = ["evaluate", "--data", "diabetes", "--explainer", "tree", "--samples", "25", "--json", "-"]
    payload = json.loads(CliRunner().invoke(main, [*command, *options]).stdout)
    alone = json.loads(CliRunner().invoke(main, [*command, *options, "--pool", "none"]).stdout)
    assert (payload["pool"], alone["pool"]) == (125, None)
    pooled, unpooled = (result["measures"]["sufficiency"] for result in (payload, alone))
    assert pooled["verified"] > unpooled["verified"]
    assert pooled["high"] - pooled["low"] < unpooled["high"] - unpooled["low"]
