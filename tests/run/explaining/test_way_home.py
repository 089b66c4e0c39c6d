"""Explanations travel home from workers, whatever they hold, or it is said why they cannot."""

import threading

import numpy as np
import pytest

import faithkit

X = np.arange(12.0)[:, None] % 3


# as a class of a script or notebook is: found in no module by a worker, nor by pickle
Word = type("Word", (str,), {"__module__": "__main__"})


class Words:
    """One word for each value."""

    rows_per_chunk = 6
    shared = None

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        shared = {} if self.shared is None else {"lock": self.shared()}
        return faithkit.Explanations.of([Word(f"w{x[0]}") for x in X], shared=shared)


class Locked(Words):
    """And a lock, which nothing can send."""

    shared = staticmethod(threading.Lock)


@pytest.mark.slow  # workers have to be started
def test_explanations_may_be_of_a_class_of_the_main_program():
    result = faithkit.evaluate(lambda X: X[:, 0] > 1, X, explainer=Words(), background=X, n_jobs=2)
    assert (result.n_explanations, result.consistency.value) == (3, 1.0)


@pytest.mark.slow
def test_explanations_that_cannot_be_sent_home_are_an_error_with_a_way_out():
    with pytest.raises(
        faithkit.errors.ExplainerError,
        match=r"^a worker failed with TypeError: cannot pickle.* With n_jobs=1 .* nothing travels\.",
    ):
        faithkit.evaluate(lambda X: X[:, 0] > 1, X, explainer=Locked(), background=X, n_jobs=2)
