"""The three tables of discretizations, in their tiny versions, and how they are read."""

import csv
import os
import re
import subprocess
import sys

import attrs
import numpy as np
import pytest
from faithkit_paper import discretization_tables
from faithkit_paper.class_number_shap import ClassNumberShap
from faithkit_paper.closest_reading import (
    ReadingResult,
    format_csv,
    format_ranges,
    limit_rows,
    rank_readings,
)
from faithkit_paper.context import Context
from faithkit_paper.discretization_tables import (
    ExplainedSample,
    Reading,
    as_seen_by_explainer,
    background,
    explain,
    keep_largest,
    share_missing,
)
from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap
from faithkit_paper.findings import Cell, check_orderings
from faithkit_paper.model_wrappers import ClassNumberModel
from faithkit_paper.models import CHESS_CLASSES, DATASETS, order_of, train_model
from faithkit_paper.printed_numbers import printed_numbers
from paper.tables import load

import faithkit

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tables")]  # what its tests share is made once

TABLES = {module.TABLE.name: module for module in (table_shap, table_lime, table_counterfactuals)}
CONTEXT = Context("tiny", load=load)


@pytest.fixture(scope="module", params=TABLES)
def table(request):
    return TABLES[request.param], TABLES[request.param].run(CONTEXT)


def test_a_table_has_the_papers_cells_on_every_dataset(table):
    module, findings = table
    measured = {
        (c.dataset, c.explainer, c.setting, c.measure) for c in findings.cells if c.measure != "accuracy"
    }
    printed = {key[1:] for key in printed_numbers() if key[0] == module.TABLE.name}
    narrow = {
        d
        for d in DATASETS
        if as_seen_by_explainer(CONTEXT, train_model(CONTEXT, d), module.TABLE.reading).test.shape[1] < 5
    }
    assert measured == {cell for cell in printed if not (cell[0] in narrow and cell[2] == "sign-of-top-5")}


def test_every_cell_is_a_share_of_all_explained_rows(table):
    module, findings = table
    rows = module.TABLE.rows["tiny"]
    cells = [cell for cell in findings.cells if cell.measure != "accuracy"]
    assert all(0 <= cell.ours <= 1 and cell.runs == 1 for cell in cells)
    assert all(cell.n == rows.get(cell.dataset, rows[""]) for cell in cells)


def test_uniqueness_never_grows_when_signs_take_the_place_of_numbers(table):
    module, findings = table
    fine, coarse = ("original", "sign") if "sign" in module.TABLE.discretizers else ("delta", "delta-sign")
    known = {(c.dataset, c.setting): c.ours for c in findings.cells if c.measure == "uniqueness"}
    assert all(known[dataset, coarse] <= known[dataset, fine] for dataset in DATASETS)


def test_the_reading_the_sizes_and_the_claims_are_told(table):
    module, findings = table
    text = "\n".join(findings.remarks)
    assert f"Read as {module.TABLE.reading}." in text
    assert re.search(r"adult: \d+ of \d+ test rows were explained, of which all were measured", text)
    assert text.count("Claim: ") == 3


def test_another_seed_moves_the_numbers(table):
    module, findings = table
    other = module.TABLE.measure_cells(Context("tiny", load=load, seed=1), "adult", module.TABLE.reading)
    cells = [cell for cell in findings.cells if cell.dataset == "adult" and cell.measure != "accuracy"]
    assert [cell.ours for cell in other] != [cell.ours for cell in cells]


def test_the_reading_is_one_of_those_that_were_compared():
    for module in TABLES.values():
        assert module.TABLE.reading in module.TABLE.candidates


