"""table-text, figure-anchor-example and figure-lime-xor, in their tiny versions."""

from types import SimpleNamespace

import numpy as np
import pytest
from faithkit_paper.context import Context
from faithkit_paper.experiments import figure_anchor_example, figure_lime_xor, table_text
from faithkit_paper.models import train_model
from looping import one_test
from paper.tables import load

import faithkit
from faithkit.plugin import Interval

pytestmark = pytest.mark.xdist_group("text and examples")  # what its tests share is made once


def select_values(findings, **names):
    """Return the numbers of the cells that have these names, by measure."""
    return {
        cell.measure: cell.ours
        for cell in findings.cells
        if all(getattr(cell, name) == value for name, value in names.items())
    }


# --- highlighted text --------------------------------------------------------------------------------------


def load_short_texts(name):
    """Return the first words of each text: anchors of long texts take long."""
    data = load(name)
    return SimpleNamespace(name=name, X=[" ".join(text.split()[:8]) for text in data.X], y=data.y)


@pytest.fixture(scope="module")
def reviews():
    return table_text.train_reviews_model(Context("tiny", load=load_short_texts), "rt-polarity")


@pytest.fixture(scope="module")
def text(reviews):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_text, "train_reviews_model", lambda context, dataset: reviews)
        return table_text.run(Context("tiny", load=load_short_texts))


def test_every_explainer_is_measured_on_several_samples(text):
    names = [(cell.explainer, cell.measure) for cell in text.cells if cell.measure != "accuracy"]
    measures = "consistency", "sufficiency", "uniqueness"
    assert names == [(explainer, measure) for explainer in table_text.EXPLAINERS for measure in measures]
    assert all(cell.runs == 5 for cell in text.cells if cell.explainer != "logistic regression")
    assert "anchors: samples of 8 texts that were explained." in text.remarks


def test_the_first_words_measures_are_what_double_loops_count(reviews, text):
    """Consistency compares the sampled texts, and sufficiency them with all test texts."""
    context = Context("tiny", load=load)
    texts = context.sample(reviews.test, None, table_text.NAME)
    labels, tokens = reviews.model.predict(texts), [review.split() for review in texts]
    means = {"consistency": 0.0, "sufficiency": 0.0}
    for run in range(5):
        sampled = context.rng(table_text.NAME, run).permutation(90)[:81]
        for i in sampled:
            word = tokens[i][0]
            others = {
                "consistency": [j for j in sampled if j != i and tokens[j][0] == word],
                "sufficiency": [j for j in range(len(texts)) if j != i and word in tokens[j]],
            }
            for measure, rows in others.items():
                means[measure] += np.mean(labels[rows] == labels[i]) / (5 * 81) if rows else 0.0
    measured = select_values(text, explainer="first-word")
    assert {measure: measured[measure] for measure in means} == pytest.approx(means)


def test_all_words_are_unique_and_the_model_beats_chance(text):
    assert select_values(text, explainer="all-words") == {
        "consistency": 0.0,
        "sufficiency": 0.0,
        "uniqueness": 1.0,
    }
    assert select_values(text, explainer="logistic regression")["accuracy"] > 0.5


@pytest.mark.slow
def test_another_seed_moves_the_numbers_of_highlighted_words(text):
    other = table_text.run(Context("tiny", load=load_short_texts, seed=1))
    assert select_values(other, explainer="first-word") != select_values(text, explainer="first-word")
    assert select_values(other, explainer="top-coefficient") != select_values(
        text, explainer="top-coefficient"
    )


# --- the record of Adult -----------------------------------------------------------------------------------

LOW_EDUCATION = faithkit.Rule([Interval("education-num", high=9)])


class FixedRules(Context):
    """The tiny profile in which one rule explains the record and all rows below 50 years, without a search."""

    def evaluate(self, model, X, explainer, **options):
        rules = [LOW_EDUCATION if age < 50 else faithkit.Rule([Interval("age", low=50)]) for age in X["age"]]
        return SimpleNamespace(rows=SimpleNamespace(explanations=SimpleNamespace(values=rules)))


@pytest.fixture(scope="module")
def adult():
    return FixedRules("tiny", load=load)


@pytest.fixture(scope="module")
def example(adult):
    return figure_anchor_example.run(adult)


