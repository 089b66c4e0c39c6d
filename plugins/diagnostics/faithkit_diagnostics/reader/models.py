"""The classifiers that read explanations: some of scikit-learn's to choose from, or anybody's."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_diagnostics.reader.features import MOST_TOKENS, MOST_WORDS, Floats

AUTO = "auto"
WORDS = "words"
RARE = -1  # stands for all labels that are not learnt
FEW_CLASSES = 5  # take little time
MOST_CLASSES = 50  # labels that a reader learns; it gives the rarer ones no probability
TREE_CELLS = 300_000  # of a table that trees learn from: more would take long and tell little
LINEAR_CELLS = 10_000_000
TREE_COLUMNS = 64  # of numbers: to find the bins of one takes as long as thousands of cells
MOST_COLUMNS = 500
WEIGHT_OF_WORDS = 10.0  # C of a regression on TF-IDF; 1 leaves all words of long texts near nothing

ROUNDING = 1e-9  # a column that varies by no more than this share of its mean is constant

Counts = NDArray[np.int64]
Make = Callable[[int, int, int], Any]
"""Make a classifier for so many rows and labels, starting from a seed."""

One = TypeVar("One", bound="Candidate")


@contextmanager
def refusing(action: str, advice: str) -> Iterator[None]:
    """Turn whatever somebody's model raises into one line."""
    try:
        yield
    except (faithkit.FaithkitError, KeyboardInterrupt):
        raise
    except BaseException as error:
        reason = " ".join(str(error).split())
        raise faithkit.errors.InputError(
            f"{action} failed with {type(error).__name__}: {reason.rstrip('.')}. {advice}"
        ) from error


