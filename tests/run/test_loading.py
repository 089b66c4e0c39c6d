"""Saved results come back with the same numbers and without rows; no other file gives a number."""

import contextlib
import copy
import functools
import json
import random

import faithkit_html
import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import json_of, page_of

import faithkit
from faithkit.run.diagnostics import add_diagnoses, choose_diagnostics
from faithkit.run.evaluation_report import EvaluationReport

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(20, 60, 80), "sex": RNG.choice(["f", "m"], 80)})
PHI = RNG.integers(0, 3, (80, 2)) / 2
Y = np.where(PHI.sum(axis=1) + RNG.normal(0, 0.4, 80) > 1, "yes", "no")


@pytest.fixture
def few_control_draws():
    """Draw the control ten times: a saved result has no fewer draws."""


@functools.cache
def score(start=0, stop=80, **options):
    return faithkit.score(Y[start:stop], PHI[start:stop], X=X.iloc[start:stop], **options)


RESULTS = {
    "consistency alone": score,
    "both measures": lambda: score(relation="near-explanation:tau=0.5", control_draws=10),
    "nothing checked": lambda: faithkit.score(["a", "b"], [[1.0], [2.0]]),
    "one row": lambda: faithkit.score(["a"], [[1.0]]),
    "another estimator, with permutations": lambda: score(estimator="majority", permutations=9, seed=3),
    "of a model": lambda: faithkit.evaluate(
        lambda X: X[:, 0] > 1, PHI, explainer=lambda X: (X > 0.5).tolist(), confidence=0.8
    ),
    "some rows unexplained": lambda: faithkit.score(["a", "b", "a"], ["x", None, "x"]),
}


def save(result, folder):
    path = folder / "result.json"
    result.write(path)
    return path


@one_test
@pytest.mark.parametrize("name", RESULTS)
def test_a_loaded_result_is_the_saved_one_and_has_a_page(name, tmp_path):
    result = RESULTS[name]()
    loaded = faithkit.load(save(result, tmp_path))
    assert isinstance(loaded, faithkit.Evaluation)
    assert loaded.to_dict() == result.to_dict()
    assert loaded.to_dict() == result.to_dict()
    assert str(loaded) == str(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())
    assert "</html>" in page_of(loaded)
    assert "<table" in loaded._repr_html_()
    faithkit_html.plots.measures(loaded)


def test_a_weighted_result_of_unique_explanations_is_loaded_whatever_its_weights_round_to(tmp_path):
    result = faithkit.score(["yes", "no", "no"], ["a", "b", "c"], weights=[0.1, 0.2, 0.3])
    assert faithkit.load(save(result, tmp_path)).uniqueness == 1.0


def test_a_later_sample_is_compared_with_a_saved_one_as_with_the_result_itself(tmp_path):
    first, later = score(0, 40), score(40, 80)
    loaded = faithkit.load(save(first, tmp_path))
    assert later.difference(loaded, paired=False) == later.difference(first, paired=False)
    assert loaded.difference(later, paired=False) == first.difference(later, paired=False)


def test_a_plan_is_made_from_a_saved_pilot_as_from_the_pilot_itself(tmp_path):
    pilot = score()
    assert faithkit.plan(0.05, pilot=faithkit.load(save(pilot, tmp_path))) == faithkit.plan(0.05, pilot=pilot)


def test_what_the_command_line_wrote_is_loaded_without_contradictions_and_groups(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json_of(EvaluationReport.of(score(), contradictions=2, by="sex")))
    assert faithkit.load(path).to_dict() == score().to_dict()


def test_a_comparison_comes_back_with_its_differences(tmp_path):
    comparison = faithkit.compare(
        lambda X: X[:, 0] > 1, PHI, explainers=[lambda X: (X > 0.5).tolist(), lambda X: X[:, 1].tolist()]
    )
    loaded = faithkit.load(save(comparison, tmp_path))
    assert isinstance(loaded, faithkit.results.Comparison)
    assert loaded.to_dict() == comparison.to_dict()
    assert loaded.best() == comparison.best()
    assert str(loaded) == str(comparison)
    assert "</html>" in page_of(loaded)


