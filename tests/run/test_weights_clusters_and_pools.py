"""Weights, clusters and pools as people give them: in Python, on the command line, in logs."""

import json
import pickle
import warnings

import brute_unequal
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.errors import InputError
from faithkit.explanations.predicates import Interval
from faithkit.explanations.rules import Rule
from tests.definition import Rows, measure_all, standard_errors

N = 60


def halve(column, value, cut):
    """Return the rule "at most the cut" or "above it", whichever holds."""
    return Rule([Interval(column, high=cut) if value <= cut else Interval(column, low=cut)])


@pytest.fixture(scope="module")
def log():
    """Customers with one to four rows each, weights, a feature, and a rule on it as the explanation."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 10, N)
    rule = [json.dumps(halve("x", a, 4).to_json()) for a in x]
    label = np.where((x > 4) ^ (rng.random(N) < 0.2), "yes", "no")
    customer = np.sort(rng.integers(0, 20, N))
    return pd.DataFrame(
        {"x": x, "rule": rule, "label": label, "customer": customer, "w": rng.integers(1, 5, N)}
    )


def compare_rules(log):
    return [[bool(a == b) for b in log["rule"]] for a in log["rule"]]


def estimate_without_each_unit(log, weights, unit):
    """Return the estimate and the standard error of its lower end, by the definition."""
    one, everybody = np.zeros(N, dtype=int), np.ones(N, dtype=bool)
    rows = Rows(
        explanation=np.unique(log["rule"], return_inverse=True)[1],
        holds=np.array(compare_rules(log)),
        apart=np.not_equal.outer(*[log["label"].to_numpy()] * 2).astype(float),
        weights=weights,
        unit=unit,
        block=one,
        owns=everybody,
        merged=one - 1,
    )
    (_, printed, _, _), *without = measure_all(rows)
    return printed, standard_errors(*without)[0]


def run(*args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result


ROWS = {"prediction": "label", "explanation": "rule", "features": "x"}
FLAGS = [f"--{name}={value}" for name, value in ROWS.items()] + ["--diagnose=none"]


@one_test
@pytest.mark.parametrize(
    ("weights", "clusters", "suffix"),
    [("w", None, "csv"), (None, "customer", "parquet"), ("w", "customer", "parquet")],
)
def test_a_log_is_scored_by_weights_and_clusters_of_its_columns(tmp_path, log, weights, clusters, suffix):
    path = tmp_path / f"log.{suffix}"
    log.to_csv(path, index=False) if suffix == "csv" else log.to_parquet(path)
    roles = [
        f"--{name}={column}" for name, column in (("weights", weights), ("clusters", clusters)) if column
    ]
    payload = json.loads(run("score", path, *FLAGS, *roles, "--out", "-", "--format", "json").stdout)
    columns = [
        log["label"],
        log[weights] if weights else np.ones(N),
        log[clusters] if clusters else np.arange(N),
    ]
    expected = brute_unequal.estimate(compare_rules(log), *(list(column) for column in columns))
    consistency = payload["measures"]["consistency"]
    assert (consistency["value"], consistency["verified"]) == pytest.approx(expected)
    unit = np.unique(columns[2], return_inverse=True)[1]
    assert (consistency["estimate"], consistency["se"]) == pytest.approx(
        estimate_without_each_unit(log, np.asarray(columns[1], dtype=float), unit)
    )
    assert payload["clusters"] == (log["customer"].nunique() if clusters else None)
    assert payload["measures"]["sufficiency"]["value"] == pytest.approx(expected[0])  # the rules are disjoint


def test_weights_and_clusters_go_to_groups_and_comparisons(log):
    design = {"weights": log["w"], "clusters": log["customer"]}
    result = faithkit.score(log["label"], log["rule"], X=log[["x"]], **design)
    part = log["x"] % 2 == 0
    again = faithkit.score(
        log["label"][part], log["rule"][part], weights=log["w"][part], clusters=log["customer"][part]
    )
    consistency = result.by(part.tolist())[True].consistency
    assert consistency.value == pytest.approx(again.consistency.value)
    assert consistency.se == pytest.approx(again.consistency.se)
    other = faithkit.score(log["label"], ["same"] * N, X=log[["x"]], **design)
    assert result.difference(other).low < result.consistency.value - other.consistency.value


def test_names_of_columns_will_do(log):
    named = faithkit.score(log["label"], log["rule"], X=log, weights="w", clusters="customer")
    result = faithkit.score(log["label"], log["rule"], X=log, weights=log["w"], clusters=log["customer"])
    assert named.to_dict() == result.to_dict()


def test_the_unit_of_weights_does_not_matter(log):
    in_ones, in_quarters = (
        faithkit.score(log["label"], log["rule"], weights=log["w"] * unit).consistency for unit in (1, 0.25)
    )
    for name in ("value", "estimate", "se", "low", "high", "chance"):
        assert getattr(in_ones, name) == pytest.approx(getattr(in_quarters, name), rel=1e-9), name


def test_a_result_with_weights_is_saved_and_loaded(tmp_path, log):
    result = faithkit.score(log["label"], log["rule"], weights=log["w"], clusters=log["customer"])
    result.write(tmp_path / "r.json")
    loaded = faithkit.load(tmp_path / "r.json")
    assert loaded.to_dict() == result.to_dict()
    assert loaded.difference(result, paired=False).value == 0
    assert "worth" in str(loaded)


def test_what_is_local_counts_rows_and_shares_weights():
    """Row 0 shares with 1 (itself again), 2 (same label, weight 3) and 3 (another label, weight 1)."""
    design = {"weights": [1, 1, 3, 1], "clusters": ["a", "a", "b", "c"]}
    local = faithkit.score([0, 0, 0, 1], ["e"] * 4, **design).local(0).consistency
    assert (local.holds_for, local.agree, local.value) == (4, 3, 0.75)


def test_a_row_is_not_contradicted_by_its_own_cluster():
    result = faithkit.score(["yes", "no", "no"], ["e"] * 3, clusters=["a", "a", "b"])
    assert [row.row for row in result.local(0).contradicted_by] == [2]
    assert result.contradictions()[0].rows == (0, 2)


# --- pools ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"debt": rng.random(400), "income": rng.random(400)})
    return X, (X["debt"] > 0.4).to_numpy() ^ (rng.random(400) < 0.1)


def explain(X):
    rules = [halve("debt", a, 0.4) for a in X["debt"]]
    return faithkit.Explanations.of(rules, kind="rule", relation="in-scope", instances=X)


def test_rules_are_checked_against_the_pool_too(loans):
    X, y = loans
    few, more = X[:20], X[20:].reset_index(drop=True)
    result = faithkit.score(y[:20], explain(few), X=few, pool=(more, y[20:]))
    above = (X["debt"] > 0.4).to_numpy()
    shares = [
        np.delete(y[above == above[i]] == y[i], (above[:i] == above[i]).sum()).mean() for i in range(20)
    ]
    assert result.sufficiency.value == pytest.approx(np.mean(shares))
    assert result.design.pool == 380
    assert result.consistency.value == faithkit.score(y[:20], explain(few)).consistency.value
    assert "20 rows explained, checked against 380 more" in str(result)


def test_a_pair_may_be_in_the_pool():
    X = pd.DataFrame({"debt": [0.5, 0.6, 0.7]})
    result = faithkit.score(["no", "no"], explain(X[:2]), X=X[:2], pool=(X[2:], ["yes"]))
    [worst] = result.contradictions()
    assert worst.pair[1].place == "row 0 of the pool"
    assert worst.predictions == {"no": 2, "yes": 1}
    assert worst.to_dict()["pair"][1]["in_pool"] is True
    assert result.local(0).sufficiency.holds_for == 3


def owes_much(rows):
    return rows["debt"] > 0.5


def test_a_new_row_is_checked_against_the_pool_and_a_copy_is_the_same(loans):
    X, _ = loans
    result = faithkit.evaluate(owes_much, X[:20], explainer=explain, relation="in-scope", pool=X[20:])
    expected = (
        faithkit.evaluate(owes_much, X, explainer=explain, relation="in-scope").local(X[:1]).sufficiency
    )
    assert result.local(X[:1]).sufficiency == expected
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()


@one_test
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"explanations": [[0.1]] * 20},
            "the pool cannot be used: sufficiency is what it is for, and 1 explanation column",
        ),
        ({"relation": "same-explanation"}, "same-explanation reads the explanations of the rows"),
        (
            {"weights": list(range(1, 21))},
            "20 weights, and the pool has 380 rows more: give 400, those of its rows last",
        ),
        ({"pool": "rows"}, "the pool is a str: a score has no model, so give a pair"),
        (
            {"pool": (pd.DataFrame({"debt": [1.0], "income": [1.0]}), [1, 2])},
            "2 predictions for 1 rows of the",
        ),
        (
            {"pool": (pd.DataFrame({"debt": [1.0]}), [1])},
            "the pool lacks 'income'; expected the columns of X",
        ),
        (
            {"pool": (np.zeros((1, 2)), [True])},
            "the pool is a ndarray and X a DataFrame: give both in one form",
        ),
        (
            {"pool": (pd.DataFrame({"debt": ["high"], "income": [1.0]}), [True])},
            "the pool's column 'debt' has words, and that of X numbers: write both alike",
        ),
        (
            {"pool": (pd.DataFrame({"debt": [1.0], "income": [1.0]}), ["1"])},
            r"none of the pool's predictions \('1'\) is one of the sample's",
        ),
        (
            {"pool": (pd.DataFrame({"debt": [1.0], "income": [1.0]}), [None])},
            "the pool: 1 of 1 predictions are",
        ),
        (
            {"pool": (pd.DataFrame({"debt": [1.0], "income": [1.0]}), None)},
            "the pool's predictions are a NoneType",
        ),
        ({"X": None}, "a pool is compared with the rows of the sample, which are missing: give them as X"),
    ],
)
def test_a_pool_that_cannot_be_used_is_refused(loans, change, message):
    X, y = loans
    arguments = {"explanations": explain(X[:20]), "X": X[:20], "pool": (X[20:], y[20:])} | change
    with pytest.raises(InputError, match=message):
        faithkit.score(y[:20], **arguments)


def test_what_samples_leave_is_the_pool_and_training_rows_are_not(tmp_path):
    path = tmp_path / "r.json"
    command = ["evaluate", "--data", "iris", "--explainer", "tree", "--samples", 30]
    printed = run(*command, "--out", path).stdout
    payload = json.loads(path.read_text())
    test_rows = 51  # 34 % of 150
    assert (payload["n"], payload["pool"]) == (30, test_rows - 30)
    assert "30 rows explained, checked against 21 more" in printed
    assert "checked against" not in run(*command, "--pool", "none").stdout


def test_a_pool_in_a_file_gives_what_its_rows_give(tmp_path, loans):
    X, y = loans
    log = X.assign(label=y.astype(str), rule=[json.dumps(rule.to_json()) for rule in explain(X).values])
    few, more, mixed = (tmp_path / f"{name}.parquet" for name in ("few", "more", "mixed"))
    log[:20].to_parquet(few)
    log[20:].drop(columns="rule").to_parquet(more, row_group_size=150)
    log.assign(rule=log["rule"].where(np.arange(400) < 20)).to_parquet(mixed, row_group_size=150)
    flags = [
        "--prediction",
        "label",
        "--explanation",
        "rule",
        "--features",
        "debt,income",
        "--out",
        "-",
        "--format",
        "json",
    ]
    beside = json.loads(run("score", few, *flags, "--pool", more).stdout)
    within = json.loads(run("score", mixed, *flags, "--unexplained", "pool").stdout)
    expected = faithkit.score(
        y[:20].astype(str), explain(X[:20]), X=X[:20], pool=(X[20:], y[20:].astype(str))
    )
    for payload in (beside, within):
        assert payload["measures"] == expected.to_dict()["measures"]
        assert payload["pool"] == 380


def test_two_pools_are_one_too_many(tmp_path, log):
    log.to_csv(tmp_path / "log.csv", index=False)
    path = str(tmp_path / "log.csv")
    result = CliRunner().invoke(main, ["score", path, *FLAGS, "--pool", path, "--unexplained", "pool"])
    assert result.exit_code == 2
    assert "give one of them" in result.output


# --- pools in files -----------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_model_predicts_the_pool_of_a_file_piece_by_piece(tmp_path, suffix):
    more, path = faithkit.load_dataset("iris").X[:100], tmp_path / f"more.{suffix}"
    more.to_csv(path, index=False) if suffix == "csv" else more.to_parquet(path, row_group_size=40)
    command = [
        "evaluate",
        "--data",
        "iris",
        "--explainer",
        "tree",
        "--samples",
        25,
        "--out",
        "-",
        "--format",
        "json",
    ]
    payload = json.loads(run(*command, "--pool", path).stdout)
    assert payload["pool"] == 100
    assert payload["measures"]["sufficiency"]["verified"] == 1


def test_weights_of_a_pool_come_with_it(tmp_path, loans):
    """From a column of each file, from rows without an explanation, by name, and as one long list."""
    X, y = loans
    w, c = np.arange(400) % 3 + 1, np.arange(400) // 2
    table = X.assign(
        label=y.astype(str), rule=[json.dumps(rule.to_json()) for rule in explain(X).values], w=w, c=c
    )
    few, more, mixed = (tmp_path / f"{name}.csv" for name in ("few", "more", "mixed"))
    table[:20].to_csv(few, index=False)
    table[20:].drop(columns="rule").to_csv(more, index=False)
    table.assign(rule=table["rule"].where(np.arange(400) < 20)).to_csv(mixed, index=False)
    flags = [
        "--prediction",
        "label",
        "--explanation",
        "rule",
        "--features",
        "debt,income",
        "--out",
        "-",
        "--format",
        "json",
    ]
    flags += ["--weights", "w", "--clusters", "c"]
    label, named = y.astype(str), X.assign(w=w, c=c)
    whole = faithkit.score(
        label[:20], explain(X[:20]), X=X[:20], pool=(X[20:], label[20:]), weights=w, clusters=c
    )
    for arguments in ((few, "--pool", more), (mixed, "--unexplained", "pool")):
        payload = json.loads(run("score", *arguments, *flags).stdout)
        assert payload["measures"] == whole.to_dict()["measures"]
    columns = {"X": named[:20], "pool": (named[20:], label[20:]), "weights": "w", "clusters": "c"}
    assert faithkit.score(label[:20], explain(X[:20]), **columns).sufficiency == whole.sufficiency
    assert whole.local(0).sufficiency.holds_for > 20


def test_rows_that_were_not_drawn_keep_their_weights(tmp_path):
    data = faithkit.load_dataset("iris")
    table = data.X.assign(species=data.y, w=np.arange(150) % 4 + 1)
    table.to_csv(tmp_path / "data.csv", index=False)
    roles = ["--data", tmp_path / "data.csv", "--target", "species", "--weights", "w"]
    payload = json.loads(
        run(
            "evaluate", *roles, "--explainer", "tree", "--samples", 40, "--out", "-", "--format", "json"
        ).stdout
    )
    assert payload["pool"] == 11
    assert payload["effective"] < 40
    assert payload["measures"]["sufficiency"]["moments"]["units"]["effective"] == pytest.approx(
        payload["effective"]
    )


# --- the order of columns, rows and weights --------------------------------------------------------------------------------


def test_columns_of_a_pool_stand_in_the_order_of_x(loans):
    X, y = loans
    pools = (X[20:], X[20:][["income", "debt"]])
    in_order, swapped = (
        faithkit.score(y[:20], explain(X[:20]), X=X[:20], pool=(more, y[20:])).to_dict() for more in pools
    )
    assert in_order == swapped
    in_order, swapped = (
        faithkit.evaluate(
            lambda F: np.asarray(F)[:, 0] > 0.5, X[:20], explainer=explain, relation="in-scope", pool=more
        )
        for more in pools
    )
    assert in_order.sufficiency == swapped.sufficiency


def test_what_predictions_are_called_does_not_decide_a_p_value_with_a_pool():
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"debt": rng.random(230)})
    y = rng.random(230) < 0.85  # nothing to do with X
    p = [
        faithkit.score(
            labels[:30], explain(X[:30]), X=X[:30], pool=(X[30:], labels[30:]), permutations=99
        ).sufficiency.p_value
        for labels in (y, ~y)
    ]
    assert p[0] == p[1]
    assert p[0] > 0.05


def test_a_row_counted_from_the_end_is_that_row(loans):
    X, y = loans
    options = {"X": X[:20], "pool": (X[20:], y[20:]), "weights": np.arange(400) % 3 + 1}
    result = faithkit.score(y[:20], explain(X[:20]), **options)
    assert result.local(-1) == result.local(19)
    for row in (20, -21):
        with pytest.raises(InputError, match=f"there is no row {row}: the sample has rows 0 to 19"):
            result.local(row)


def test_contradictions_are_between_rows_that_count_and_of_different_clusters():
    labels, words = ["yes", "no", "yes", "no"], ["e", "e", "f", "f"]
    assert faithkit.score(labels, words, clusters=["p", "p", "q", "r"]).contradictions()[0].rows == (2, 3)
    assert faithkit.score(labels, words, weights=[1, 0, 1, 1]).contradictions()[0].rows == (2, 3)
    assert len(faithkit.score(labels, words, clusters=["p", "p", "q", "r"]).contradictions()) == 1


def test_a_group_without_weight_is_named():
    result = faithkit.score([0, 1, 0, 1], ["e"] * 4, weights=[1, 2, 0, 0])
    with pytest.raises(InputError, match="the rows of group = b: all weights of these rows are 0"):
        result.by(["a", "a", "b", "b"])


def test_later_rows_have_weights_where_the_first_had(loans):
    X, _ = loans
    result = faithkit.evaluate(
        lambda F: F["debt"] > 0.5, X[:50], explainer=explain, weights=np.arange(50) + 1
    )
    with pytest.raises(InputError, match="also give those of the other rows"):
        result.on(X[50:])
    assert result.on(X[50:100], weights=np.arange(50) + 1).design.effective == pytest.approx(
        result.design.effective
    )


def test_clusters_of_one_row_each_silence_the_warning_about_repeated_rows():
    rng = np.random.default_rng(6)
    X, phi = np.repeat(rng.random((2, 20, 5)), 5, axis=1)
    y = np.repeat(rng.integers(0, 2, 20), 5)
    plain, named = (faithkit.score(y, phi, X=X, **options) for options in ({}, {"clusters": np.arange(100)}))
    assert "repeats" in [warning.name for warning in plain.warnings]
    assert "repeats" not in [warning.name for warning in named.warnings]


def test_where_nothing_can_be_exchanged_it_is_said():
    result = faithkit.score([0, 0, 1, 1, 0, 1], ["e"] * 6, clusters=list("aaabbc"), permutations=9)
    assert result.consistency.p_value is None
    assert "No p: no two clusters are of one size." in str(result)


@one_test
@pytest.mark.parametrize("predictions", [[0.5, 0.25, 1.5] * 4, [0, 1, 1] * 4], ids=["numbers", "labels"])
@pytest.mark.parametrize(
    "design",
    [{}, {"weights": [1, 2, 3] * 4}, {"clusters": [row // 2 for row in range(12)]}],
    ids=["equal", "weights", "clusters"],
)
def test_both_measures_have_a_p_value_whatever_was_drawn(predictions, design):
    near = {"relation": "near-explanation:tau=1.5", "permutations": 9}
    result = faithkit.score(predictions, [[1], [2], [4]] * 4, **near, **design)
    for estimate in (result.consistency, result.sufficiency):
        assert 0.1 <= estimate.p_value <= 1
    assert "No p" not in str(result)


def test_a_pool_that_a_named_relation_cannot_use_is_refused_before_anything_is_explained(loans):
    X, _ = loans

    def costly(rows):
        raise AssertionError("it was explained")

    with pytest.raises(InputError, match=r"near-explanation:tau=1\.0 reads the explanations of the rows"):
        faithkit.evaluate(
            lambda F: F["debt"] > 0.5, X[:9], costly, relation="near-explanation:tau=1", pool=X[9:]
        )


@one_test
@pytest.mark.parametrize(
    ("design", "sentence"),
    [
        ({"weights": [1, 2, 3, 4] * 5}, "weights may go with predictions"),
        ({"clusters": list(range(10)) * 2}, "weights and sizes of clusters may go with predictions"),
        (
            {"weights": [1, 2, 3, 4] * 5, "uninformative": True},
            "weights are declared not to go with predictions",
        ),
    ],
)
def test_a_result_says_what_was_assumed_of_weights(design, sentence):
    result = faithkit.score(["y", "n"] * 10, ["a", "b", "a", "a"] * 5, **design)
    assert sentence in " ".join(str(result).split())
    assert result.to_dict()["uninformative"] is design.get("uninformative", False)


def test_without_weights_and_clusters_nothing_is_assumed_of_them():
    assert faithkit.score(["y", "n"] * 10, ["a", "b"] * 10).to_dict()["uninformative"] is None
    with pytest.raises(InputError, match="there are none"):
        faithkit.score(["y", "n"] * 10, ["a", "b"] * 10, uninformative=True)


@pytest.mark.filterwarnings("ignore:.*of the rows repeat another one:faithkit.errors.FaithkitWarning")
def test_with_weights_too_a_pool_with_other_predictions_is_a_test_of_one_label():
    X = pd.DataFrame({"a": np.repeat([0.0, 0.0, 1.0], N)})
    rules = faithkit.Explanations.of([Rule([Interval("a", high=0)])] * N, kind="rule", relation="in-scope")
    pool = X[N:], ["yes"] * N + ["no"] * N
    for weights in (None, np.arange(1.0, 3 * N + 1)):
        result = faithkit.score(["yes"] * N, rules, X[:N], pool=pool, weights=weights, control_draws=0)
        assert result.sufficiency.finding == "above chance"


def test_explanations_without_a_disagreement_are_no_contradictions_even_if_one_weight_exceeds_all_others():
    scores, weights = [[0.57, 0.43]] * 3, [1e-3, 1e3, 1e-2]
    result = faithkit.score(scores, ["a"] * 3, outcome="scores", weights=weights)
    assert not result.contradictions()
    assert result.consistency.value == 1.0


def test_the_p_value_does_not_depend_on_the_order_of_rows_without_an_explanation():
    rng = np.random.default_rng(1)
    vectors, missing = rng.integers(0, 3, (40, 1)).astype(float), rng.random(40) < 0.4
    labels, clusters = (vectors[:, 0] > 1) ^ (rng.random(40) < 0.3), np.arange(40) // 2
    p_values = set()
    for order in (np.arange(40), np.arange(40)[::-1], rng.permutation(40)):
        explanations = faithkit.Explanations.vectors(vectors[order], missing=missing[order])
        options = {"clusters": clusters[order], "permutations": 49}
        p_values.add(faithkit.score(labels[order], explanations, **options).consistency.p_value)
    assert len(p_values) == 1
