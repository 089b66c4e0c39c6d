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
USED = ["age", "debt"]
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
    TABLE[USED], np.where(TABLE["debt"] + TABLE["age"] / 40 > 1, "no", "yes")
)
UNUSED = "The model does not use the columns 'day', 'customer', 'weight', 'branch'."


def explain_by_sign(X):
    return [f"debt > 0 is {debt > 0}" for debt in X["debt"]]


def payload_without_notes(result):
    payload = result.to_dict()
    payload.pop("notes")
    return payload


@one_test
@pytest.mark.parametrize("explainer", ["shap", "tree:max_depth=2", "anchors", explain_by_sign])
def test_columns_that_the_model_does_not_see_change_nothing(explainer):
    options = {"explainer": explainer, "discretizer": "1fp" if explainer == "shap" else None}
    rows, background = TABLE[:4], TABLE[:30]  # three are predicted "no", one "yes"
    more = faithkit.evaluate(MODEL, rows, background=background.drop(columns="day"), **options)
    alone = faithkit.evaluate(MODEL, rows[USED], background=background[USED], **options)
    assert payload_without_notes(more) == payload_without_notes(alone)
    assert str(more.rows.explanations.values) == str(alone.rows.explanations.values)
    assert more.notes[0] == UNUSED
    assert UNUSED in " ".join(str(more).split())
    assert alone.notes == more.notes[1:]


def evaluate(X=TABLE, **options):
    return faithkit.evaluate(MODEL, X, explainer=explain_by_sign, **options)


def test_a_discretizer_learns_from_the_same_rows_if_the_sample_is_its_own_background():
    rows = pd.concat([TABLE] * 20, ignore_index=True)  # more than a discretizer learns from
    rows["debt"] += np.arange(len(rows)) / 1e4
    options = {"explainer": lambda X: X[["debt"]].to_numpy(), "discretizer": "quantile:bins=4"}
    whole = faithkit.evaluate(MODEL, rows, background=rows, **options)
    narrow = rows[USED]
    assert payload_without_notes(whole) == payload_without_notes(
        faithkit.evaluate(MODEL, narrow, background=narrow, **options)
    )


def test_columns_in_another_order_are_put_right():
    assert payload_without_notes(evaluate(TABLE[USED[::-1]])) == payload_without_notes(evaluate(TABLE[USED]))


def test_weights_and_clusters_are_read_from_columns_that_the_model_does_not_see():
    named = evaluate(weights="weight", clusters="customer")
    listed = evaluate(TABLE[USED], weights=TABLE["weight"], clusters=TABLE["customer"])
    assert payload_without_notes(named) == payload_without_notes(listed)


def test_a_pool_may_have_other_columns_beside_those_of_the_model():
    pool = TABLE[["weight", *USED]].iloc[:20].assign(shift="late")
    options = {"explainer": "tree:max_depth=2", "background": TABLE}
    rows = TABLE[30:]
    named = faithkit.evaluate(MODEL, rows, pool=pool, weights="weight", **options)
    weights = np.concatenate([rows["weight"], pool["weight"]])
    result = faithkit.evaluate(MODEL, rows[USED], pool=pool[USED], weights=weights, **options)
    assert payload_without_notes(named) == payload_without_notes(result)
    assert named.design.pool == 20


def test_groups_are_read_from_a_column_that_the_model_does_not_see_in_groups_of_groups_too():
    result = evaluate()
    parts = result.by("branch")
    assert [part.n for part in parts.values()] == TABLE.groupby("branch").size().tolist()
    assert parts["north"].by("customer").name == "customer"
    later = result.on(TABLE[["branch", *USED]].iloc[:30])
    assert later.notes == ("The model does not use the column 'branch'.",)
    assert sum(part.n for part in later.by("branch").values()) == 30


def test_a_new_row_and_pairs_show_the_columns_that_the_model_sees():
    result = evaluate()
    assert list(result.local(TABLE.iloc[[7]]).values) == USED
    assert set(result.contradictions(1)[0].pair[0].values) == set(USED)
    with pytest.raises(InputError, match="the new row lacks 'age'"):
        result.local(TABLE.iloc[[7]].drop(columns="age"))


@one_test
@pytest.mark.parametrize("role", ["X", "background", "pool"])
def test_a_column_that_the_model_needs_is_named_where_it_lacks(role):
    tables = {"X": TABLE, "background": TABLE, "pool": TABLE} | {role: TABLE.drop(columns="debt")}
    table = role if role == "X" else f"the {role}"
    with pytest.raises(InputError, match=f"^{table} lacks 'debt'; expected the columns that the model was"):
        faithkit.evaluate(MODEL, explainer="tree", **tables)


def test_a_model_without_names_sees_the_whole_table():
    columns = []

    def model(X):
        columns.append(list(X))
        return X["debt"] > 0

    assert faithkit.evaluate(model, TABLE, explainer=explain_by_sign).notes == ()
    assert columns[0] == list(TABLE)


def test_notes_about_columns_survive_a_file(tmp_path):
    result = evaluate()
    result.write(tmp_path / "result.json")
    assert faithkit.load(tmp_path / "result.json").notes == result.notes


@one_test
@pytest.mark.parametrize("explainer", ["shap", "empirical-anchors"])
def test_a_background_is_read_in_the_form_of_the_sample(explainer):
    X, background = TABLE[USED][:20], TABLE[USED][20:]

    def predict(X):
        return np.asarray(X)[:, 1] * 1.0  # numbers have scores

    results = [
        faithkit.evaluate(predict, rows, explainer, background=other_rows)
        for rows in (X, X.to_numpy())
        for other_rows in (background, background.to_numpy())
    ]
    for result in results[1:]:
        assert result.consistency.estimate == pytest.approx(results[0].consistency.estimate)
        assert result.sufficiency.estimate == pytest.approx(results[0].sufficiency.estimate)
