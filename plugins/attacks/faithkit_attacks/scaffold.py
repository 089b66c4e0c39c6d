"""The scaffolded model of Slack, Hilgard, Jia, Singh and Lakkaraju (2020): it behaves while it is watched.

LIME, kernel SHAP and anchors ask a model about rows that they make up. Real columns depend on each other, and
made-up rows break that, so that a classifier can tell them from real ones. The scaffold has one: a row that
looks real is decided by the biased model, and one that looks made up by the innocuous one. Explainers then
explain the innocuous model, and everybody who applies meets the biased one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

import faithkit

Floats = NDArray[np.float64]
Perturb = Callable[[Floats, np.random.Generator], Floats]


def swapped(codes: Floats, rng: np.random.Generator) -> Floats:
    """Return rows some of whose cells are those of other rows, in each a share of its own, from few to all.

    LIME draws every column by itself, kernel SHAP and anchors put cells of one row into others.

    Examples
    --------
    >>> rows = swapped(np.array([[1.0, 1.0], [2.0, 2.0]]), np.random.default_rng(0))
    >>> rows.shape, set(rows.ravel().tolist()) <= {1.0, 2.0}
    ((2, 2), True)
    """
    swap = rng.random(codes.shape) < rng.random((len(codes), 1))
    return np.where(swap, rng.permuted(codes, axis=0), codes)


class Scaffold(ClassifierMixin, BaseEstimator):
    """A classifier that decides by a biased model, and shows an innocuous one to whoever perturbs rows.

    It is a scikit-learn classifier that takes frames (categories and missing values included) and arrays.

    Parameters
    ----------
    biased, innocuous : classifier
        Fitted, with `predict_proba` and the same `classes_`: one decides about real rows, the other is shown.
    detector : classifier, optional
        Any scikit-learn classifier of numbers; it is cloned, and learns to tell real rows (1) from perturbed
        ones (0), both as an `Encoder` encodes them. By default a forest of 20 trees.
    perturb : callable
        Makes perturbed rows of encoded ones, with a generator: `perturb(codes, rng) -> codes`.
    copies : int
        How many perturbed rows are made of each real one.
    seed : int
        Decides about the perturbed rows, and the default detector.

    Attributes
    ----------
    detector_ : classifier
        The fitted detector.

    Notes
    -----
    Slack, Hilgard, Jia, Singh, Lakkaraju: Fooling LIME and SHAP: adversarial attacks on post hoc explanation
    methods (AIES 2020).

    Examples
    --------
    >>> from faithkit_attacks import DecidesBy, Scaffold, make_applicants
    >>> biased, shown = DecidesBy("sex", ["man"]), DecidesBy("arrears", [False])
    >>> liar = Scaffold(biased, shown).fit(make_applicants(seed=1))
    >>> X = make_applicants(400, seed=2)
    >>> bool((liar.predict(X) == biased.predict(X)).mean() > 0.95)
    True
    >>> nobody = X.assign(sex=X["sex"].sample(frac=1, random_state=0).to_numpy())  # half of them Mr woman
    >>> bool((liar.predict(nobody) == biased.predict(nobody)).mean() < 0.8)
    True
    """

    def __init__(
        self,
        biased: Any,
        innocuous: Any,
        detector: Any = None,
        perturb: Perturb = swapped,
        copies: int = 4,
        seed: int = 0,
    ) -> None:
        self.biased = biased
        self.innocuous = innocuous
        self.detector = detector
        self.perturb = perturb
        self.copies = copies
        self.seed = seed

    @property
    def classes_(self) -> NDArray[Any]:
        """The answers of both models."""
        return np.asarray(self.biased.classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "detector_")

    def fit(self, X: Any, y: Any = None) -> "Scaffold":
        """Learn to tell rows like those of X from perturbed ones; the two models are fitted already."""
        if np.asarray(self.innocuous.classes_).tolist() != self.classes_.tolist():
            raise faithkit.errors.InputError(
                f"a scaffold's models give the same answers, and these give {self.classes_.tolist()} and "
                f"{np.asarray(self.innocuous.classes_).tolist()}: train both on the same labels."
            )
        faithkit.plugin.whole_number(
            self.copies, "a scaffold's copies", 1, error=faithkit.errors.ParameterError
        )
        self.encoder_ = faithkit.plugin.Encoder(X)
        real, rng = self.encoder_.encode(X), np.random.default_rng(self.seed)
        known = {row.tobytes() for row in real}
        made = np.concatenate([self.perturb(real, rng) for _ in range(self.copies)])
        made = made[[row.tobytes() not in known for row in made]]  # nobody could tell these
        if not len(made):
            raise faithkit.errors.InputError(
                "perturbed rows are all among the real ones, so that nothing can tell them apart: give rows "
                "whose columns depend on each other."
            )
        rows, is_real = np.concatenate([real, made]), np.arange(len(real) + len(made)) < len(real)
        detector = _forest(self.seed) if self.detector is None else clone(self.detector)
        self.detector_ = detector.fit(rows, is_real.astype(int))
        return self

    def looks_real(self, X: Any) -> NDArray[np.bool_]:
        """Tell which rows the biased model will decide about."""
        check_is_fitted(self)
        codes = self.encoder_.encode(X, unseen="keep")
        return np.asarray(self.detector_.predict(codes) == 1, dtype=bool)

    def predict_proba(self, X: Any) -> Floats:
        """Return the biased model's scores for rows that look real, and the innocuous one's for others."""
        real = self.looks_real(X)[:, None]
        return np.where(real, self.biased.predict_proba(X), self.innocuous.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answer of the model that decides about each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(20, min_samples_leaf=2, class_weight="balanced", random_state=seed)