@one_test
@pytest.mark.parametrize(("field", "value"), [("p_value", "small"), ("low", -2), ("adjusted_p_value", True)])
def test_a_damaged_difference_is_refused_in_one_line(field, value, tmp_path):
    good, poor = faithkit.score(Y, Y), faithkit.score(Y, PHI)
    payload = faithkit.results.Comparison({"good": good, "poor": poor}).to_dict()
    payload["differences"]["consistency"][0][field] = value
    path = tmp_path / "result.json"
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match=f"is no result as faithkit writes it .*{field} is "):
        faithkit.load(path)


@functools.cache
def diagnose():
    """Return the report of a result with a diagnosis, as the command line writes it."""
    result = score()
    return add_diagnoses(result, choose_diagnostics("reader:classifier=logistic"))


def save_diagnosed(folder):
    """Return that report, and a file of it."""
    path = folder / "diagnosed.json"
    path.write_text(json_of(diagnose()))
    return diagnose(), path


def test_a_diagnosis_that_was_saved_comes_back(tmp_path):
    report, path = save_diagnosed(tmp_path)
    loaded = faithkit.load(path)
    again, (diagnosis,) = loaded.diagnose("reader:classifier=logistic"), report.diagnoses
    assert again.to_dict() == diagnosis.to_dict()
    assert str(again) == str(diagnosis)
    assert loaded.to_dict() == report.to_dict()
    assert " ".join(str(diagnosis).split()) in " ".join(loaded.to_text(verbose=True).split())
    assert "A classifier that sees only the explanation" in page_of(loaded)
    assert faithkit.load(save(loaded, tmp_path)).to_dict() == loaded.to_dict()


@one_test
@pytest.mark.parametrize("diagnostic", ["reader", "reader:seed=1"])
def test_another_diagnosis_than_the_saved_one_needs_rows(diagnostic, tmp_path):
    _, path = save_diagnosed(tmp_path)
    with pytest.raises(
        faithkit.errors.InputError, match="are not available in a result that was loaded from a file"
    ):
        faithkit.load(path).diagnose(diagnostic)


DAMAGED_DIAGNOSES = {
    "no name": (("name",), None, "name is None"),
    "a number for the result": (("result",), 3, "result is 3"),
    "no title": (("sheet", "title"), 3, "title is 3"),
    "a part of another kind": (("sheet", "parts"), [3], "parts.0 is 3"),
}


@one_test
@pytest.mark.parametrize("damage", DAMAGED_DIAGNOSES)
def test_a_damaged_diagnosis_is_refused_in_one_line(damage, tmp_path):
    place, value, reason = DAMAGED_DIAGNOSES[damage]
    _, path = save_diagnosed(tmp_path)
    payload = json.loads(path.read_text())
    change("diagnostics", 0, *place, to=value)(payload)
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match=f"is no result as faithkit writes it .*{reason}"):
        faithkit.load(path)


NEEDS_ROWS = {
    "a reader": lambda result: result.diagnose("reader"),
    "a row": lambda result: result.local(0),
    "pair": lambda result: result.contradictions(),
    "groups": lambda result: result.by(["f"] * result.n),
    "another relation": lambda result: result.measure("near-explanation:tau=0.5"),
    "a paired difference": lambda result: result.difference(score()),
    "a paired difference, the other way": lambda result: score().difference(result),
    "the tallies": lambda result: result.evidence.tallies,
    "the rows": lambda result: result.rows,
}


@one_test
@pytest.mark.parametrize("case", NEEDS_ROWS)
def test_what_needs_rows_is_refused_with_what_to_do(case, tmp_path):
    loaded = faithkit.load(save(score(), tmp_path))
    with pytest.raises(
        faithkit.errors.InputError, match=r"in a result that was loaded from a file: .*the rows again"
    ):
        NEEDS_ROWS[case](loaded)


def test_other_rows_of_a_loaded_system_need_the_model(tmp_path):
    loaded = faithkit.load(save(score(), tmp_path))
    with pytest.raises(faithkit.errors.InputError, match="need the model and the explainer"):
        loaded.on(X)


def test_discretizers_cannot_be_tried_on_a_saved_result(tmp_path):
    loaded = faithkit.load(save(score(), tmp_path))
    with pytest.raises(faithkit.errors.InputError, match="loaded from a file"):
        faithkit.try_discretizers(loaded)


def change(*place, to):
    """Return a function that puts a value in a place of a payload."""

    def put(payload):
        *steps, last = place
        for step in steps:
            payload = payload[step]
        payload[last] = to

    return put


