"""Decide by its objective whether a Booster predicts labels or numbers."""

import numpy as np

import faithkit


def is_classifier(
    objective: str, class_objectives: frozenset[str], context: faithkit.plugin.RowContext
) -> bool:
    """Return whether a Booster is a classifier; raise InputError if the user names classes for a regressor.

    Parameters
    ----------
    objective : str
        The objective of the Booster.
    class_objectives : frozenset of str
        The objectives of classifiers.
    context : RowContext
        The user's statements about the model.

    Examples
    --------
    >>> is_classifier("binary", frozenset({"binary"}), faithkit.plugin.RowContext())
    True
    >>> is_classifier("binary", frozenset({"binary"}), faithkit.plugin.RowContext(outcome="numbers"))
    False
    """
    if context.outcome == "numbers":
        return False
    if objective not in class_objectives and context.classes is not None:
        raise faithkit.errors.InputError(
            f"the Booster's objective is {objective or 'a function'}, which gives numbers: leave the classes "
            "out, or give a function that returns their scores: faithkit.Predictor(scores=f, classes=[…])."
        )
    return objective in class_objectives


def make_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return a small table with two classes, to train an example on."""
    X = np.arange(40.0).reshape(20, 2) % 7
    return X, (X[:, 0] > 3).astype(int)
