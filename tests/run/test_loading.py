"""Saved results come back with the same numbers and without rows; no other file gives a number."""

import contextlib
import copy
import functools
import json
import random

import numpy as np
import pandas as pd
import pytest
from looping import one_test

import faithkit
from faithkit.run.components.resolution import resolve_component
from faithkit.run.evaluation_report import EvaluationReport

RNG = np.random.default_rng(0)
X = pd.DataFrame({"age": RNG.integers(20, 60, 80), "sex": RNG.choice(["f", "m"], 80)})
PHI = RNG.integers(0, 3, (80, 2)) / 2
Y = np.where(PHI.sum(axis=1) + RNG.normal(0, 0.4, 80) > 1, "yes", "no")


def scored(rows=slice(None), **options):
    return faithkit.score(Y[rows], PHI[rows], X=X.iloc[rows], **options)


RESULTS = {
    "consistency alone": scored,
    "both measures": lambda: scored(relation="near-explanation:tau=0.5"),
    "nothing checked": lambda: faithkit.score(["a", "b"], [[1.0], [2.0]]),
    "one row": lambda: faithkit.score(["a"], [[1.0]]),
    "another estimator, with permutations": lambda: scored(estimator="majority", permutations=9, seed=3),
    "of a model": lambda: faithkit.evaluate(
        lambda X: X[:, 0] > 1, PHI, explainer=lambda X: (X > 0.5).tolist(), confidence=0.8
    ),
    "some rows unexplained": lambda: faithkit.score(["a", "b", "a"], ["x", None, "x"]),
}


def saved(result, folder):
    path = folder / "result.json"
    result.to_json(path)
    return path


@one_test
@pytest.mark.parametrize("which", RESULTS)
def test_a_loaded_result_tells_what_was_saved(which, tmp_path):
    result = RESULTS[which]()
    loaded = faithkit.load(saved(result, tmp_path))
    assert isinstance(loaded, faithkit.Evaluation)
    assert loaded.to_dict() == result.to_dict()
    assert loaded.to_json() == result.to_json()
    assert str(loaded) == str(result)
    pd.testing.assert_frame_equal(loaded.to_frame(), result.to_frame())


@one_test
@pytest.mark.parametrize("which", RESULTS)
def test_a_loaded_result_has_a_page(which, tmp_path):
    loaded = faithkit.load(saved(RESULTS[which](), tmp_path))
    assert "</html>" in loaded.to_html()
    assert "<table" in loaded._repr_html_()
    loaded.plot()


def test_a_later_sample_is_compared_with_a_saved_one_as_with_the_result_itself(tmp_path):
    first, later = scored(slice(0, 40)), scored(slice(40, 80))
    loaded = faithkit.load(saved(first, tmp_path))
    assert later.difference(loaded, paired=False) == later.difference(first, paired=False)
    assert loaded.difference(later, paired=False) == first.difference(later, paired=False)


def test_a_plan_is_made_from_a_saved_pilot_as_from_the_pilot_itself(tmp_path):
    pilot = scored()
    assert faithkit.plan(0.05, pilot=faithkit.load(saved(pilot, tmp_path))) == faithkit.plan(
        0.05, pilot=pilot
    )


def test_what_the_command_line_wrote_is_loaded_without_what_else_it_was_asked_for(tmp_path):
    result = scored()
    path = tmp_path / "found.json"
    path.write_text(EvaluationReport.of(result, violations=2, by="sex").to_json())
    assert faithkit.load(path).to_dict() == result.to_dict()


def test_a_comparison_comes_back_with_its_differences(tmp_path):
    comparison = faithkit.compare(
        lambda X: X[:, 0] > 1, PHI, explainers=[lambda X: (X > 0.5).tolist(), lambda X: X[:, 1].tolist()]
    )
    loaded = faithkit.load(saved(comparison, tmp_path))
    assert isinstance(loaded, faithkit.results.Comparison)
    assert loaded.to_dict() == comparison.to_dict()
    assert loaded.best() == comparison.best()
    assert str(loaded) == str(comparison)
    assert "</html>" in loaded.to_html()


@one_test
@pytest.mark.parametrize(("field", "to"), [("p_value", "small"), ("low", -2), ("adjusted_p_value", True)])
def test_a_damaged_difference_is_refused_in_one_line(field, to, tmp_path):
    good, poor = faithkit.score(Y, Y), faithkit.score(Y, PHI)
    payload = faithkit.results.Comparison({"good": good, "poor": poor}).to_dict()
    payload["differences"]["consistency"][0][field] = to
    path = tmp_path / "result.json"
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match=f"is no result as faithkit writes it .*{field} is "):
        faithkit.load(path)