def test_the_printed_rules_are_counted_on_the_test_part(adult, example):
    trained = train_model(adult, "adult")
    rows, labels = trained.test, trained.model.predict(trained.test)
    wide = [n <= 9 for n in rows["education-num"]]
    narrow = [
        a and g <= 0 and w <= 116736
        for a, g, w in zip(wide, rows["capital-gain"], rows["fnlwgt"], strict=True)
    ]
    for threshold, covered in (("threshold=0.5", wide), ("threshold=0.95", narrow)):
        result = select_values(example, explainer="the printed rule", setting=threshold)
        same = sum(label == "<=50K" for label, inside in zip(labels, covered, strict=True) if inside)
        assert (result["N^s"], result["N^s same label"]) == (sum(covered), same)
        assert result["local sufficiency"] == pytest.approx(same / sum(covered))


@one_test
@pytest.mark.parametrize("threshold", [0.5, 0.95])
def test_rows_in_the_scope_are_counted_and_those_that_share_the_rule_are_scaled_up(adult, example, threshold):
    trained = train_model(adult, "adult")
    scope = trained.test[trained.test["education-num"] <= 9]
    sampled = adult.sample(scope, 3, figure_anchor_example.NAME, threshold)
    sharing = sampled[sampled["age"] < 50]
    result = select_values(example, explainer="anchors", setting=f"threshold={threshold}")
    for name, rows, scale in (("N^s", scope, 1), ("N^c", sharing, len(scope) / 3)):
        same = (trained.model.predict(rows) == "<=50K").sum()
        assert result[name] == pytest.approx(len(rows) * scale)
        assert result[f"{name} same label"] == pytest.approx(same * scale)


def test_our_rules_and_samples_are_told(example):
    assert sum("our rule is" in remark for remark in example.remarks) == 2
    assert sum("2 searches with other draws found" in remark for remark in example.remarks) == 2
    assert any("scaled up from 3 of" in remark for remark in example.remarks)
    all_covered_rows = figure_anchor_example.remarks(0.5, [LOW_EDUCATION], sampled=3, scope_rows=3)
    assert not any("scaled up" in remark for remark in all_covered_rows)


@pytest.mark.slow
def test_another_seed_splits_anew_and_moves_the_counts(example):
    other = figure_anchor_example.run(Context("tiny", load=load, seed=1))
    names = {"explainer": "the printed rule", "setting": "threshold=0.5"}
    assert select_values(other, **names) != select_values(example, **names)
    for threshold in ("threshold=0.5", "threshold=0.95"):  # with rules that were searched for
        counts = select_values(other, explainer="anchors", setting=threshold)
        assert 0 <= counts["N^c same label"] <= counts["N^c"] <= counts["N^s"] + 1e-9
        assert 1 <= counts["N^s same label"] <= counts["N^s"]


def test_a_rule_that_covers_nothing_has_no_local_measure(adult):
    trained = train_model(adult, "adult")
    counts = figure_anchor_example.LabelCounts.of(trained.test[:0], trained, "<=50K")
    names = "adult", "anchors", "threshold=1"
    assert [cell.ours for cell in counts.cells(names, "N^c", "local consistency")] == [0, 0, None]


# --- XOR ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def xor():
    return figure_lime_xor.run(Context("tiny"))


def test_two_labels_of_xor_get_one_explanation(xor):
    first, second = select_values(xor, setting="(2.5, 0.5)"), select_values(xor, setting="(-2.5, 0.5)")
    assert (first["label"], second["label"]) == (1, 0)
    for explanation in (first, second):
        assert explanation["first feature"] == pytest.approx(0.0, abs=0.03)
        assert explanation["second feature"] == pytest.approx(0.44, abs=0.03)


def test_another_seed_moves_the_numbers_of_xor(xor):
    other = figure_lime_xor.run(Context("tiny", seed=1))
    first, second = (select_values(findings, setting="(2.5, 0.5)") for findings in (xor, other))
    assert first["second feature"] != second["second feature"]


def test_the_figure_of_xor_has_the_plane_and_both_explanations(xor):
    figure = figure_lime_xor.draw(xor)
    assert [ax.get_title() for ax in figure.axes] == ["XOR", "(2.5, 0.5)", "(-2.5, 0.5)"]
    np.testing.assert_allclose([bar.get_width() for bar in figure.axes[1].patches], [0, 0.44], atol=0.03)
