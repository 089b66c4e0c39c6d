"""Two explainers of the same rows: what they are taken from, what is refused, and what is told of them."""

import json
import re
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from consoles import run
from faithkit_feature_importance import agreement, agreements
from jsonschema import Draft7Validator
from looping import one_test
from pages import page_of

import faithkit

PHI = np.array([[0.5, -0.3, 0.1], [0.2, 0.4, 0.0], [-0.6, 0.1, 0.2]])
LABELS = ["yes", "no", "yes"]


def name_columns(columns, values=PHI, **shared):
    return faithkit.Explanations.vectors(values, shared={"names": list(columns), **shared})


def read_values(result):
    return {name: mean.value for name, mean in result.measures.items()}


FORMS = {
    "a table": pd.DataFrame(PHI, columns=list("abc")),
    "a table in another order": pd.DataFrame(PHI, columns=list("abc"))[["c", "a", "b"]],
    "dicts": [dict(zip("abc", row, strict=True)) for row in PHI],
    "an array, by place": PHI,
    "explanations": name_columns("abc"),
    "explanations with an offset": name_columns("abco", np.hstack([PHI, [[9]] * 3]), offsets=1),
    "a result": faithkit.score(LABELS, pd.DataFrame(PHI, columns=list("abc"))),
    "a result, whatever its discretizer": faithkit.score(
        LABELS, pd.DataFrame(PHI, columns=list("abc")), discretizer="sign"
    ),
}


@one_test
@pytest.mark.parametrize("form", FORMS)
def test_importances_are_taken_in_any_form_and_matched_by_name(form):
    result = agreement(name_columns("abc"), FORMS[form], k=2)
    assert read_values(result) == dict.fromkeys(result.measures, 1.0)


def test_rows_that_either_does_not_explain_are_left_out_and_counted():
    partial = faithkit.Explanations.vectors(PHI, missing=[True, False, False])
    with_gap = np.vstack([PHI[:1], PHI[1:2], [[np.nan] * 3]])
    result = agreement(partial, with_gap, k=1, names=("shap", "lime"))
    assert (result.n, result.unexplained) == (1, {"shap": 1, "lime": 1})
    assert result.measures["feature agreement"].n == 1
    assert result.rows.notna().all(axis=1).tolist() == [False, True, False]
    assert "1 instance left out: shap does not explain them." in str(result)
    none = agreement(np.full((2, 2), np.nan), PHI[:2, :2])
    assert none.n == 0
    assert set(read_values(none).values()) == {None}
    assert "unknown" in repr(none)


@one_test
@pytest.mark.parametrize(("d", "expected"), [(1, 1), (2, 1), (3, 2), (9, 5), (10, 5), (40, 5)])
def test_by_default_five_are_compared_or_half_of_few(d, expected):
    assert agreement(np.ones((1, d)), np.ones((1, d))).k == expected


REFUSED = {
    "k is 4, and the explanations have 3 features: choose a smaller k": lambda: agreement(PHI, PHI, 4),
    "k must be": lambda: agreement(PHI, PHI, 0),
    "the first explains 3 rows, the second 2: give importances of the same rows": lambda: agreement(
        PHI, PHI[:2]
    ),
    "the first has importances of 3 features, the second of 2": lambda: agreement(PHI, PHI[:, :2]),
    "only the first has 'sex'; only the second has 'sex=f', 'sex=m'; give both importances of the same": (
        lambda: agreement(
            name_columns(["age", "job", "sex"]), name_columns(["age", "job", "sex=f", "sex=m"], np.eye(4)[:3])
        )
    ),
    "only the second has 'a0', 'a1', 'a10' and 9 more": lambda: agreement(
        name_columns("abc"), name_columns([*"abc", *(f"a{i}" for i in range(12))], np.zeros((3, 15)))
    ),
    "has two features named 'a'": lambda: agreement(name_columns("abc"), name_columns("aab")),
    "target=positive means, the second that of target=predicted: give both explainers the same": lambda: (
        agreement(name_columns("abc", target="positive"), name_columns("abc", target="predicted"))
    ),
    "explains the prediction 'yes' in row 0, the second 'no': give results of one model": lambda: agreement(
        faithkit.score(LABELS, PHI, X=PHI), faithkit.score(["no"] * 3, PHI, X=PHI)
    ),
    "the same rows in another order": lambda: agreement(
        faithkit.score(LABELS, PHI, X=PHI), faithkit.score(LABELS, PHI, X=PHI[::-1])
    ),
    "the first gives explanations of kind 'value', and importances": lambda: agreement(["a", "b", "c"], PHI),
    "confidence": lambda: agreement(PHI, PHI, confidence=1.5),
    "agreements needs a faithkit.results.Comparison, got Evaluation": lambda: agreements(
        faithkit.score(LABELS, PHI)
    ),
    "row 1 has an infinite importance": lambda: agreement(PHI, [[1.0], [np.inf], [1.0]]),
    "'d' is no feature: choose two or more among a, b, c": lambda: agreement(
        name_columns("abc"), PHI, among=["a", "d"]
    ),
    "1 of them have no order": lambda: agreement(name_columns("abc"), PHI, among="a"),
    "with the same discretizer, and there is only: give two explainers": lambda: agreements(
        faithkit.results.Comparison({"only": faithkit.score(LABELS, PHI)})
    ),
}