@functools.cache
def diagnosed_report():
    """Return what the command line writes of a result with a diagnosis."""
    return EvaluationReport.of(
        scored(), diagnostics=[resolve_component("diagnostic", "reader:classifier=logistic")]
    )


def save_diagnosed(folder):
    """Return that report, and a file of it."""
    path = folder / "diagnosed.json"
    path.write_text(diagnosed_report().to_json())
    return diagnosed_report(), path


def test_a_diagnosis_that_was_saved_comes_back(tmp_path):
    report, path = save_diagnosed(tmp_path)
    loaded = faithkit.load(path)
    again, (diagnosis,) = loaded.diagnose("reader:classifier=logistic"), report.diagnoses
    assert again.to_dict() == diagnosis.to_dict()
    assert str(again) == str(diagnosis)
    assert loaded.to_dict() == report.to_dict()
    assert " ".join(str(diagnosis).split()) in " ".join(loaded.to_text(verbose=True).split())
    assert "A classifier that sees only the explanation" in loaded.to_html()
    assert faithkit.load(saved(loaded, tmp_path)).to_dict() == loaded.to_dict()


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
    "a number for what was found": (("result",), 3, "result is 3"),
    "no title": (("sheet", "title"), 3, "title is 3"),
    "a part of another kind": (("sheet", "parts"), [3], "parts.0 is 3"),
}


@one_test
@pytest.mark.parametrize("damage", DAMAGED_DIAGNOSES)
def test_a_damaged_diagnosis_is_refused_in_one_line(damage, tmp_path):
    way, to, reason = DAMAGED_DIAGNOSES[damage]
    _, path = save_diagnosed(tmp_path)
    payload = json.loads(path.read_text())
    changed("diagnostics", 0, *way, to=to)(payload)
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match=f"is no result as faithkit writes it .*{reason}"):
        faithkit.load(path)


NEEDS_ROWS = {
    "a reader": lambda result: result.diagnose("reader"),
    "a row": lambda result: result.local(0),
    "witnesses": lambda result: result.violations(),
    "groups": lambda result: result.by(["f"] * result.n),
    "another relation": lambda result: result.measure("near-explanation:tau=0.5"),
    "a paired difference": lambda result: result.difference(scored()),
    "a paired difference, the other way": lambda result: scored().difference(result),
    "the tallies": lambda result: result.evidence.tallies,
    "the rows": lambda result: result.rows,
}


@one_test
@pytest.mark.parametrize("what", NEEDS_ROWS)
def test_what_needs_rows_is_refused_with_what_to_do(what, tmp_path):
    loaded = faithkit.load(saved(scored(), tmp_path))
    with pytest.raises(
        faithkit.errors.InputError, match=r"in a result that was loaded from a file: .*the rows again"
    ):
        NEEDS_ROWS[what](loaded)


def test_other_rows_of_a_loaded_system_need_the_model(tmp_path):
    loaded = faithkit.load(saved(scored(), tmp_path))
    with pytest.raises(faithkit.errors.InputError, match="need the model and the explainer"):
        loaded.on(X)


def test_discretizers_cannot_be_tried_on_a_saved_result(tmp_path):
    loaded = faithkit.load(saved(scored(), tmp_path))
    with pytest.raises(faithkit.errors.InputError, match="loaded from a file"):
        faithkit.try_discretizers(loaded)


def changed(*path, to):
    def change(told):
        *way, last = path
        for step in way:
            told = told[step]
        told[last] = to

    return change