def test_the_second_class_is_explained_for_all_rows_or_the_predicted_one_for_each():
    trained, spec = train_model(CONTEXT, "avila"), "shap:target=all,background=rows,algorithm=permutation"
    part = as_seen_by_explainer(CONTEXT, trained, Reading(spec))
    X, probabilities = part.test[:6], part.model.predict_proba(background(CONTEXT, part))
    above = part.model.predict_proba(X) - probabilities.mean(axis=0)  # what SHAP values add up to
    for target, expected in (("second", above[:, 1]), ("predicted", above[range(6), part.model.predict(X)])):
        values = explain(CONTEXT, trained, Reading(spec, target=target), X, seed=3).explanations.values
        np.testing.assert_allclose(values.sum(axis=1), expected, atol=1e-4)


@pytest.mark.parametrize("dataset", ["heart", "avila"])
def test_the_predicted_class_can_be_explained_as_a_number(dataset):
    trained, spec = (
        train_model(CONTEXT, dataset),
        "shap:target=positive,background=rows,algorithm=permutation",
    )
    reading = Reading(spec, explains_number=True)
    part = as_seen_by_explainer(CONTEXT, trained, reading)
    numbers = {label: number for number, label in enumerate(part.model.classes_.tolist())}

    def predict_number(X):
        return np.array([numbers[label] for label in part.model.predict(X).tolist()])

    values = explain(CONTEXT, trained, reading, part.test[:6], seed=3).explanations.values
    above = predict_number(part.test[:6]) - predict_number(background(CONTEXT, part)).mean()
    np.testing.assert_allclose(values.sum(axis=1), above, atol=1e-6)


def test_the_second_class_of_chess_is_mate_at_once_and_of_others_the_second_in_the_alphabet():
    assert order_of(np.array(sorted(CHESS_CLASSES)))[:3] == tuple(
        sorted(CHESS_CLASSES).index(c) for c in ("draw", "zero", "one")
    )
    assert order_of(np.array(["A", "B", "C"])) == (0, 1, 2)


def test_importances_for_the_second_class_follow_the_order_of_the_classes():
    spec = "shap:target=all,background=rows,algorithm=permutation"
    trained = train_model(CONTEXT, "avila")
    order = (0, 2, 1, *range(3, len(trained.order)))
    other = attrs.evolve(trained, order=order)
    X = as_seen_by_explainer(CONTEXT, trained, Reading(spec)).test[:4]
    explanations = {
        name: explain(
            Context("tiny", load=load), model, Reading(spec, target="second"), X, seed=3
        ).explanations
        for name, model in (("sorted", trained), ("other", other))
    }
    assert not np.allclose(explanations["sorted"].values, explanations["other"].values)
    assert other.in_order.predict(X).tolist() == [
        order.index(c) for c in trained.in_order.predict(X).tolist()
    ]


def test_the_table_of_chess_predicts_what_its_trees_predict_at_thresholds_and_between_them():
    trained = train_model(CONTEXT, "chess")
    table = as_seen_by_explainer(CONTEXT, trained, Reading("lime")).model
    trees = as_seen_by_explainer(CONTEXT, trained, Reading("shap:algorithm=tree")).model
    rng = np.random.default_rng(0)
    X = np.vstack([rng.integers(-1, 10, (400, 6)), rng.uniform(-1, 10, (400, 6))])
    np.testing.assert_array_equal(table.predict(X), trees.predict(X))
    np.testing.assert_allclose(table.predict_proba(X), trees.predict_proba(X), rtol=1e-6)
    assert "TabulatedModel" in repr(table)
    assert "TabulatedModel" not in repr(trees)


@pytest.mark.parametrize("dataset", ["avila", "covtype", "adult"])
def test_compiled_trees_predict_what_the_trees_predict(dataset):
    seen_model = as_seen_by_explainer(CONTEXT, train_model(CONTEXT, dataset), table_shap.TABLE.reading)
    trees, fast, X = seen_model.model, seen_model.compiled().model, np.asarray(seen_model.test)[:90]
    is_xgboost = hasattr(trees, "get_booster")
    scores = trees.predict(X, output_margin=True) if is_xgboost else trees.decision_function(X)[:, None]
    np.testing.assert_allclose(fast.scores(X), scores, atol=1e-3)
    np.testing.assert_allclose(fast.predict_proba(X), trees.predict_proba(X), atol=1e-4)
    # where two classes tie but for rounding, either may be predicted
    highest = np.sort(scores if is_xgboost else np.hstack([scores, -scores]), axis=1)
    clear = highest[:, -1] - highest[:, -2] > 1e-3
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(fast.predict(X)[clear], trees.predict(X)[clear])


