"""Explanation columns belong to features by name, or in the order in which the user typed them."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import ParquetLog, open_log
from faithkit.inputs.pairing import DEFAULT_RELATION, pair_columns, read_pairs
from faithkit.run.populations.log_scoring import score_log

N = 60


@pytest.fixture
def few_control_draws():
    """Draw the control ten times: a saved result has no fewer draws."""


def make_log():
    """Return rows whose label follows `b` where w_b is larger, else `a`; u and v are w_a and w_b."""
    rng = np.random.default_rng(3)
    a, b, is_b = rng.integers(0, 3, N), rng.integers(0, 3, N), rng.random(N) < 0.5
    weights = {"w_a": np.where(is_b, 0.1, 0.9), "w_b": np.where(is_b, 0.8, 0.2)}
    label = np.where(np.where(is_b, b, a) > 0, "yes", "no")
    return pd.DataFrame({"a": a, "b": b, **weights, "u": weights["w_a"], "v": weights["w_b"], "label": label})


LOG = make_log()


def count_sufficiency(explanation, features):
    """Return the share of the others that have the same value of the most important feature, by counting."""
    shares = []
    for i in range(N):
        top = features[int(np.argmax(LOG.loc[i, explanation].to_numpy(float)))]
        others = [j for j in range(N) if j != i and LOG[top][j] == LOG[top][i]]
        shares.append(np.mean([LOG["label"][j] == LOG["label"][i] for j in others]))
    return np.mean(shares)


def run_score(path, explanation, features, *options):
    columns = ("--prediction", "label", "--explanation", explanation, "--features", features)
    return CliRunner().invoke(main, ["score", str(path), *columns, "--diagnose", "none", *options])


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, row_group_size=20)
    return path


ORDERS = list(itertools.permutations(["a", "b", "u", "v"]))[::5]
TYPED = {  # what the user types, and which columns belong together
    ("w_a,w_b", "a,b"): (["w_a", "w_b"], ["a", "b"]),
    ("w_a,w_b", "b,a"): (["w_a", "w_b"], ["a", "b"]),
    ("w_*", "a,b"): (["w_a", "w_b"], ["a", "b"]),
    ("u,v", "a,b"): (["u", "v"], ["a", "b"]),
    ("v,u", "a,b"): (["v", "u"], ["a", "b"]),
    ("u,v", "b,a"): (["u", "v"], ["b", "a"]),
}


@one_test
@pytest.mark.parametrize("typed", TYPED)
def test_sufficiency_of_a_log_is_that_of_the_typed_columns_in_any_order_of_the_file(typed, tmp_path):
    explanation, features = TYPED[typed]
    expected = count_sufficiency(explanation, features)
    for number, order in enumerate(ORDERS):
        frame = LOG[[*order, "w_b", "label", "w_a"] if number % 2 else ["w_a", "label", "w_b", *order]]
        path = write(frame, tmp_path / f"log{number}{['.csv', '.parquet'][number // 2 % 2]}")
        run = run_score(path, *typed, "--relation", "same-top-features:k=1", "--out", "-", "--format", "json")
        payload = json.loads(run.stdout)
        assert payload["measures"]["sufficiency"]["value"] == pytest.approx(expected)
        assert sorted(payload["pairs"]) == sorted(map(list, zip(explanation, features, strict=True)))


def test_swapped_pairs_are_another_number():
    assert abs(count_sufficiency(["u", "v"], ["a", "b"]) - count_sufficiency(["v", "u"], ["a", "b"])) > 0.1


@one_test
@pytest.mark.parametrize("columns", [["w_a", "w_b"], ["w_b", "w_a"], ["u", "v"]])
def test_frames_in_python_are_paired_like_logs(columns):
    X, phi = LOG[["a", "b"]], LOG[columns]
    for explanations in (phi, faithkit.plugin.adapt(phi, X=X)):
        result = faithkit.score(LOG["label"], explanations, X, relation="same-top-features:k=1")
        expected = count_sufficiency(sorted(columns), ["a", "b"])
        assert result.sufficiency.value == pytest.approx(expected)
        assert result.rows.explanations.relation == DEFAULT_RELATION


PAIRS = [  # explanation columns and features, and the explanation column of each feature
    (["age", "sex"], ["sex", "age"], ["sex", "age"]),
    (["phi_age", "phi_sex"], ["sex", "age"], ["phi_sex", "phi_age"]),
    (["age_shap", "sex_shap"], ["sex", "age"], ["sex_shap", "age_shap"]),
    (["φ(x)", "φ(y)"], ["y", "x"], ["φ(x)", "φ(y)"]),  # a prefix and a suffix: by position
    (["phi_1", "phi_11"], ["11", "1"], ["phi_11", "phi_1"]),
    (["w0", "w1"], ["age", "sex"], ["w0", "w1"]),
    (["alpha", "beta"], ["a", "t"], ["alpha", "beta"]),  # chance: nothing is common to both
    (["age <= 30", "sex = f"], ["sex", "age"], ["age <= 30", "sex = f"]),
    (["1"], [1], ["1"]),
]


@one_test
@pytest.mark.parametrize(("names", "features", "expected"), PAIRS)
def test_columns_are_paired_by_name_else_by_position(names, features, expected):
    values = np.arange(float(len(names)))[None, :]
    X = pd.DataFrame([[0] * len(features)], columns=features)
    paired = pair_columns(Explanations.vectors(values, shared={"names": names}), X)
    assert read_pairs(paired) == tuple(zip(expected, map(str, features), strict=True))
    assert paired.values.tolist() == [[names.index(name) for name in expected]]
    assert paired.relation == DEFAULT_RELATION


def test_offsets_stay_last_and_the_identity_moves_with_the_values():
    identity = pd.DataFrame({"phi_sex": [2**53 + 1], "phi_age": [5], "base": [7]})
    names = {"names": list(identity), "offsets": 1}
    phi = Explanations(kind="vector", values=np.array([[2.0**53, 5.0, 7.0]]), identity=identity, shared=names)
    paired = pair_columns(phi, pd.DataFrame({"age": [1], "sex": [1]}))
    assert paired.values.tolist() == [[5.0, 2.0**53, 7.0]]
    assert paired.identity.to_numpy().tolist() == [[5, 2**53 + 1, 7]]
    assert paired.shared["names"] == ["phi_age", "phi_sex", "base"]


REFUSED = [  # explanation columns, features, and what the error names
    ("phi_age,phi_sx", "age,sex", "no feature for 'phi_sx', and no explanation column for 'sex'"),
    ("phi_age,phi_sx", "age,sex", "Explanation columns: 'phi_age', 'phi_sx'. Features: 'age', 'sex'."),
    ("phi_age,phi_sex,base", "age,sex", "no feature for 'base'. Explanation columns"),
    ("age,phi_sex", "age,sex", "no feature for 'phi_sex', and no explanation column for 'sex'"),
    (
        "x_?,!x_a",
        "age,sex",
        "'x_?' would pair them in the order of the file. Explanation columns: 'x_1', 'x_2'",
    ),
    ("x_1,x_2", "*_a", "'*_a' would pair them in the order of the file."),
    ("phi_x_a", "a,x_a", "'phi_x_a' may be about 'x_a' or 'a'"),
]
NAMES = ["phi_age", "phi_sex", "phi_sx", "base", "age", "sex", "x_1", "x_2", "phi_x_a", "a", "x_a"]


@one_test
@pytest.mark.parametrize(("explanation", "features", "message"), REFUSED)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_that_cannot_be_paired_are_refused_in_one_line(
    explanation, features, message, suffix, tmp_path
):
    frame = pd.DataFrame(np.arange(44.0).reshape(4, 11), columns=NAMES).assign(label=[0, 1, 0, 1])
    run = run_score(write(frame, tmp_path / f"log{suffix}"), explanation, features)
    assert run.exit_code == 1
    assert message in run.stderr.splitlines()[-1]
    if not {"*", "?"} & set(explanation + features):
        names = explanation.split(","), features.split(",")
        with pytest.raises(InputError, match=r"Explanation columns: .* Features: "):
            faithkit.score(frame["label"], frame[names[0]], frame[names[1]])


def test_features_of_one_name_are_refused():
    X = pd.DataFrame([[0, 1]], columns=[1, "1"])
    with pytest.raises(InputError, match="several features are called '1'"):
        pair_columns(Explanations.vectors([[0.1]], shared={"names": ["phi_1"]}), X)


def test_arrays_are_paired_by_position():
    values, X = LOG[["u", "v"]].to_numpy(), LOG[["a", "b"]]
    result = faithkit.score(LOG["label"], values, X.to_numpy(), relation="same-top-features:k=1")
    assert result.sufficiency.value == pytest.approx(count_sufficiency(["u", "v"], ["a", "b"]))
    assert result.to_dict()["pairs"] == [["0", "x0"], ["1", "x1"]]
    assert faithkit.score(LOG["label"], values, X).to_dict()["pairs"] == [["0", "a"], ["1", "b"]]


UNPAIRED = [
    (["u", "v"], ["a", "b", "w_a"], "2 explanation columns cannot be paired with 3 features: give one"),
    (
        ["u", "v"],
        ["a"],
        "2 explanation columns cannot be paired with 1 feature: give one importance for each",
    ),
    (
        ["w_a", "w_b"],
        ["a", "b", "u"],
        "no explanation column is about 'u': leave it out (X=, CLI: --features)",
    ),
]


@one_test
@pytest.mark.parametrize(("names", "features", "reason"), UNPAIRED)
def test_other_numbers_of_columns_have_no_default_relation_and_the_result_says_why(
    names, features, reason, tmp_path
):
    path = write(LOG, tmp_path / "log.parquet")
    results = [
        faithkit.score(LOG["label"], LOG[names], LOG[features]),
        score_log(open_log(str(path), "label", tuple(names), tuple(features))).result,
        score_log(open_log(str(path), "label", tuple(names), tuple(features)).read()).result,
    ]
    for result in results:
        assert result.sufficiency is None
        assert result.why_no_sufficiency.startswith(reason)
        assert "name a relation" in result.why_no_sufficiency
        assert result.to_dict()["pairs"] is None


def test_wildcards_pair_nothing_where_the_numbers_differ(tmp_path):
    run = run_score(write(LOG, tmp_path / "log.csv"), "u,v", "w_*,a", "--out", "-", "--format", "json")
    assert json.loads(run.stdout)["pairs"] is None


def test_only_vectors_and_tables_are_paired():
    words = Explanations.of(["a"])
    assert pair_columns(words, LOG[["a"]].iloc[:1]) is words
    phi = Explanations.vectors([[0.1, 0.2]])
    for X in (None, ["a film"], np.zeros((1, 1, 2))):
        assert pair_columns(phi, X) is phi
    per_class = Explanations.vectors([[0.1, 0.2]], shared={"names": ["0: a", "1: a"], "target": "all"})
    assert pair_columns(per_class, LOG[["a", "b"]].iloc[:1]) is per_class


def test_explanations_of_an_explainer_may_name_more_than_features():
    names = {"names": ["a", "b", "a & b"]}
    terms = Explanations.vectors(np.ones((N, 3)), shared=names)
    result = faithkit.score(LOG["label"], terms, LOG[["a", "b"]])
    assert result.sufficiency is None
    assert result.to_dict()["pairs"] is None


def test_a_declared_relation_is_kept():
    phi = Explanations.vectors(
        LOG[["w_b", "w_a"]].to_numpy(), shared={"names": ["b", "a"]}, relation="nearest"
    )
    paired = pair_columns(phi, LOG[["a", "b"]])
    assert (paired.relation, paired.shared["names"]) == ("nearest", ["a", "b"])


def test_the_pairs_are_shown_in_full_and_saved(tmp_path):
    result = faithkit.score(LOG["label"], LOG[["w_b", "w_a"]], LOG[["a", "b"]])
    assert "explanation columns: w_a about a, w_b about b" in result.to_text(verbose=True)
    assert "w_a about a" not in result.to_text()
    result.write(tmp_path / "result.json")
    assert faithkit.load(tmp_path / "result.json").setup.pairs == (("w_a", "a"), ("w_b", "b"))


def test_pieces_of_a_log_are_paired_like_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "VALUES_PER_BATCH", 40)
    log = open_log(str(write(LOG, tmp_path / "log.parquet")), "label", ("w_b", "w_a"), ("a", "b"))
    assert isinstance(log, ParquetLog)
    pieces = [piece.explanations for piece in log.logs()]
    assert len(pieces) > 2
    assert {piece.relation for piece in pieces} == {DEFAULT_RELATION}
    values = np.concatenate([piece.values for piece in pieces])
    assert np.array_equal(values, LOG[["w_a", "w_b"]].to_numpy())
    assert np.array_equal(values, log.read().explanations.values)


def test_lists_and_maps_of_importances_are_paired(tmp_path):
    rows = [
        {"label": k % 2, "shap": [0.1, 0.9], "w": {"b": 0.2, "a": 0.8}, "b": k % 3, "a": k} for k in range(6)
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    shap = open_log(str(tmp_path / "log.jsonl"), "label", ("shap",), ("b", "a")).explanations
    assert read_pairs(shap) == (("shap[0]", "b"), ("shap[1]", "a"))
    weights = open_log(str(tmp_path / "log.jsonl"), "label", ("w",), ("b", "a")).explanations
    assert weights.values[0].tolist() == [0.2, 0.8]


def test_dicts_are_paired_by_name_only(tmp_path):
    X = LOG[["b", "a"]]
    for names, features in (
        (["b", "a"], [["a", "a"], ["b", "b"]]),
        (["phi_b", "phi_a"], [["phi_a", "a"], ["phi_b", "b"]]),
    ):
        rows = [dict(zip(names, weights, strict=True)) for weights in LOG[["w_b", "w_a"]].to_numpy().tolist()]
        result = faithkit.score(LOG["label"], rows, X, relation="same-top-features:k=1")
        assert sorted(result.to_dict()["pairs"]) == features
        assert result.sufficiency.value == pytest.approx(count_sufficiency(["w_a", "w_b"], ["a", "b"]))
    rows = [{"v": 0.2, "u": 0.8}] * N
    (tmp_path / "log.jsonl").write_text(
        "".join(f"{json.dumps({'label': k % 2, 'w': row, 'b': 1, 'a': k})}\n" for k, row in enumerate(rows))
    )
    in_python = faithkit.score(LOG["label"], rows, X)
    in_a_log = score_log(open_log(str(tmp_path / "log.jsonl"), "label", ("w",), ("b", "a"))).result
    for result in (in_python, in_a_log):
        assert result.to_dict()["pairs"] is None
        assert result.why_no_sufficiency.startswith("no name says which explanation column is about which")


def test_an_explainer_may_return_its_columns_in_another_order():
    X = LOG[["a", "b"]]

    def explain(rows):
        return pd.DataFrame({"b": rows["b"] * 10.0, "a": rows["a"] * 1.0})

    result = faithkit.evaluate(lambda rows: rows["a"] > 0, X, explainer=explain)
    assert np.array_equal(result.rows.explanations.values, X.to_numpy() * [1, 10])
