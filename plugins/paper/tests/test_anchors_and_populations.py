"""figure-anchors and figure-populations, in their tiny versions: trends over thresholds, and the best explainer of each population."""

import numpy as np
import pytest
from faithkit_paper.context import Context
from faithkit_paper.discretization_tables import as_seen_by_explainer
from faithkit_paper.experiments import figure_anchors, figure_populations
from faithkit_paper.findings import MEASURES, Cell, Findings, check_trend
from faithkit_paper.models import DATASETS, train_model
from paper.tables import load

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("anchors and populations")]

CONTEXT = Context("tiny", load=load)


@pytest.fixture(scope="module")
def anchors():
    return figure_anchors.run(CONTEXT)


@pytest.fixture(scope="module")
def populations():
    return figure_populations.run(CONTEXT)


def test_anchors_have_four_measures_at_each_threshold_of_every_dataset(anchors):
    settings = ("threshold=0.5", "threshold=0.6")
    expected = {(d, s, m) for d in DATASETS for s in settings for m in figure_anchors.MEASURES}
    assert {(c.dataset, c.setting, c.measure) for c in anchors.cells if c.measure != "accuracy"} == expected


def test_distinct_anchors_are_counted_and_divided_by_n(anchors):
    known = {(c.dataset, c.setting, c.measure): c for c in anchors.cells}
    for (dataset, setting, measure), cell in known.items():
        if measure == "uniqueness":
            assert cell.ours * cell.n == pytest.approx(known[dataset, setting, "n_explanations"].ours)


def test_an_anchors_sufficiency_is_counted_on_all_test_rows():
    part = as_seen_by_explainer(CONTEXT, train_model(CONTEXT, "heart"), figure_anchors.PUBLISHED)
    result = CONTEXT.evaluate(
        part.model, part.test[:3], "anchors:beam_size=1,threshold=0.6", background=part.train
    )
    labels, shares = part.model.predict(part.test), []
    for i, rule in enumerate(result.rows.explanations.values):
        others = [labels[j] for j in range(len(labels)) if j != i and rule.covers(part.test[j : j + 1])[0]]
        shares.append(np.mean([label == labels[i] for label in others]) if others else 0.0)
    assert figure_anchors.precisions(result, part) == pytest.approx(shares)


def test_three_trends_are_told_and_the_figure_has_a_panel_for_each_dataset(anchors):
    assert sum(remark.startswith("Claim: ") for remark in anchors.remarks) == 3
    assert [ax.get_title() for ax in figure_anchors.draw(anchors).axes] == list(DATASETS)


def test_another_seed_moves_the_numbers_of_anchors(anchors):
    other = figure_anchors.measure_dataset(Context("tiny", load=load, seed=1), "bank-marketing")
    moved, before = (
        [c.ours for c in findings.cells if c.dataset == "bank-marketing" and c.measure in MEASURES]
        for findings in (other, anchors)
    )
    assert len(moved) == len(before)
    assert moved != before


def test_a_trend_is_judged_by_its_ends_in_the_order_of_thresholds():
    cells = [
        Cell(dataset, "anchors", f"threshold={threshold}", "consistency", value)
        for dataset, values in {"adult": (0.5, 0.8), "heart": (0.7, 0.6)}.items()
        for threshold, value in zip((0.95, 0.5), values, strict=True)  # the last comes first
    ]
    sentence = check_trend(cells, "consistency", False, figure_anchors.threshold_of)
    assert sentence.endswith(
        "falls with the threshold. Holds on 1 of 2 datasets; the opposite on heart (0.60 → 0.70)."
    )


def test_populations_have_the_consistency_of_four_explainers_over_five_draws(populations):
    cells = [cell for cell in populations.cells if cell.measure == "consistency"]
    assert [(c.explainer, c.setting) for c in cells] == [
        (name, population)
        for name in ("anchors", "shap", "lime", "dice")
        for population in figure_populations.POPULATIONS
    ]
    assert all(cell.runs == 5 and 0 <= cell.ours <= 1 for cell in cells)


def test_another_seed_moves_the_numbers_of_populations(populations):
    other = figure_populations.run(Context("tiny", load=load, seed=1))
    for name in figure_populations.EXPLAINERS:
        moved, before = (
            [c.ours for c in findings.cells if c.explainer == name] for findings in (other, populations)
        )
        assert moved != before, name


def test_the_first_population_has_three_quarters_of_the_poor_and_a_quarter_of_the_rich():
    y = np.array(["<=50K", ">50K"] * 4000, dtype=object)
    first = figure_populations.draw_first_population(CONTEXT, y, run=0)
    assert first[::2].mean() == pytest.approx(0.75, abs=0.03)
    assert first[1::2].mean() == pytest.approx(0.25, abs=0.03)


def test_each_draw_makes_other_populations_and_so_does_another_seed():
    y = np.asarray(train_model(CONTEXT, "adult").y_test)
    draws = [figure_populations.draw_first_population(CONTEXT, y, run) for run in (0, 1)]
    draws.append(figure_populations.draw_first_population(Context("tiny", load=load, seed=1), y, 0))
    assert len({draw.tobytes() for draw in draws}) == 3


def test_the_best_explainer_of_each_population_is_told():
    def build_cells(*values):
        names = [(e, p) for p in figure_populations.POPULATIONS for e in ("anchors", "shap")]
        return [Cell("adult", *name, "consistency", v) for name, v in zip(names, values, strict=True)]

    assert figure_populations.compare_populations(build_cells(0.9, 0.8, 0.7, 0.8)).endswith(
        "Holds: anchors in population 1, shap in population 2."
    )
    assert figure_populations.compare_populations(build_cells(0.7, 0.8, 0.7, 0.8)).endswith(
        "Not seen: shap in population 1, shap in population 2."
    )


def test_bars_stand_for_the_cells(populations):
    (ax,) = figure_populations.draw(Findings(populations.cells)).axes
    expected = {round(cell.ours, 9) for cell in populations.cells if cell.measure == "consistency"}
    assert {round(bar.get_height(), 9) for bar in ax.patches} == expected