@pytest.mark.parametrize("dataset", ["avila", "covtype", "adult"])
def test_shap_values_from_leaves_are_those_of_asking_the_model(dataset):
    seen_model = as_seen_by_explainer(CONTEXT, train_model(CONTEXT, dataset), table_shap.TABLE.reading)
    model = ClassNumberModel(seen_model.compiled().model)
    explainers = ClassNumberShap("sample:8"), "shap:target=positive,output=probability,background=sample:8"
    from_leaves, from_model = (
        CONTEXT.evaluate(model, np.asarray(seen_model.test)[:5], explainer, background=seen_model.train)
        for explainer in explainers
    )
    values = from_leaves.rows.explanations.values
    assert np.abs(values).max() > 0
    np.testing.assert_allclose(values, from_model.rows.explanations.values, atol=1e-9)


def test_compilation_does_not_change_predictions_or_shap_values():
    """The tests do not compile, so this one has a process of its own."""
    script = """
import faithkit
import numpy as np
from faithkit_paper.class_number_shap import ClassNumberShap
from faithkit_paper.compiled_trees import CompiledTrees
from faithkit_paper.model_wrappers import ClassNumberModel
from faithkit_paper.raw_score_shap import RawScoreShap
from xgboost import XGBClassifier
X = np.random.default_rng(0).normal(size=(5000, 6))
model = XGBClassifier(n_estimators=5, max_depth=4).fit(X, np.arange(5000) % 3 + (X[:, 0] > 0))
trees = CompiledTrees(model)
print(np.abs(trees.scores(X) - model.predict(X, output_margin=True)).max())
def explain(model, explainer):
    return faithkit.evaluate(model, X[:20], explainer=explainer, background=X).rows.explanations.values
number = ClassNumberModel(trees)
by_sampling = "shap:target=positive,output=probability,background=sample:9,algorithm=permutation"
print(np.abs(explain(number, ClassNumberShap("sample:9")) - explain(number, by_sampling)).max())
for reference in ("sample:9", "rows"):
    raw_scores = f"shap:target=all,output=raw,background={reference},algorithm=tree"
    print(np.abs(explain(trees, RawScoreShap(reference)) - explain(model, raw_scores)).max())
"""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    finished = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    scores, numbers, *raw_scores = map(float, finished.stdout.split())
    assert scores < 1e-3
    assert numbers < 1e-9
    assert max(raw_scores) < 2e-4  # both are rounded to four decimals


def test_fp_rounds_or_floors_as_the_reading_says():
    phi = faithkit.Explanations.vectors([[0.04], [-0.04], [0.96]])
    explained = ExplainedSample(np.array([0, 0, 1]), phi)
    assert explained.score(Reading("shap", fp="round").discretizer("1fp")).n_explanations == 2
    assert explained.score(Reading("shap", fp="floor").discretizer("1fp")).n_explanations == 3
    phi = faithkit.Explanations.vectors(
        [[0.09], [-0.09], [0.1], [0.19], [0.3]]
    )  # 0.3 · 10 is 3.0000000000000004
    explained = ExplainedSample(np.array([0, 0, 1, 1, 1]), phi)
    assert explained.score(Reading("shap", fp="truncate").discretizer("1fp")).n_explanations == 3


def test_ten_importances_stay_and_the_smallest_become_zero():
    importances = np.array([np.arange(1, 13) * (-1) ** np.arange(12), np.arange(12, 0, -1)], dtype=float)
    result = keep_largest(importances, 10)
    assert result[0].tolist() == [0, 0, *importances[0, 2:]]
    assert result[1].tolist() == [*importances[1, :10], 0, 0]
    assert keep_largest(importances, None) is importances


