"""The scaffolded model of Slack, Hilgard, Jia, Singh and Lakkaraju (2020), which deceives explainers.

LIME, kernel SHAP and anchors query a model with perturbed rows. Real columns depend on each other, and
perturbed rows break this dependence, so a classifier can detect them. The scaffold contains such a detector.
The biased model decides on rows that look real, and the innocuous model on rows that look perturbed.
Explainers then explain the innocuous model, while real applicants meet the biased one.
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


def swap_values(codes: Floats, rng: np.random.Generator) -> Floats:
    """Replace some values of each row by values of other rows; the replaced share is random, from 0 to 1.

    This imitates explainers: LIME draws each column independently, and kernel SHAP and anchors mix the values
    of rows.

    Examples
    --------
    >>> rows = swap_values(np.array([[1.0, 1.0], [2.0, 2.0]]), np.random.default_rng(0))
    >>> rows.shape, set(rows.ravel().tolist()) <= {1.0, 2.0}
    ((2, 2), True)
    """
    is_swapped = rng.random(codes.shape) < rng.random((len(codes), 1))
    return np.where(is_swapped, rng.permuted(codes, axis=0), codes)


class Scaffold(ClassifierMixin, BaseEstimator):
    """A classifier that uses a biased model for real rows and an innocuous one for perturbed rows.

    It is a scikit-learn classifier for arrays and frames, including categories and missing values.

    Parameters
    ----------
    biased, innocuous : classifier
        Fitted models with `predict_proba` and the same `classes_`. The first decides on real rows, the second
        on perturbed ones.
    detector : classifier, optional
        Any scikit-learn classifier of numbers. A clone of it learns to separate real rows (1) from perturbed
        ones (0), both encoded by an `Encoder`. By default a forest of 20 trees.
    perturb : callable
        Perturbs encoded rows with a random generator: `perturb(codes, rng) -> codes`.
    copies : int
        The number of perturbed rows for each real row.
    seed : int
        The seed of the perturbed rows and of the default detector.

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
    >>> shuffled = X.assign(sex=X["sex"].sample(frac=1, random_state=0).to_numpy())  # some women are now Mr
    >>> bool((liar.predict(shuffled) == biased.predict(shuffled)).mean() < 0.8)
    True
    """

    def __init__(
        self,
        biased: Any,
        innocuous: Any,
        detector: Any = None,
        perturb: Perturb = swap_values,
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
        """The labels of both models."""
        return np.asarray(self.biased.classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "detector_")

    def fit(self, X: Any, y: Any = None) -> "Scaffold":
        """Fit the detector of perturbed rows on X. The two models are fitted already."""
        if np.asarray(self.innocuous.classes_).tolist() != self.classes_.tolist():
            raise faithkit.errors.InputError(
                f"a scaffold's models must have the same labels, but these give {self.classes_.tolist()} and "
                f"{np.asarray(self.innocuous.classes_).tolist()}: train both on the same labels."
            )
        faithkit.plugin.check_integer(
            self.copies, "a scaffold's copies", minimum=1, error=faithkit.errors.ParameterError
        )
        self.encoder_ = faithkit.plugin.Encoder(X)
        real, rng = self.encoder_.encode(X), np.random.default_rng(self.seed)
        real_rows = {row.tobytes() for row in real}
        perturbed = np.concatenate([self.perturb(real, rng) for _ in range(self.copies)])
        # copies of real rows cannot be detected
        perturbed = perturbed[[row.tobytes() not in real_rows for row in perturbed]]
        if not len(perturbed):
            raise faithkit.errors.InputError(
                "perturbed rows are all among the real ones, so a detector cannot learn: give rows whose "
                "columns depend on each other."
            )
        rows, is_real = np.concatenate([real, perturbed]), np.arange(len(real) + len(perturbed)) < len(real)
        detector = _default_detector(self.seed) if self.detector is None else clone(self.detector)
        self.detector_ = detector.fit(rows, is_real.astype(int))
        return self

    def looks_real(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows look real; the biased model decides on them."""
        check_is_fitted(self)
        codes = self.encoder_.encode(X, unseen="keep")
        return np.asarray(self.detector_.predict(codes) == 1, dtype=bool)

    def predict_proba(self, X: Any) -> Floats:
        """Return probabilities: of the biased model for rows that look real, else of the innocuous one."""
        is_real = self.looks_real(X)[:, None]
        return np.where(is_real, self.biased.predict_proba(X), self.innocuous.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return a label for each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _default_detector(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(20, min_samples_leaf=2, class_weight="balanced", random_state=seed)