@attrs.frozen(eq=False)
class Candidate:
    """A classifier that can be a reader, and how many cells, columns and words of texts it may learn from.

    What it costs is known from the shape of the table, so that no clock decides what it finds.
    """

    name: str
    make: Make
    cells: int | None = None
    columns: int = MOST_COLUMNS
    words: int = MOST_TOKENS
    is_sparse: bool = False

    what = "classifier"
    advice = "Give a scikit-learn classifier that has predict_proba and takes numbers, NaN among them."

    def most_rows(self, width: int, labels: int) -> int | None:
        """Return how many rows of a table it may learn from; of many labels each takes time."""
        times = max(1, min(labels, MOST_CLASSES) // FEW_CLASSES)
        return None if self.cells is None else max(1, self.cells // (max(1, width) * times))

    def fitted(self, X: Floats, y: Counts, weights: Floats | None, seed: int) -> "Fitted":
        """Let a new one learn from rows."""
        classes, sizes = np.unique(y, return_counts=True)
        common = classes[np.lexsort((classes, -sizes))][:MOST_CLASSES]
        # the rarer labels are one class together, or their rows would be counted for others
        taught, codes = np.unique(np.where(np.isin(y, common), y, RARE), return_inverse=True)
        with self.called():
            model = self.make(X.shape[0], len(taught), seed)
            model.fit(X, codes, **weighted(model, weights))
            return Fitted(self, model, taught[np.asarray(model.classes_)])

    @contextmanager
    def called(self) -> Iterator[None]:
        """Run code of the classifier: whatever it raises names it."""
        with refusing(f"the {self.what} {self.name}", self.advice), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it has not converged: its score tells
            yield


@attrs.frozen(eq=False)
class Fitted:
    """A classifier that has learnt."""

    candidate: Candidate
    model: Any
    classes: Counts

    def probabilities(self, X: Floats) -> tuple[Counts, Floats]:
        """Return the labels it knows, and the probability of each of them in every row."""
        with self.candidate.called():
            found = np.asarray(self.model.predict_proba(X), dtype=np.float64)
            self._check(found, (X.shape[0], len(self.classes)))
        known = self.classes != RARE
        return self.classes[known], found[:, known]

    def _check(self, found: Floats, shape: tuple[int, int]) -> None:
        """Refuse what are no probabilities: only with these is a score a bound."""
        if found.shape != shape:
            raise faithkit.errors.InputError(
                f"the classifier {self.candidate.name} gave probabilities of shape {found.shape}; expected "
                f"{shape}. {self.candidate.advice}"
            )
        if not ((found >= 0).all() and (found.sum(axis=1) <= 1 + 1e-6).all()):
            raise faithkit.errors.InputError(
                f"the classifier {self.candidate.name} gave probabilities below 0, or above 1 in all; "
                f"expected shares of 1. {self.candidate.advice}"
            )


class Scaled:
    """Columns that are scaled, and whose gaps are filled by their means and marked."""

    def fit_transform(self, X: Floats) -> Floats:
        """Learn means and spreads of the columns, and return them scaled."""
        gaps = np.isnan(X)
        self._with_gaps = np.flatnonzero(gaps.any(axis=0))
        self._fill = np.where(gaps, 0.0, X).sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
        marked = self._marked(X)
        self._mean, spread = marked.mean(axis=0), marked.std(axis=0)
        is_constant = spread <= ROUNDING * np.abs(self._mean)
        self._spread = np.where(is_constant, 1.0, spread)
        return self._scaled(marked)

    def transform(self, X: Floats) -> Floats:
        """Return columns as they were learnt."""
        return self._scaled(self._marked(X))

    def _marked(self, X: Floats) -> Floats:
        gaps = np.isnan(X)
        return np.hstack([np.where(gaps, self._fill, X), gaps[:, self._with_gaps]])

    def _scaled(self, X: Floats) -> Floats:
        return (X - self._mean) / self._spread


class Logistic(Scaled):
    """What a pipeline of an imputer with indicators, a scaler and scikit-learn's regression does, and faster.

    Small samples are read by fourteen of these, and the pipeline would take most of the time to check its
    input again in every step.

    Examples
    --------
    >>> X = np.array([[1.0], [np.nan], [1.0], [np.nan]])
    >>> Logistic().fit(X, np.array([0, 1, 0, 1])).predict_proba(X).argmax(axis=1)
    array([0, 1, 0, 1])
    """

    def fit(self, X: Floats, y: Counts, sample_weight: Floats | None = None) -> "Logistic":
        """Learn means and spreads of the columns, then the regression."""
        from sklearn.linear_model import LogisticRegression

        self._model: Any = LogisticRegression().fit(self.fit_transform(X), y, sample_weight)
        return self

    @property
    def classes_(self) -> Counts:
        """The labels, in the order of their probabilities."""
        return np.asarray(self._model.classes_)

    def predict_proba(self, X: Floats) -> Floats:
        """Return the probability of every label."""
        return np.asarray(self._model.predict_proba(self.transform(X)))


def candidates(given: Any = None) -> tuple[Candidate, ...]:
    """Return the classifiers to choose from.

    Parameters
    ----------
    given : None, str or classifier
        "auto", as None, are "logistic", "trees" and, for texts, "words"; or a classifier of scikit-learn's
        kind, which is copied and never fitted itself.

    Examples
    --------
    >>> [one.name for one in candidates("auto")], [one.name for one in candidates("trees")]
    (['logistic', 'trees', 'words'], ['trees'])
    """
    ours = {
        "logistic": Candidate("logistic", lambda _rows, _labels, _seed: Logistic(), LINEAR_CELLS, words=0),
        "trees": Candidate("trees", _trees, TREE_CELLS, TREE_COLUMNS, words=0),
        WORDS: Candidate(WORDS, _of_words, columns=0, words=MOST_WORDS, is_sparse=True),
    }
    return chosen_by(given, ours, Candidate, "classifier such as sklearn.naive_bayes.GaussianNB()")


def chosen_by(given: Any, ours: Mapping[str, One], kind: type[One], such_as: str) -> tuple[One, ...]:
    """Return all of ours, the one that is named, or somebody's own."""
    if given is None or (isinstance(given, str) and given == AUTO):
        return tuple(ours.values())
    if isinstance(given, str):
        if given not in ours:
            names = ", ".join((AUTO, *ours))
            raise faithkit.errors.InputError(f"there is no reader {given!r:.60}. Choose one of {names}.")
        return (ours[given],)
    given = _instance(given, (AUTO, *ours), such_as, kind.advice)
    return (kind(type(given).__name__, lambda _rows, _labels, seed: _seeded(given, seed)),)


def _instance(given: Any, names: tuple[str, ...], such_as: str, advice: str) -> Any:
    """Return a model: of a class, the one that has all its defaults."""
    with refusing("looking at the reader", advice):
        if hasattr(given, "fit"):
            return given() if isinstance(given, type) else given
    what = (
        f"the class {given.__name__}"
        if isinstance(given, type)
        else f"an object of type {type(given).__name__}"
    )
    raise faithkit.errors.InputError(
        f"{what} cannot be a reader; expected {', '.join(map(repr, names))}, or a {such_as}."
    )


def for_explanations(choice: tuple[One, ...], *, texts: bool, numbers: bool) -> tuple[One, ...]:
    """Return those of several that can read explanations, first the one for small samples."""
    if len(choice) == 1:
        return choice
    others = tuple(candidate for candidate in choice if candidate.name != WORDS)
    words = tuple(candidate for candidate in choice if candidate.name == WORDS and texts)
    return others + words if numbers else words + others


def _of_words(_rows: int, _labels: int, _seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=WEIGHT_OF_WORDS)


def _trees(rows: int, labels: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(**boosting(rows, labels, seed))


def boosting(rows: int, labels: int, seed: int) -> dict[str, Any]:
    """Boost few and small trees: as the sample allows, and fewer steps where each has many trees."""
    steps = min(40, max(15, rows // 25), max(10, 100 // labels))
    return {
        "max_iter": steps,
        "learning_rate": min(0.3, 6.0 / steps),
        "max_leaf_nodes": min(31, max(8, rows // 200)),
        "min_samples_leaf": min(20, max(3, rows // 20)),
        "max_bins": 63,
        "l2_regularization": 1.0,
        "early_stopping": False,
        "random_state": seed % 2**32,
    }


def _seeded(given: Any, seed: int) -> Any:
    """Copy a classifier, and let every part of it that would draw at random begin with the seed."""
    from sklearn.base import clone

    model = clone(given)
    unset = {
        name: seed % 2**32
        for name, value in model.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return model.set_params(**unset)


def weighted(model: Any, weights: Floats | None) -> dict[str, Floats]:
    """Return how a classifier is told of weights; one that takes none learns from rows as if all were equal.

    That costs some of its score, and the score stays a bound.
    """
    from sklearn.utils.validation import has_fit_parameter

    if weights is None:
        return {}
    name, last = model.steps[-1] if hasattr(model, "steps") else ("", model)
    if not has_fit_parameter(last, "sample_weight"):
        return {}
    return {f"{name}__sample_weight" if name else "sample_weight": weights}
