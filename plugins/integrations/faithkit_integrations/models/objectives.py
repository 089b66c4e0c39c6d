"""What a Booster predicts, as its objective says: labels with their scores, or numbers."""

import numpy as np

import faithkit


def gives_classes(objective: str, of_classes: frozenset[str], about: faithkit.plugin.RowContext) -> bool:
    """Whether a Booster is a classifier; where somebody names classes that it does not have, an error.

    Parameters
    ----------
    objective : str
        The Booster's own.
    of_classes : frozenset of str
        Objectives of classifiers.
    about : RowContext
        What somebody said of the model.

    Examples
    --------
    >>> gives_classes("binary", frozenset({"binary"}), faithkit.plugin.RowContext())
    True
    >>> gives_classes("binary", frozenset({"binary"}), faithkit.plugin.RowContext(outcome="numbers"))
    False
    """
    if about.outcome == "numbers":
        return False
    if objective not in of_classes and about.classes is not None:
        raise faithkit.errors.InputError(
            f"the Booster's objective is {objective or 'a function'}, which gives numbers: leave the classes "
            "out, or give a function that returns their scores: faithkit.Predictor(scores=f, classes=[…])."
        )
    return objective in of_classes


def few_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return a small table and two classes, to train an example on."""
    X = np.arange(40.0).reshape(20, 2) % 7
    return X, (X[:, 0] > 3).astype(int)