DAMAGED = {
    "n is no number": (change("n", to="80"), "n is '80'"),
    "n is none": (change("n", to=0), "n is 0"),
    "a value is a text": (change("measures", "consistency", "value", to="0.9"), "value is '0.9'"),
    "a value is too large": (change("measures", "consistency", "value", to=9), "value is 9"),
    "a value is a truth": (change("measures", "consistency", "low", to=True), "low is True"),
    "a value is not a number": (
        change("measures", "consistency", "high", to=float("nan")),
        "NaN is no finite number",
    ),
    "an error is a text": (change("measures", "consistency", "se", to="small"), "se is 'small'"),
    "trials are infinite": (
        change("measures", "consistency", "moments", "trials", to=float("inf")),
        "Infinity is no finite number",
    ),
    "a score is no share": (
        change("measures", "consistency", "others", "score", 0, to=-1),
        r"score\.0 is -1",
    ),
    "no measures": (lambda payload: payload.pop("measures"), "'measures' is a required property"),
    "consistency is gone": (
        lambda payload: payload["measures"].pop("consistency"),
        "'consistency' is a required property",
    ),
    "rows are lost": (
        lambda payload: payload["measures"]["consistency"]["others"]["rows"].pop(),
        "the rows of consistency are not 80",
    ),
    "moments are of another kind": (
        change("measures", "consistency", "moments", "value", to=[1]),
        r"value is \[1\]",
    ),
    "a size is none": (change("n_explanations", to=None), "n_explanations is None"),
    "a share is none": (change("measures", "consistency", "verified", to=None), "verified is None"),
    "a bracket with one end": (
        change("measures", "consistency", "bracket", to=[0.5]),
        r"bracket is \[0\.5\]",
    ),
    "a bracket of texts": (change("measures", "consistency", "bracket", to=["a", "b"]), "bracket.1 is 'b'"),
    "chance is a text": (change("measures", "consistency", "by_chance", to="even"), "ValueError"),
    "a moment is none": (change("measures", "consistency", "moments", "value", to=None), "value is None"),
    "no trials": (change("measures", "consistency", "moments", "units", "trials", to=None), "trials is None"),
    "an error that no float can hold": (
        change("measures", "consistency", "moments", "se", to=1e308),
        "OverflowError",
    ),
    "a number of 400 digits": (
        change("measures", "consistency", "by_chance", to=10**400),
        "is no finite number",
    ),
    "an agreement that is a text": (change("measures", "consistency", "agree", to="all"), "agree is 'all'"),
    "more than all": (change("measures", "consistency", "estimate", to=2), "estimate is 2"),
    "half a row": (change("measures", "consistency", "moments", "units", "count", to=0.5), "count is"),
    "no data": (change("data", to={}), "'rows' is a required property"),
    "data of another kind": (change("data", to=3), "data is 3"),
    "another way": (change("explained_by", to=3), "explained_by is 3"),
    "a finding that is a number": (change("measures", "consistency", "finding", to=1), "finding is 1"),
    "a version that is none": (change("versions", "pandas", to=None), "versions.pandas is None"),
    "an explainer that is a number": (change("explainer", to=-0.5), "explainer is -0.5"),
    "another estimate than its moments give": (
        change("measures", "consistency", "moments", "estimate", to=0.1),
        "estimate of consistency is .*, and by its moments 0.1",
    ),
    "another interval than its moments give": (
        change("measures", "consistency", "moments", "disagreement", to=2),
        "interval of consistency is",
    ),
    "another lower end": (change("measures", "consistency", "low", to=0), "interval of consistency is"),
    "another program's": (lambda payload: payload.clear(), "'schema' is a required property"),
    "a form of another time": (change("schema", to=2), "schema is 2"),
}


@functools.cache
def dump_result():
    return json.dumps(score().to_dict())


@one_test
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_result_is_refused_in_one_line(damage, tmp_path):
    put, reason = DAMAGED[damage]
    path, payload = tmp_path / "result.json", json.loads(dump_result())
    put(payload)
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match=f"is no result as faithkit writes it .*{reason}"):
        faithkit.load(path)


