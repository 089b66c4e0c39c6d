"""The classifiers that read explanations: a few of scikit-learn's, or the user's own."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_diagnostics.reader.features import MAX_TOKENS, MAX_WORDS, Floats

AUTO = "auto"
WORDS = "words"
RARE = -1  # the code of all labels that are not learnt
FEW_CLASSES = 5  # more classes take more time
MAX_CLASSES = 50  # labels that a reader learns; it gives the rarer ones no probability
TREE_VALUES = 300_000  # of a table that trees learn from: more would take long and tell little
LINEAR_VALUES = 10_000_000
TREE_COLUMNS = 64  # of numbers: to find the bins of one takes as long as thousands of values
MAX_COLUMNS = 500
WORD_REGULARIZATION = 10.0  # C of a regression on TF-IDF; 1 leaves all words of long texts near nothing

ROUNDING = 1e-9  # a column that varies by no more than this share of its mean is constant

Counts = NDArray[np.int64]
Make = Callable[[int, int, int], Any]
"""A function that makes a classifier for so many rows and labels, with a seed."""

CandidateType = TypeVar("CandidateType", bound="Candidate")


@contextmanager
def raise_input_errors(action: str, advice: str) -> Iterator[None]:
    """Turn any exception of a model into an `InputError` of one line."""
    try:
        yield
    except (faithkit.errors.FaithkitError, KeyboardInterrupt):
        raise
    except BaseException as error:
        reason = " ".join(str(error).split())
        raise faithkit.errors.InputError(
            f"{action} failed with {type(error).__name__}: {reason.rstrip('.')}. {advice}"
        ) from error


@attrs.frozen(eq=False)
class Candidate:
    """A classifier that can be a reader, and the limits of its training data.

    These limits depend on the shape of the table alone, so that timing never changes the result.
    """

    name: str
    make: Make
    values: int | None = None
    columns: int = MAX_COLUMNS
    words: int = MAX_TOKENS
    is_sparse: bool = False

    noun = "classifier"
    advice = "Give a scikit-learn classifier that has predict_proba and takes numbers, NaN among them."

    def max_rows(self, width: int, labels: int) -> int | None:
        """Return how many rows of a table it may learn from; many labels need more time per row."""
        times = max(1, min(labels, MAX_CLASSES) // FEW_CLASSES)
        return None if self.values is None else max(1, self.values // (max(1, width) * times))

    def fit(self, X: Floats, y: Counts, weights: Floats | None, seed: int) -> "Fitted":
        """Fit a new classifier on rows."""
        classes, sizes = np.unique(y, return_counts=True)
        common = classes[np.lexsort((classes, -sizes))][:MAX_CLASSES]
        # the rarer labels form one class, or their rows would count for other labels
        learnt_labels, codes = np.unique(np.where(np.isin(y, common), y, RARE), return_inverse=True)
        with self.calling():
            model = self.make(X.shape[0], len(learnt_labels), seed)
            model.fit(X, codes, **weight_arguments(model, weights))
            return Fitted(self, model, learnt_labels[np.asarray(model.classes_)])

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Run code of the classifier; its exceptions name the classifier."""
        with raise_input_errors(f"the {self.noun} {self.name}", self.advice), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as missing convergence, which shows in the score
            yield


@attrs.frozen(eq=False)
class Fitted:
    """A fitted classifier."""

    candidate: Candidate
    model: Any
    classes: Counts

    def probabilities(self, X: Floats) -> tuple[Counts, Floats]:
        """Return the labels that it learnt, and the probability of each label for every row."""
        with self.candidate.calling():
            probabilities = np.asarray(self.model.predict_proba(X), dtype=np.float64)
            self._check(probabilities, (X.shape[0], len(self.classes)))
        is_learnt = self.classes != RARE
        return self.classes[is_learnt], probabilities[:, is_learnt]

    def _check(self, probabilities: Floats, shape: tuple[int, int]) -> None:
        """Check that these are probabilities; otherwise the score would not be a bound."""
        if probabilities.shape != shape:
            raise faithkit.errors.InputError(
                f"the classifier {self.candidate.name} gave probabilities of shape {probabilities.shape}; "
                f"expected {shape}. {self.candidate.advice}"
            )
        if not ((probabilities >= 0).all() and (probabilities.sum(axis=1) <= 1 + 1e-6).all()):
            raise faithkit.errors.InputError(
                f"the classifier {self.candidate.name} gave probabilities below 0, or above 1 in all; "
                f"expected shares of 1. {self.candidate.advice}"
            )


class Scaled:
    """A transformer that scales columns, fills their gaps with the mean, and marks the gaps."""

    def fit_transform(self, X: Floats) -> Floats:
        """Learn the means and standard deviations of the columns, and return the scaled columns."""
        gaps = np.isnan(X)
        self._with_gaps = np.flatnonzero(gaps.any(axis=0))
        self._fill = np.where(gaps, 0.0, X).sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
        marked = self._mark_gaps(X)
        self._mean, spread = marked.mean(axis=0), marked.std(axis=0)
        is_constant = spread <= ROUNDING * np.abs(self._mean)
        self._spread = np.where(is_constant, 1.0, spread)
        return self._scale(marked)

    def transform(self, X: Floats) -> Floats:
        """Return columns, scaled as in `fit_transform`."""
        return self._scale(self._mark_gaps(X))

    def _mark_gaps(self, X: Floats) -> Floats:
        gaps = np.isnan(X)
        return np.hstack([np.where(gaps, self._fill, X), gaps[:, self._with_gaps]])

    def _scale(self, X: Floats) -> Floats:
        return (X - self._mean) / self._spread