def test_three_classes_or_more_can_have_an_explainer_of_their_own():
    explainers = []

    class Listening(Context):
        def evaluate(self, model, X, explainer, **options):
            explainers.append(explainer)
            return super().evaluate(model, X, explainer, **options)

    context, two, many = Listening("tiny", load=load), "shap:target=all", "shap:target=all,output=raw"
    for dataset in ("heart", "avila"):
        trained = train_model(context, dataset)
        reading = Reading(two, target="second", multiclass_explainer=many)
        explain(context, trained, reading, as_seen_by_explainer(context, trained, reading).test[:3], seed=0)
    assert explainers == [two, many]


@pytest.mark.parametrize(("target", "number"), [("first", 0), ("second", 1), ("fourth", 3)])
def test_counterfactuals_of_many_classes_are_of_a_fixed_one_or_come_from_it(target, number):
    trained = train_model(CONTEXT, "avila")
    reading = Reading("dice:method=random", target=target)
    part = as_seen_by_explainer(CONTEXT, trained, reading)
    explained = explain(CONTEXT, trained, reading, part.test[:6], seed=3).explanations
    was, became = (part.model.predict(rows) == number for rows in (part.test[:6], explained.values))
    assert (was != became)[~explained.missing].all()
    assert not explained.missing.all()


@pytest.mark.parametrize("discretizer", table_counterfactuals.TABLE.discretizers)
def test_rows_without_a_counterfactual_are_alone_or_share_one(discretizer):
    instances, missing = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([True, True, False])
    values = instances + np.array([1, 0])
    explanations = faithkit.Explanations(kind="example", values=values, instances=instances, missing=missing)
    labels = np.array([0, 0, 1])
    assert ExplainedSample(labels, explanations).score(discretizer).n_explanations == 3
    assert ExplainedSample(labels, share_missing(explanations)).score(discretizer).n_explanations == 2


def test_where_the_paper_explained_fewer_rows_runs_are_samples_of_that_size():
    trained = train_model(CONTEXT, "heart")
    table = attrs.evolve(table_shap.TABLE, rows={"tiny": {"": 20}})
    assert [len(run.labels) for run in table.draw_samples(CONTEXT, trained, table.reading)] == [20]
    table = attrs.evolve(table, paper_rows={"heart": 12})
    runs = table.draw_samples(CONTEXT, trained, table.reading)
    assert [len(run.labels) for run in runs] == [12] * 5
    rows = [{row.tobytes() for row in run.explanations.values} for run in runs]
    assert len(set.union(*rows)) <= 20
    assert rows[0] != rows[1]


@pytest.mark.parametrize(
    ("dataset", "setting", "patterns"),
    # six weights have 6! orders, 2^6 signs, and 6 · 2^5 signs of all but the smallest; ten have 2^10 signs
    [("chess", "rank", 720), ("chess", "sign-of-top-5", 192), ("chess", "sign", 64), ("avila", "sign", 1024)],
)
def test_the_papers_rows_have_no_more_distinct_explanations_than_there_are_patterns(
    dataset, setting, patterns
):
    uniqueness = printed_numbers()["table-lime", dataset, "lime", setting, "uniqueness"]
    assert (uniqueness - 0.005) * discretization_tables.PAPER_ROWS[dataset] <= patterns
    n_test = {"chess": 9_259, "avila": 6_887}[dataset]
    assert (uniqueness - 0.005) * n_test > patterns


def test_the_closest_reading_comes_first_and_all_are_measured_on_the_same_cells():
    readings = [table_shap.scores_reading("probability", "median", "second", fp) for fp in ("floor", "round")]
    table = attrs.evolve(table_shap.TABLE, candidates=readings)
    results = rank_readings(CONTEXT, table, ["heart"])
    assert {result.reading for result in results} == set(table.candidates)
    assert [result.summary.mean for result in results] == sorted(result.summary.mean for result in results)
    assert {result.summary.cells for result in results} == {12}
    assert all(result.by_dataset == {"heart": result.summary.mean} for result in results)
    head, first, _ = csv.reader(format_csv(results).splitlines())
    assert head == ["reading", "all", "heart"]
    assert first == [str(results[0].reading), *[f"{results[0].summary.mean:.3f}"] * 2]