@one_test
@pytest.mark.parametrize("content", [b"", b"[]", b"3", b'"text"', b"\xff\xfe", b"{" * 10_000, b"[" * 200_000])
def test_other_files_are_refused_in_one_line(content, tmp_path):
    path = tmp_path / "result.json"
    path.write_bytes(content)
    with pytest.raises(faithkit.errors.InputError, match="is no result as faithkit writes it"):
        faithkit.load(path)


def write_as(version, payload, path):
    """Save a payload as another version of faithkit did."""
    for evaluation in payload.get("systems", {"one": payload}).values():
        evaluation["versions"]["faithkit"] = version
    path.write_text(json.dumps(payload))


@one_test
@pytest.mark.parametrize("version", ["0.2.0", "0.3.0.dev", "0.10.0"])
def test_a_result_of_another_version_is_refused_with_the_command_that_makes_it_again(version, tmp_path):
    path = tmp_path / "may result.json"
    result = score().with_origin(command="faithkit score may.csv --prediction p")
    write_as(version, result.to_dict(), path)
    with pytest.raises(faithkit.errors.InputError) as caught:
        faithkit.load(path)
    assert str(caught.value) == (
        f"{path} was written by faithkit {version}, and this is {faithkit.__version__}: make it again with "
        f"`faithkit score may.csv --prediction p --out '{path}'`."
    )


def test_the_version_comes_first_whatever_else_has_changed_since(tmp_path):
    path = tmp_path / "result.json"
    write_as("0.2.0", {"versions": {}, "schema": 0}, path)
    with pytest.raises(faithkit.errors.InputError, match=r"by faithkit 0\.2\.0, .* with `result\.write`"):
        faithkit.load(path)


def test_a_comparison_of_another_version_is_refused(tmp_path):
    path = tmp_path / "result.json"
    comparison = faithkit.results.Comparison({"good": faithkit.score(Y, Y), "poor": faithkit.score(Y, PHI)})
    write_as("0.2.0", comparison.to_dict(), path)
    with pytest.raises(faithkit.errors.InputError, match=r"was written by faithkit 0\.2\.0, and this is"):
        faithkit.load(path)


def test_a_list_is_refused_by_what_it_is(tmp_path):
    path = tmp_path / "result.json"
    path.write_text("[]")
    with pytest.raises(faithkit.errors.InputError, match=r"\[\] is not of type 'object'"):
        faithkit.load(path)


def test_a_file_that_is_not_there_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(faithkit.errors.InputError, match=r"no file .*nothing\.json"):
        faithkit.load(tmp_path / "nothing.json")
    with pytest.raises(faithkit.errors.InputError, match="is a folder"):
        faithkit.load(tmp_path)


def iterate_places(payload, place=()):
    """Yield the place of each value in a payload; of a list, the first two."""
    if isinstance(payload, dict):
        steps = payload.items()
    else:
        steps = enumerate(payload[:2]) if isinstance(payload, list) else ()
    for step, value in steps:
        yield (*place, step)
        yield from iterate_places(value, (*place, step))


ODD_VALUES = [None, True, "x", -1, 0, 0.5, 2, 1e308, 1e-308, float("nan"), [], {}, [1], ["a", "b"], {"a": 1}]


def test_a_pilot_in_a_file_without_counts_is_refused(tmp_path):
    payload = score().to_dict()
    payload["measures"]["consistency"]["others"] = None
    path = tmp_path / "result.json"
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match="lacks the counts of its consistency"):
        faithkit.plan(0.1, pilot=faithkit.load(path))


def test_no_mutated_result_loads_and_fails_later(tmp_path):
    rng, path = random.Random(0), tmp_path / "result.json"
    payload = score(relation="near-explanation:tau=0.5", control_draws=10).to_dict()
    places = list(iterate_places(payload))
    for _ in range(40):
        mutated, place, value = copy.deepcopy(payload), rng.choice(places), rng.choice(ODD_VALUES)
        change(*place, to=value)(mutated)
        path.write_text(json.dumps(mutated))
        try:
            loaded = faithkit.load(path)
        except faithkit.errors.InputError:
            continue
        assert str(loaded), (place, value)
        loaded.to_dict()
        loaded.to_frame()
        with contextlib.suppress(faithkit.errors.InputError):
            loaded.difference(loaded, paired=False)
        with contextlib.suppress(faithkit.errors.InputError):
            faithkit.plan(0.1, pilot=loaded)
