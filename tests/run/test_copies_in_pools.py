"""A row is not checked against its own copy in the pool."""

import warnings

import numpy as np
import pytest

import faithkit

X = np.random.default_rng(0).normal(size=(40, 2))
LABELS = (X[:, 0] > 0).tolist()
OTHERS = np.random.default_rng(1).normal(size=(40, 2))


def model(X):
    return X[:, 0] > 0


def explain_own_row(X):
    """Explain each row by a rule that covers only this row."""
    return [faithkit.Rule([faithkit.plugin.Interval(0, value - 1e-9, value + 1e-9)]) for value in X[:, 0]]


def score(pool, X=X, **options):
    explanations = faithkit.Explanations.of(explain_own_row(X), kind="rule")
    return faithkit.score(model(X), explanations, X, relation="in-scope", pool=(pool, model(pool)), **options)


@pytest.mark.parametrize("pool", [X[::-1], np.concatenate([X, OTHERS])], ids=["the sample", "more"])
def test_a_pool_with_all_explained_rows_is_refused(pool):
    message = "all explained rows are also in the pool, where each would be checked against its own copy"
    with pytest.raises(faithkit.errors.InputError, match=message):
        score(pool)
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.evaluate(model, X, explain_own_row, relation="in-scope", pool=pool)


@pytest.mark.parametrize(("n_copies", "is_warned_of"), [(4, False), (16, True)])
def test_a_pool_with_more_than_a_tenth_of_the_explained_rows_is_warned_of(n_copies, is_warned_of):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        score(np.concatenate([OTHERS, X[:n_copies]]))
    texts = [str(warning.message) for warning in caught if "in the pool" in str(warning.message)]
    share = f"{100 * n_copies // 40} % of the explained rows are also in the pool"
    assert [text.startswith(share) for text in texts] == [True] * is_warned_of


def test_equal_rows_of_different_cases_may_be_in_the_pool():
    few_values = np.sign(X)
    score(few_values[:30], X=few_values)


def test_a_row_and_its_copy_may_be_of_one_cluster():
    result = score(X, clusters=[*range(40), *range(40)])
    assert result.sufficiency.verified == 0


def test_a_comparison_takes_a_pool_or_leaves_it():
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match="100 % of the explained rows are also in the pool"
    ):
        faithkit.compare(model, X, [explain_own_row], pool=X)


def test_a_pool_that_the_explainer_has_learnt_from_is_warned_of():
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match="100 % of the rows of the pool are also in the back"
    ):
        faithkit.evaluate(model, X, "tree:max_depth=1", background=OTHERS, pool=OTHERS)