class Logistic(Scaled):
    """Logistic regression on scaled columns, in which gaps are filled and marked.

    It is equivalent to a scikit-learn pipeline of an imputer with indicators, a scaler and a regression.
    Small samples need fourteen fits, and the pipeline would spend most of the time on checking its input in
    every step.

    Examples
    --------
    >>> X = np.array([[1.0], [np.nan], [1.0], [np.nan]])
    >>> Logistic().fit(X, np.array([0, 1, 0, 1])).predict_proba(X).argmax(axis=1)
    array([0, 1, 0, 1])
    """

    def fit(self, X: Floats, y: Counts, sample_weight: Floats | None = None) -> "Logistic":
        """Fit the scaling of the columns, and then the regression."""
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


def candidates(choice: Any = None) -> tuple[Candidate, ...]:
    """Return the classifiers to choose from.

    Parameters
    ----------
    choice : None, str or classifier
        The name of a candidate; or "auto" or None for "logistic", "trees" and, for texts, "words"; or a
        classifier with the interface of scikit-learn, which is copied and never fitted itself.

    Examples
    --------
    >>> [each.name for each in candidates("auto")], [each.name for each in candidates("trees")]
    (['logistic', 'trees', 'words'], ['trees'])
    """
    by_name = {
        "logistic": Candidate("logistic", lambda _rows, _labels, _seed: Logistic(), LINEAR_VALUES, words=0),
        "trees": Candidate("trees", _make_trees, TREE_VALUES, TREE_COLUMNS, words=0),
        WORDS: Candidate(WORDS, _make_word_model, columns=0, words=MAX_WORDS, is_sparse=True),
    }
    example = "classifier such as sklearn.naive_bayes.GaussianNB()"
    return select_candidates(choice, by_name, Candidate, example)


def select_candidates(
    choice: Any, by_name: Mapping[str, CandidateType], kind: type[CandidateType], example: str
) -> tuple[CandidateType, ...]:
    """Return all candidates, the one with this name, or one built from the user's model."""
    if choice is None or (isinstance(choice, str) and choice == AUTO):
        return tuple(by_name.values())
    if isinstance(choice, str):
        if choice not in by_name:
            names = ", ".join((AUTO, *by_name))
            raise faithkit.errors.InputError(f"there is no reader {choice!r:.60}. Choose one of {names}.")
        return (by_name[choice],)
    model = _as_instance(choice, (AUTO, *by_name), example, kind.advice)
    return (kind(type(model).__name__, lambda _rows, _labels, seed: _copy_with_seed(model, seed)),)


def _as_instance(model: Any, names: tuple[str, ...], example: str, advice: str) -> Any:
    """Return a model; a class is called without arguments."""
    with raise_input_errors("looking at the reader", advice):
        if hasattr(model, "fit"):
            return model() if isinstance(model, type) else model
    is_class = isinstance(model, type)
    description = f"the class {model.__name__}" if is_class else f"an object of type {type(model).__name__}"
    raise faithkit.errors.InputError(
        f"{description} cannot be a reader; expected {', '.join(map(repr, names))}, or a {example}."
    )


def select_for_features(
    candidates: tuple[CandidateType, ...], *, texts: bool, numbers: bool
) -> tuple[CandidateType, ...]:
    """Return the candidates that can read the features; the one for small samples comes first."""
    if len(candidates) == 1:
        return candidates
    for_numbers = tuple(candidate for candidate in candidates if candidate.name != WORDS)
    for_words = tuple(candidate for candidate in candidates if candidate.name == WORDS and texts)
    return for_numbers + for_words if numbers else for_words + for_numbers


def _make_word_model(_rows: int, _labels: int, _seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=WORD_REGULARIZATION)


def _make_trees(rows: int, labels: int, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(**boosting(rows, labels, seed))


def boosting(rows: int, labels: int, seed: int) -> dict[str, Any]:
    """Return the parameters of boosting: few, small trees for small samples; few steps for many labels."""
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


def _copy_with_seed(model: Any, seed: int) -> Any:
    """Copy a classifier, and set every `random_state` that is None to the seed."""
    from sklearn.base import clone

    model = clone(model)
    unset = {
        name: seed % 2**32
        for name, value in model.get_params(deep=True).items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    return model.set_params(**unset)


def weight_arguments(model: Any, weights: Floats | None) -> dict[str, Floats]:
    """Return the keyword arguments of `fit` for the weights; none, if the classifier does not accept weights.

    Without weights it scores somewhat less, and its score is still a bound.
    """
    from sklearn.utils.validation import has_fit_parameter

    if weights is None:
        return {}
    name, last = model.steps[-1] if hasattr(model, "steps") else ("", model)
    if not has_fit_parameter(last, "sample_weight"):
        return {}
    return {f"{name}__sample_weight" if name else "sample_weight": weights}
