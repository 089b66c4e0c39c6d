"""What explanations hold need not be known to pickle: it travels home, or the rows are explained here."""

import threading
import warnings

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
@pytest.mark.parametrize(
    ("explainer", "told"),
    [
        (Words(), []),
        (
            Locked(),
            ["the explanations of Locked cannot be sent home by workers (TypeError: cannot pickle "
             "'_thread.lock' object), so rows are explained in this process."],
        ),
    ],
    ids=["a class of the main program", "a lock"],
)  # fmt: skip
def test_what_cannot_be_pickled_is_measured_all_the_same(explainer, told):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = faithkit.evaluate(lambda X: X[:, 0] > 1, X, explainer=explainer, background=X, n_jobs=2)
    assert (result.n_explanations, result.consistency.value) == (3, 1.0)
    assert list(dict.fromkeys(str(one.message) for one in caught if "sent" in str(one.message))) == told