@one_test
@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_compared_is_refused_in_one_line(message):
    with pytest.raises(faithkit.errors.FaithkitError) as refused:
        REFUSED[message]()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def make_sample(n=30):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 4)).round(1), columns=list("abcd"))
    return X, np.where(X["a"] > 0, "yes", "no")


def test_results_tell_who_is_more_faithful_and_count_by_weight():
    X, labels = make_sample()
    weights = np.arange(1, 31)
    good, poor = (
        faithkit.score(labels, phi, X=X, discretizer="sign-of-top:k=1", weights=weights, confidence=0.9)
        for phi in (X.assign(a=X["a"] * 9 + 0.01), X.assign(b=X["b"] * 9 + 0.01))
    )
    result = agreement(good, poor, k=1)
    assert result.differences == {
        measure: good.difference(poor, measure) for measure in ("consistency", "sufficiency")
    }
    rows = result.rows["feature agreement"]
    assert result.measures["feature agreement"].value == pytest.approx(np.average(rows, weights=weights))
    assert result.confidence == 0.9


@pytest.mark.usefixtures("few_control_draws")
def test_all_pairs_of_one_discretizer_are_told_with_their_comparison(tmp_path):
    X, labels = make_sample()
    compared = faithkit.results.Comparison(
        {
            name: faithkit.score(labels, X * sign, discretizer=way)
            for name, sign, way in (("plus", 1, "sign"), ("minus", -1, "sign"), ("rank", 1, "rank"))
        }
    )
    result = agreements(compared, k=2)
    assert [pair.names for pair in result.pairs] == [("plus", "minus")]
    assert result.to_frame()["measure"].tolist() == list(result.pairs[0].measures)
    result.write(tmp_path / "agreements.json")
    payload = json.loads((tmp_path / "agreements.json").read_text())
    assert payload["agreements"][0]["measures"]["sign agreement"]["value"] == 0.0
    assert faithkit.load(tmp_path / "agreements.json").best() == compared.best()
    assert str(result).endswith(f"\n\n{compared}")
    assert all(len(line) <= 80 for line in str(result).splitlines())
    assert "consistency: plus minus minus" in str(result)
    assert "<strong>Agreement of explainers</strong>" in result._repr_html_()


@pytest.mark.slow
def test_a_page_has_a_section_about_agreement_before_all_else():
    X, labels = make_sample()
    results = {name: faithkit.score(labels, sign * X) for name, sign in (("<plus>", 1), ("minus", -1))}
    page = page_of(agreements(faithkit.results.Comparison(results)))
    assert page.index("<h2>Agreement of explainers</h2>") < page.index("<h2>Consistency</h2>")
    assert len(re.findall("<th[^>]*>feature agreement</th>", page)) == 1
    assert "<plus>" not in page


@pytest.mark.usefixtures("few_control_draws", "no_next_steps")
def test_the_verb_takes_the_options_of_compare_and_writes_what_its_schema_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, labels = make_sample()
    X.assign(y=labels).to_csv("rows.csv", index=False)
    command = (
        "agreement",
        "--data",
        "rows.csv",
        "--target",
        "y",
        "--model",
        "logistic",
        "--discretize",
        "sign",
    )
    both = ("--explainer", "gradient", "--explainer", "gradient:offset=true")
    done = run(
        *command,
        *both,
        "--k",
        2,
        "--among",
        "a,b",
        "--out",
        "-",
        "--format",
        "csv",
        "--out",
        "agreement.json",
    )
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(pd.io.common.StringIO(done.stdout))
    assert frame["value"].tolist() == [1.0] * 6
    folder = files("faithkit_feature_importance.explainer_agreement")
    schema = json.loads(folder.joinpath("agreement.schema.json").read_text("utf-8"))
    Draft7Validator.check_schema(schema)
    Draft7Validator(schema).validate(json.loads((tmp_path / "agreement.json").read_text("utf-8")))
    described = [field for part in schema["definitions"].values() for field in part["properties"].values()]
    assert all(field["description"] for field in described)
    refused = run(*command, *both, "--k", 9, "--samples", 9)
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert "choose a smaller k" in refused.stderr