DAMAGED = {
    "n is no number": (changed("n", to="80"), "n is '80'"),
    "n is none": (changed("n", to=0), "n is 0"),
    "a value is a text": (changed("measures", "consistency", "value", to="0.9"), "value is '0.9'"),
    "a value is too large": (changed("measures", "consistency", "value", to=9), "value is 9"),
    "a value is a truth": (changed("measures", "consistency", "low", to=True), "low is True"),
    "a value is not a number": (
        changed("measures", "consistency", "high", to=float("nan")),
        "NaN is no finite number",
    ),
    "an error is a text": (changed("measures", "consistency", "se", to="small"), "se is 'small'"),
    "trials are infinite": (
        changed("measures", "consistency", "moments", "trials", to=float("inf")),
        "Infinity is no finite number",
    ),
    "a score is no share": (
        changed("measures", "consistency", "others", "score", 0, to=-1),
        r"score\.0 is -1",
    ),
    "no measures": (lambda told: told.pop("measures"), "'measures' is a required property"),
    "consistency is gone": (
        lambda told: told["measures"].pop("consistency"),
        "'consistency' is a required property",
    ),
    "rows are lost": (
        lambda told: told["measures"]["consistency"]["others"]["rows"].pop(),
        "the rows of consistency are not 80",
    ),
    "moments are of another kind": (
        changed("measures", "consistency", "moments", "value", to=[1]),
        r"value is \[1\]",
    ),
    "a size is none": (changed("n_explanations", to=None), "n_explanations is None"),
    "a share is none": (changed("measures", "consistency", "verified", to=None), "verified is None"),
    "a bracket with one end": (
        changed("measures", "consistency", "bracket", to=[0.5]),
        r"bracket is \[0\.5\]",
    ),
    "a bracket of texts": (changed("measures", "consistency", "bracket", to=["a", "b"]), "bracket.1 is 'b'"),
    "chance is a text": (changed("measures", "consistency", "by_chance", to="even"), "ValueError"),
    "a moment is none": (changed("measures", "consistency", "moments", "value", to=None), "value is None"),
    "no trials": (
        changed("measures", "consistency", "moments", "units", "trials", to=None),
        "trials is None",
    ),
    "an error that no float can hold": (
        changed("measures", "consistency", "moments", "se", to=1e308),
        "OverflowError",
    ),
    "a number of 400 digits": (
        changed("measures", "consistency", "by_chance", to=10**400),
        "is no finite number",
    ),
    "an agreement that is a text": (changed("measures", "consistency", "agree", to="all"), "agree is 'all'"),
    "more than all": (changed("measures", "consistency", "estimate", to=2), "estimate is 2"),
    "half a row": (changed("measures", "consistency", "moments", "units", "count", to=0.5), "count is"),
    "no data": (changed("data", to={}), "'rows' is a required property"),
    "data of another kind": (changed("data", to=3), "data is 3"),
    "another way": (changed("explained_by", to=3), "explained_by is 3"),
    "a finding that is a number": (changed("measures", "consistency", "finding", to=1), "finding is 1"),
    "a version that is none": (changed("versions", "pandas", to=None), "versions.pandas is None"),
    "an explainer that is a number": (changed("explainer", to=-0.5), "explainer is -0.5"),
    "another program's": (lambda told: told.clear(), "'schema' is a required property"),
    "a form of another time": (changed("schema", to=2), "schema is 2"),
}


@functools.cache
def text_of_a_result():
    return json.dumps(scored().to_dict())


@one_test
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_result_is_refused_in_one_line(damage, tmp_path):
    change, reason = DAMAGED[damage]
    path, payload = tmp_path / "result.json", json.loads(text_of_a_result())
    change(payload)
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


def test_a_file_that_is_not_there_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(faithkit.errors.InputError, match=r"no file .*nothing\.json"):
        faithkit.load(tmp_path / "nothing.json")
    with pytest.raises(faithkit.errors.InputError, match="is a folder"):
        faithkit.load(tmp_path)


def places(told, way=()):
    """Yield where each value of a result stands; of a list, the first ones."""
    inside = told.items() if isinstance(told, dict) else enumerate(told[:2]) if isinstance(told, list) else ()
    for step, value in inside:
        yield (*way, step)
        yield from places(value, (*way, step))


ODD_VALUES = [None, True, "x", -1, 0, 0.5, 2, 1e308, 1e-308, float("nan"), [], {}, [1], ["a", "b"], {"a": 1}]


def test_a_pilot_in_a_file_without_counts_is_refused(tmp_path):
    payload = scored().to_dict()
    payload["measures"]["consistency"]["others"] = None
    path = tmp_path / "result.json"
    path.write_text(json.dumps(payload))
    with pytest.raises(faithkit.errors.InputError, match="lacks the counts of its consistency"):
        faithkit.plan(0.1, pilot=faithkit.load(path))


def test_no_mutated_result_loads_and_fails_later(tmp_path):
    rng, path = random.Random(0), tmp_path / "result.json"
    payload = scored(relation="near-explanation:tau=0.5").to_dict()
    every = list(places(payload))
    for _ in range(60):
        mutated, way, value = copy.deepcopy(payload), rng.choice(every), rng.choice(ODD_VALUES)
        changed(*way, to=value)(mutated)
        path.write_text(json.dumps(mutated))
        try:
            loaded = faithkit.load(path)
        except faithkit.errors.InputError:
            continue
        assert str(loaded), (way, value)
        json.loads(loaded.to_json())
        loaded.to_frame()
        with contextlib.suppress(faithkit.errors.InputError):
            loaded.difference(loaded, paired=False)
        with contextlib.suppress(faithkit.errors.InputError):
            faithkit.plan(0.1, pilot=loaded)
