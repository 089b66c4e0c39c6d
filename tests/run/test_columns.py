"""Columns that the model does not see change no number, and can still group, weigh and name rows."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.tree import DecisionTreeClassifier

import faithkit
from faithkit.errors import InputError

N = 60
RNG = np.random.default_rng(1)
SEEN = ["age", "debt"]
TABLE = pd.DataFrame(
    {
        "day": pd.date_range("2026-01-01", periods=N),
        "debt": RNG.normal(size=N).round(1),
        "customer": np.arange(N) // 2 + 4700,
        "weight": RNG.integers(1, 4, N),
        "age": RNG.integers(20, 60, N),
        "branch": RNG.choice(["north", "south"], N),
    }
)
MODEL = DecisionTreeClassifier(max_depth=3, random_state=0).fit(
    TABLE[SEEN], np.where(TABLE["debt"] + TABLE["age"] / 40 > 1, "no", "yes")
)
UNUSED = "The model does not use the columns 'day', 'customer', 'weight', 'branch'."


def by_sign(X):
    return [f"debt > 0 is {debt > 0}" for debt in X["debt"]]


def told(result):
    payload = result.to_dict()
    payload.pop("notes")
    return payload


@one_test
@pytest.mark.parametrize("explainer", ["shap", "tree:max_depth=2", "anchors", by_sign])
def test_columns_that_the_model_does_not_see_change_nothing(explainer):
    options = {"explainer": explainer, "discretizer": "1fp" if explainer == "shap" else None}
    rows = TABLE[:8]
    more = faithkit.evaluate(MODEL, rows, background=TABLE.drop(columns="day"), **options)
    alone = faithkit.evaluate(MODEL, rows[SEEN], background=TABLE[SEEN], **options)
    assert told(more) == told(alone)
    assert more.notes[0] == UNUSED
    assert UNUSED in " ".join(str(more).split())
    assert alone.notes == more.notes[1:]


def evaluated(X=TABLE, **given):
    return faithkit.evaluate(MODEL, X, explainer=by_sign, **given)


def test_a_sample_that_is_its_own_background_is_the_same_rows_to_whoever_learns():
    rows = pd.concat([TABLE] * 20, ignore_index=True)  # more than a discretizer learns from
    rows["debt"] += np.arange(len(rows)) / 1e4
    asked = {"explainer": lambda X: X[["debt"]].to_numpy(), "discretizer": "quantile:bins=4"}
    whole = faithkit.evaluate(MODEL, rows, background=rows, **asked)
    narrow = rows[SEEN]
    assert told(whole) == told(faithkit.evaluate(MODEL, narrow, background=narrow, **asked))


def test_columns_in_another_order_are_put_right():
    assert told(evaluated(TABLE[SEEN[::-1]])) == told(evaluated(TABLE[SEEN]))


def test_weights_and_clusters_are_read_from_columns_that_the_model_does_not_see():
    named = evaluated(weights="weight", clusters="customer")
    given = evaluated(TABLE[SEEN], weights=TABLE["weight"], clusters=TABLE["customer"])
    assert told(named) == told(given)


def test_a_pool_may_have_other_columns_beside_those_of_the_model():
    pool = TABLE[["weight", *SEEN]].iloc[:20].assign(shift="late")
    asked = {"explainer": "tree:max_depth=2", "background": TABLE}
    named = faithkit.evaluate(MODEL, TABLE, pool=pool, weights="weight", **asked)
    weights = np.concatenate([TABLE["weight"], pool["weight"]])
    result = faithkit.evaluate(MODEL, TABLE[SEEN], pool=pool[SEEN], weights=weights, **asked)
    assert told(named) == told(result)
    assert named.design.pool == 20


def test_groups_are_read_from_a_column_that_the_model_does_not_see_in_groups_of_groups_too():
    result = evaluated()
    parts = result.by("branch")
    assert [part.n for part in parts.values()] == TABLE.groupby("branch").size().tolist()
    assert parts["north"].by("customer").name == "customer"
    later = result.on(TABLE[["branch", *SEEN]].iloc[:30])
    assert later.notes == ("The model does not use the column 'branch'.",)
    assert sum(part.n for part in later.by("branch").values()) == 30


def test_a_new_row_and_witnesses_show_the_columns_that_the_model_sees():
    result = evaluated()
    assert list(result.local(TABLE.iloc[[7]]).values) == SEEN
    assert set(result.violations(1)[0].witnesses[0].values) == set(SEEN)
    with pytest.raises(InputError, match="the new row lacks 'age'"):
        result.local(TABLE.iloc[[7]].drop(columns="age"))


@one_test
@pytest.mark.parametrize("role", ["X", "background", "pool"])
def test_a_column_that_the_model_needs_is_named_where_it_lacks(role):
    tables = {"X": TABLE, "background": TABLE, "pool": TABLE} | {role: TABLE.drop(columns="debt")}
    who = role if role == "X" else f"the {role}"
    with pytest.raises(InputError, match=f"^{who} lacks 'debt'; expected the columns that the model was"):
        faithkit.evaluate(MODEL, explainer="tree", **tables)


def test_a_model_without_names_sees_the_whole_table():
    seen = []

    def model(X):
        seen.append(list(X))
        return X["debt"] > 0

    assert faithkit.evaluate(model, TABLE, explainer=by_sign).notes == ()
    assert seen[0] == list(TABLE)


def test_what_was_said_of_columns_survives_a_file(tmp_path):
    result = evaluated()
    result.to_json(tmp_path / "found.json")
    assert faithkit.load(tmp_path / "found.json").notes == result.notes
