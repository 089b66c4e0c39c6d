"""Trees that a reader would take wrongly: noticed when the explainer is fitted, and never explained by."""

import functools

import attrs
import numpy as np
import pytest
from boosted_models import CASES, NAMES
from faithkit_feature_importance.shap_values.explainer import MODEL_READERS
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaf_shap import LeafShap
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble
from leaf_by_leaf import by_definition, explained, per_class
from looping import one_test

import faithkit

pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
READER = "faithkit_feature_importance.shap_values.leaf_by_leaf.tree_inputs.read_ensemble"


@pytest.fixture(autouse=True)
def _only_leaf_by_leaf(monkeypatch):
    """Else shap's own reader would have its turn."""
    for algorithm in ("auto", "tree"):
        monkeypatch.setitem(MODEL_READERS, algorithm, (LeafShap,))


def change_trees(**change):
    """A fault in the arrays of every tree."""
    return lambda tree: attrs.evolve(tree, **{name: how(tree) for name, how in change.items()})


@functools.cache
def fit_case(name):
    """Return the model and its table."""
    return CASES[name].fitted()


def choose_other_categories(tree):
    return {node: frozenset(range(5)) - chosen for node, chosen in tree.categories.items()}


def raise_thresholds(tree):
    return np.nextafter(tree.threshold.astype(np.float32), np.float32(np.inf)).astype(float)


FAULTS = {  # and the models in which it is sought
    "left is right": (change_trees(left=lambda tree: tree.right, right=lambda tree: tree.left), ["xgboost"]),
    "gaps go elsewhere": (change_trees(missing_left=lambda tree: ~tree.missing_left), ["lightgbm"]),
    "at most is less than": (
        change_trees(threshold=lambda tree: np.nextafter(tree.threshold, -np.inf)),
        ["lightgbm", "catboost"],
    ),
    "less than is at most": (change_trees(threshold=raise_thresholds), ["xgboost"]),
    "the column beside": (change_trees(column=lambda tree: (tree.column + 1) % 4), ["xgboost"]),
    "leaves in another order": (change_trees(values=lambda tree: tree.values[::-1]), ["lightgbm"]),
    "leaves of another size": (change_trees(values=lambda tree: tree.values * 1.01), ["xgboost"]),
    "the class beside": (
        change_trees(outputs=lambda tree: tuple((output + 1) % 3 for output in tree.outputs)),
        ["lightgbm, three classes"],
    ),
    "the other categories": (
        change_trees(categories=choose_other_categories),
        ["xgboost, sets of categories", "lightgbm, sets of categories"],
    ),
}


@one_test
@pytest.mark.parametrize(
    ("fault", "name"), [(fault, name) for fault, (_, names) in FAULTS.items() for name in names]
)
def test_trees_that_are_read_wrongly_are_noticed(monkeypatch, fault, name):
    model, table = fit_case(name)
    ensemble = read_ensemble(model)
    if fault == "at most is less than":
        table = put_on_thresholds(table, ensemble)
    wrong = attrs.evolve(ensemble, trees=[FAULTS[fault][0](tree) for tree in ensemble.trees])
    monkeypatch.setattr(READER, lambda model: wrong)
    with pytest.raises(faithkit.errors.InputError, match="misses the model's own output by"):
        explained(model, table, table[:2], output="raw", target="all", algorithm="tree")


def put_on_thresholds(table, ensemble):
    """Return rows that have a threshold of the trees in every cell for which there is one."""
    result = table.copy()
    for j in range(result.shape[1]):
        cuts = [tree.threshold[(tree.left >= 0) & (tree.column == j)] for tree in ensemble.trees]
        if len(cuts := np.concatenate(cuts)):
            result[:, j] = np.resize(cuts, len(result))
    return result


@one_test
@pytest.mark.parametrize(
    ("name", "what", "wrong"),
    [
        ("xgboost, stopped early", "_count_used_trees", lambda model, dump: len(dump["trees"])),
        ("xgboost, 0 is missing", "mark_missing", lambda cells, missing: cells),
        ("lightgbm, 0 is missing", "mark_missing", lambda cells, missing: cells),
        ("lightgbm, nothing is missing", "_missing_left", lambda node: True),
    ],
)
def test_ignoring_what_a_library_does_beside_its_trees_is_noticed(monkeypatch, name, what, wrong):
    library = CASES[name].library
    model, table = fit_case(name)
    monkeypatch.setattr(
        f"faithkit_feature_importance.shap_values.leaf_by_leaf.readers.{library}_trees.{what}", wrong
    )
    with pytest.raises(faithkit.errors.InputError, match="misses the model's own output by"):
        explained(model, table, table[:2], output="raw", algorithm="tree")


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_where_trees_are_read_wrongly_the_model_is_asked(monkeypatch, name):
    model, table = fit_case(name)
    ensemble = read_ensemble(model)
    monkeypatch.setattr(READER, lambda model: attrs.evolve(ensemble, trees=ensemble.trees[1:]))
    with pytest.warns(faithkit.errors.FaithkitWarning, match="TreeSHAP misses the model's own output by"):
        explanations = explained(model, table[:5], table[40:42], output="raw", target="all")
    assert explanations.shared["algorithm"] == "kernel"
    expected = by_definition(model, table, table[:5], table[40:42])
    assert per_class(explanations) == pytest.approx(expected, abs=max(1e-6, CASES[name].precision))
