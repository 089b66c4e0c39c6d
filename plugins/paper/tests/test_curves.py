"""figure-trees and figure-knn, in their tiny versions: curves that follow from group sizes alone."""

import re
from math import comb

import numpy as np
import pytest
from faithkit_paper.context import Context
from faithkit_paper.experiments import figure_knn, figure_trees
from faithkit_paper.figures import NEEDED, sizes_as_columns, split_dataset
from faithkit_paper.findings import Cell
from paper.tables import load
from sklearn.tree import DecisionTreeClassifier

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("curves")]  # what its tests share is made once

CONTEXT = Context("tiny", load=load)


@pytest.fixture(scope="module")
def trees():
    return figure_trees.run(CONTEXT)


@pytest.fixture(scope="module")
def neighbours():
    return figure_knn.run(CONTEXT)


@pytest.fixture(scope="module")
def leaves():
    """Count how many other test rows of Adult share each row's leaf, in a tree of 32 leaves."""
    rows = split_dataset(CONTEXT, "adult", 300)
    seed = CONTEXT.seed_of(figure_trees.NAME, "adult", 32)
    tree = DecisionTreeClassifier(max_leaf_nodes=32, random_state=seed).fit(rows.train, rows.y_train)
    reached = tree.apply(rows.test)
    return np.array([(reached == leaf).sum() - 1 for leaf in reached])


def compute_expectation(others, size):
    """Return the mean estimate over all samples of a size, of an explainer that is always right."""
    n = len(others)
    return np.mean([1 - comb(n - 1 - int(d), size - 1) / comb(n - 1, size - 1) for d in others])


def select_cells(findings, measure, dataset="adult", setting="32 leaves"):
    return [
        cell
        for cell in findings.cells
        if (cell.dataset, cell.setting, cell.measure) == (dataset, setting, measure)
    ]


def test_on_all_rows_only_rows_alone_in_their_leaf_are_missing(trees, leaves):
    last = select_cells(trees, "consistency")[-1]
    assert last.n == len(leaves)
    assert last.ours == pytest.approx(np.mean(leaves > 0))
    assert select_cells(trees, "sufficiency")[0].ours == last.ours


def test_samples_lie_around_the_expectation_over_all_samples(trees, leaves):
    for cell in select_cells(trees, "consistency")[:-1]:
        assert cell.runs == 2
        assert cell.ours == pytest.approx(compute_expectation(leaves, cell.n), abs=0.1)


def test_the_samples_needed_are_the_first_size_whose_expectation_is_0_9(trees, leaves):
    (cell,) = select_cells(trees, NEEDED)
    assert (
        compute_expectation(leaves, int(cell.ours)) >= 0.9 > compute_expectation(leaves, int(cell.ours) - 1)
    )


def test_larger_trees_need_more_samples_on_every_dataset(trees):
    for dataset in figure_trees.DATASETS:
        small, large = (select_cells(trees, NEEDED, dataset, f"{leaves} leaves")[0] for leaves in (8, 32))
        assert small.ours < (large.ours or np.inf)


def test_larger_k_or_more_prototypes_lower_the_estimate(neighbours):
    for dataset in figure_knn.DATASETS:
        at = {
            cell.setting: cell.ours
            for cell in neighbours.cells
            if cell.dataset == dataset and cell.n == 100 and cell.measure == "consistency"
        }
        assert at["k=1, N=8"] > at["k=1, N=32"] > at["k=3, N=32"]
        assert at["k=1, N=8"] > at["k=3, N=8"]


def test_a_model_by_neighbours_is_never_contradicted(neighbours):
    """What is missing to 1 is unverified: the estimate of all rows is the share of rows that share their set."""
    rows = split_dataset(CONTEXT, "adult", 250)
    from faithkit_example_based.nearest_neighbor import NearestNeighbor

    model = NearestNeighbor(
        k=3, prototypes=32, distance="standardized", seed=CONTEXT.seed_of("figure-knn", 32)
    )
    sets = model.as_model(rows.train, rows.y_train).explain(rows.test, None).values
    _, place, sizes = np.unique(sets, axis=0, return_inverse=True, return_counts=True)
    last = select_cells(neighbours, "consistency", "adult", "k=3, N=32")[-1]
    assert last.ours == pytest.approx(np.mean(sizes[place.ravel()] > 1))


def test_another_seed_moves_the_curves(trees, neighbours):
    other = figure_trees.measure_dataset(Context("tiny", load=load, seed=1), "adult")
    assert [c.ours for c in select_cells(other, "consistency")] != [
        c.ours for c in select_cells(trees, "consistency")
    ]
    moved = figure_knn.measure_dataset(Context("tiny", load=load, seed=1), "adult")
    name = "adult", "k=3, N=32"
    assert [c.ours for c in select_cells(moved, "consistency", *name)] != [
        c.ours for c in select_cells(neighbours, "consistency", *name)
    ]


def test_the_page_has_a_line_for_each_model_and_columns_for_a_few_sizes():
    cells = [Cell("adult", "tree", "64 leaves", "consistency", ours=0.5, n=n) for n in (50, 100, 234, 1000)]
    columns = sizes_as_columns([*cells, Cell("adult", "tree", "64 leaves", NEEDED, 127.0)])
    assert [cell.measure for cell in columns] == ["n = 100", "n = 1,000", NEEDED]
    assert {cell.n for cell in columns} == {None}


@pytest.mark.parametrize("experiment", [figure_trees, figure_knn])
def test_the_figure_has_a_panel_for_each_dataset_with_accuracies_in_the_legend(experiment, trees, neighbours):
    findings = {figure_trees: trees, figure_knn: neighbours}[experiment]
    figure = experiment.draw(findings)
    assert [ax.get_title() for ax in figure.axes] == list(experiment.DATASETS)
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert len(labels) == len({cell.setting for cell in findings.cells})
    assert all(re.fullmatch(r".+ \([01]\.\d\d\)", label) for label in labels)
