"""SHAP values of tree models by TreeSHAP, checked against the model on every batch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit

TOLERANCE = 1e-4  # of additivity; tree libraries work in float32
TARGETS = ("positive", "predicted", "all")


class ShapExplainer:
    """SHAP values of tree models, exact (interventional TreeSHAP).

    Parameters
    ----------
    output : str
        "probability" or "raw" (the scale the trees add up on, such as log-odds).
    target : str, optional
        Which class is explained: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more.
    background : str
        The reference rows: "rows" (all of the background), "median" (one row), or "sample:n".

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.array([[0.0, 5.0], [1.0, 5.0]]), [0, 1]
    >>> tree = DecisionTreeClassifier().fit(X, y)
    >>> shap = ShapExplainer().fit(faithkit.Predictor(tree), X)
    >>> shap.explain(X, seeds=None).values.round(3)
    array([[-0.5,  0. ],
           [ 0.5,  0. ]])
    """

    rows_per_chunk = 1024  # TreeSHAP is fast in batches

    def __init__(
        self, output: str = "probability", target: str | None = None, background: str = "sample:100"
    ) -> None:
        if output not in ("probability", "raw"):
            raise faithkit.ParameterError(f"shap: output must be 'probability' or 'raw', got {output!r}.")
        if target not in (None, *TARGETS):
            raise faithkit.ParameterError(
                f"shap: target must be one of {', '.join(TARGETS)}, got {target!r}."
            )
        self.output = output
        self.target = target
        self.background = background

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "ShapExplainer":
        """Hand the trees and the reference rows to TreeSHAP."""
        if predictor.classes is None or len(predictor.classes) < 2:
            raise faithkit.InputError(
                f"shap explains classifiers of two classes or more, and the model has {predictor.classes}."
            )
        self.predictor_ = predictor
        self.target_ = self.target or ("positive" if len(predictor.classes) == 2 else "predicted")
        if self.target_ == "positive" and len(predictor.classes) != 2:
            raise faithkit.InputError(
                f"shap: target=positive needs two classes, the model has {len(predictor.classes)}: "
                "use target=predicted or target=all."
            )
        predictor.scores(background)  # TreeSHAP reads past arrays of another width: let the model refuse them
        self.encoder_ = faithkit.Encoder(background)
        self._choose_precision(background)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one vector per row, in column order; TreeSHAP needs no seeds."""
        values, base = self._values(self.encoder_.encode(X))
        gap = self._gap(values, base, X)
        if not gap <= TOLERANCE:
            raise faithkit.InputError(
                f"TreeSHAP is off by {gap:.2g} from {type(self.predictor_.model).__name__}'s own output: its "
                "values would be wrong. Fit the model without categorical_features=, or explain it otherwise."
            )
        if self.target_ == "all":
            chosen = values.transpose(0, 2, 1).reshape(len(values), -1)
        else:
            chosen = values[np.arange(len(values)), :, self._explained(X)]
        shared = {"names": self._names(), "base_value": base.tolist(), "target": self.target_}
        return faithkit.Explanations.vectors(chosen, instances=X, shared=shared)

    def _choose_precision(self, background: Any) -> None:
        """Find the precision in which SHAP values add up to the model's output.

        Some tree libraries compare in float32, others in float64, and a value at a threshold then falls to
        another side.
        """
        reference = self._reference(self.encoder_.encode(background))
        probe = self.encoder_.decode(reference)
        for self.precision_ in (np.float32, np.float64):
            self.trees_ = self._tree_shap(self._rounded(reference))
            values, base = self._values(reference)
            if self._gap(values, base, probe) <= TOLERANCE:
                return

    def _rounded(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        return codes.astype(self.precision_).astype(np.float64)

    def _tree_shap(self, reference: NDArray[np.float64]) -> Any:
        import shap

        model = self.predictor_.model
        try:
            trees = shap.TreeExplainer(
                model, data=reference, model_output=self.output, feature_perturbation="interventional"
            )
        except Exception as error:
            raise faithkit.InputError(
                f"shap cannot read {type(model).__name__} as trees ({' '.join(str(error).split())[:120]}). "
                "It takes tree models of scikit-learn, XGBoost and LightGBM on numeric columns: give one of "
                "those, or choose an explainer for any model, such as tree or empirical-anchors."
            ) from error
        trees.model.thresholds = _rounded_down(trees.model.thresholds)
        return trees

    def _values(self, codes: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return SHAP values (rows, columns, classes) and the base value of every class."""
        values = self._per_class(self.trees_.shap_values(self._rounded(codes), check_additivity=False))
        return values, self._base(values.shape[2])

    def _reference(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.background == "median":
            return np.nanmedian(codes, axis=0, keepdims=True)
        if self.background == "rows":
            return codes
        kind, _, count = str(self.background).partition(":")
        if kind != "sample" or not count.isdigit() or int(count) < 1:
            raise faithkit.ParameterError(
                f"shap: background must be rows, median or sample:n, got {self.background!r}."
            )
        if int(count) >= len(codes):
            return codes
        # by content, not by position: the background's order must not change the explanations
        order = np.lexsort((faithkit.row_seeds(codes, seed=1), faithkit.row_seeds(codes, seed=0)))
        return codes[order[: int(count)]]

    def _per_class(self, values: Any) -> NDArray[np.float64]:
        """Bring SHAP's many shapes to (rows, columns, classes); a single output is the second of two."""
        array = np.asarray(values, dtype=np.float64)
        return np.stack([-array, array], axis=2) if array.ndim == 2 else array

    def _base(self, classes: int) -> NDArray[np.float64]:
        base = np.asarray(self.trees_.expected_value, dtype=np.float64).ravel()
        if len(base) == classes:
            return base
        first = 1.0 - base[0] if self.output == "probability" else -base[0]
        return np.array([first, base[0]])

    def _explained(self, X: Any) -> Any:
        if self.target_ == "positive":
            return 1
        place = {label: i for i, label in enumerate(self.predictor_.classes.tolist())}
        return np.array([place[label] for label in self.predictor_.predict(X).tolist()], dtype=int)

    def _gap(self, values: NDArray[np.float64], base: NDArray[np.float64], X: Any) -> float:
        """Compare with the model itself: TreeSHAP can be wrong, and its own check does not notice."""
        if not len(values):
            return 0.0
        total = values.sum(axis=1) + base
        if self.output == "raw" and len(base) == 2 and np.allclose(base[0], -base[1]):
            total = 1 / (1 + np.exp(-total))  # log-odds of two classes
        elif self.output == "raw" and not np.allclose(base.sum(), 1):
            total = np.exp(total - total.max(axis=1, keepdims=True))
            total /= total.sum(axis=1, keepdims=True)
        return float(np.abs(total - self.predictor_.scores(X)).max())

    def _names(self) -> list[str]:
        names = list(map(str, self.encoder_.names))
        if self.target_ != "all":
            return names
        return [f"{label}: {name}" for label in self.predictor_.classes.tolist() for name in names]


def _rounded_down(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest float32 at or below each threshold.

    The interventional algorithm stores thresholds as float32, rounded to nearest; a float32 value just above
    a threshold then falls below it. Rounded down, every comparison comes out as the model makes it.
    """
    nearest = np.asarray(thresholds).astype(np.float32)
    down = np.where(nearest > thresholds, np.nextafter(nearest, np.float32(-np.inf)), nearest)
    return down.astype(np.float64)