def test_readings_are_compared_on_as_many_rows_as_the_table_says_or_on_fewer():
    table = attrs.evolve(table_shap.TABLE, compared_rows={"adult": 20})
    adult, heart = (train_model(CONTEXT, dataset) for dataset in ("adult", "heart"))
    limits = [limit_rows(table, "tiny", max_rows) for max_rows in (None, 30, 9)]
    assert [limited.n_explained(CONTEXT, adult) for limited in limits] == [20, 20, 9]
    assert [limited.n_explained(CONTEXT, heart) for limited in limits] == [len(heart.test), 30, 9]


def test_a_range_spans_all_readings_and_says_whether_it_comes_near_the_printed_number():
    def build_result(*values):
        names = [("heart", "shap", "1fp", "consistency"), ("heart", "shap", "1fp", "uniqueness")]
        return ReadingResult(
            Reading("shap"),
            tuple(
                Cell(*name, value, low=value - 0.05 if name[-1] == "consistency" else None, n=9, paper=0.5)
                for name, value in zip(names, values, strict=True)
            ),
        )

    head, *rows = csv.reader(format_ranges([build_result(0.1, 0.7), build_result(0.45, 0.2)]).splitlines())
    assert ",".join(head) == "dataset,setting,measure,paper,smallest,closest,low,high,largest,n,within 0.05"
    assert rows == [
        ["heart", "1fp", "consistency", "0.5", "0.100", "0.450", "0.400", "", "0.450", "9", "yes"],
        [
            "heart",
            "1fp",
            "uniqueness",
            "0.5",
            "0.200",
            "0.700",
            "",
            "",
            "0.700",
            "9",
            "no",
        ],  # 0.5 is between both
    ]


def build_cells(half_width=0.0, **consistency):
    return [
        Cell(dataset, "shap", setting, "consistency", value, low=value - half_width, high=value + half_width)
        for dataset, values in consistency.items()
        for setting, value in zip(("original", "1fp", "sign"), values, strict=True)
    ]


def test_claims_that_hold_are_told_to_hold():
    near_zero, improves, depends = check_orderings(
        build_cells(adult=(0.01, 0.9, 0.5), heart=(0.02, 0.1, 0.3))
    )
    assert near_zero.endswith("Holds (at most 0.02).")
    assert improves.endswith("Holds in 4 of 4 cells.")
    assert depends.endswith("Holds: adult 1fp; heart sign.")


def test_a_discretization_that_is_among_the_best_everywhere_is_the_best():
    *_, depends = check_orderings(build_cells(adult=(0.0, 0.9, 0.5), heart=(0.0, 0.3, 0.3)))
    assert depends.endswith("Not seen: adult 1fp; heart 1fp or sign.")


def test_intervals_that_overlap_decide_nothing():
    near_zero, improves, depends = check_orderings(
        build_cells(half_width=0.06, adult=(0.05, 0.9, 0.85), heart=(0.02, 0.1, 0.3))
    )
    assert near_zero.endswith("Not on adult (up to 0.11).")
    assert improves.endswith("Holds in 3 of 4 cells; not clear: heart 1fp (0.10).")
    assert depends.endswith("Not seen: adult 1fp or sign; heart sign.")


def test_claims_that_do_not_hold_are_told_with_the_cells_that_break_them():
    near_zero, improves, depends = check_orderings(
        build_cells(adult=(0.2, 0.9, 0.2), heart=(0.02, 0.3, 0.01))
    )
    assert near_zero.endswith("Not on adult (up to 0.20).")
    assert improves.endswith(
        "Holds in 2 of 4 cells; not clear: adult sign (0.20); worse: heart sign (0.01 < 0.02)."
    )
    assert depends.endswith("Not seen: adult 1fp; heart 1fp.")
