"""Gradients of a model's score with respect to the instance (section 3.2.3 of the paper)."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.gradients.finite_differences import FiniteDifferences
from faithkit_feature_importance.gradients.formulas import Formula, find_formula, raw_scores
from faithkit_feature_importance.gradients.layouts import Layout
from faithkit_feature_importance.gradients.torch_modules import is_module
from faithkit_feature_importance.targets import Target, check_target

METHODS = ("auto", "analytic", "finite-differences")
PROBE = 100  # background rows on which formulas are compared with the model
FLAT = 0.5  # of these rows without any slope: the score is then a step function rather than saturated


class GradientExplainer:
    """The gradient of a class's score with respect to the instance, exact where a formula is known.

    Of a regressor it is the gradient of what it predicts.

    Formulas are known for linear models and scikit-learn's multi-layer perceptrons, for PyTorch modules
    (autograd), and for Pipelines in which scalers stand before those; each is compared with the model's own
    scores. Other models are differentiated by central differences, to about six digits: 2⁻¹⁰ of a column's
    standard deviation to either side (2⁻⁶, and four digits, where scores are in float32). There, categories,
    booleans and missing numbers have no derivative, and get 0.

    Of images and series it is the gradient with respect to every cell: by autograd of a PyTorch module, else
    by central differences, for which the model is asked twice about each cell.

    Parameters
    ----------
    output : str
        "probability", or "raw": the decision function, or the scores before softmax or sigmoid. A regressor
        has neither, and what it predicts is differentiated.
    target : str, optional
        Which class is explained: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more.
    offset : bool
        Whether the offset b(x) = score(x) − ∇·x stands behind the gradient, as part of the explanation: the
        two together are the tangent, and the gradient alone is that up to a constant.
    method : str
        "analytic" (formulas and autograd only), "finite-differences", or "auto": the first where it is known.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.0]])
    >>> model = LogisticRegression().fit(X, [0, 0, 1, 1])
    >>> gradient = GradientExplainer(output="raw", offset=True).fit(faithkit.Predictor(model), X)
    >>> tangent = gradient.explain(X, seeds=None).values[0]
    >>> bool(np.allclose(tangent, [*model.coef_[0], model.intercept_[0]]))
    True
    """

    rows_per_chunk = 4096
    outcomes = ("labels", "numbers")
    learns = False  # the background sets the step of finite differences, and no explanation

    def __init__(
        self,
        output: str = "probability",
        target: str | None = None,
        offset: bool = False,
        method: str = "auto",
    ) -> None:
        if output not in ("probability", "raw"):
            raise faithkit.errors.ParameterError(
                f"gradient: output must be 'probability' or 'raw', got {output!r}."
            )
        if not isinstance(offset, bool):
            raise faithkit.errors.ParameterError(f"gradient: offset must be true or false, got {offset!r}.")
        if method not in METHODS:
            raise faithkit.errors.ParameterError(
                f"gradient: method must be one of {', '.join(METHODS)}, got {method!r}."
            )
        self.output = output
        self.target = check_target("gradient", target)
        self.offset = offset
        self.method = method

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "GradientExplainer":
        """Find the model's formula, or the steps of finite differences."""
        _check_input(predictor.model, background)
        self.layout_ = Layout.of(background)
        predictor, background = self.layout_.predictor(predictor), self.layout_.rows(background)
        _check_output(predictor, self.output, background)
        self.target_ = Target.choose("gradient", self.target, predictor, background)
        self.output_ = "prediction" if predictor.is_regressor else self.output
        self.encoder_ = faithkit.plugin.Encoder(background)
        probe = _some_rows(background)
        if self.layout_.shape is not None:
            _check_floats(predictor, probe)
        self.n_classes_ = predictor.scores(probe).shape[1]
        self.slopes_: Formula | FiniteDifferences = self._formula(predictor, probe) or self._differences(
            predictor, background, probe
        )
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one gradient per row, in column order; no seeds are needed."""
        rows, names = self.layout_.rows(X), self.layout_.names(self.encoder_.names)
        codes = self.encoder_.encode(rows, unseen="keep")
        scores, slopes = np.empty((0, self.n_classes_)), np.empty((0, codes.shape[1], self.n_classes_))
        if len(codes):
            scores, slopes = self.slopes_(rows)
        offsets = scores - _along(slopes, codes)
        return self.target_.explanations(X, slopes, offsets, names, offset=self.offset, output=self.output_)

    def _formula(self, predictor: faithkit.Predictor, probe: Any) -> Formula | None:
        if self.method == "finite-differences":
            return None
        found = find_formula(predictor, self.encoder_, probe, self.output_)
        if found is None and self.method == "analytic":
            raise faithkit.errors.InputError(
                f"gradient: no formula is known for the {self.output_} output of {_name(predictor.model)}; "
                "there are some for linear models, multi-layer perceptrons and PyTorch modules, alone or "
                "behind scalers. Leave out method=analytic to have it differentiated numerically."
            )
        return found

    def _differences(self, predictor: faithkit.Predictor, background: Any, probe: Any) -> FiniteDifferences:
        model = predictor.model
        if self.output == "raw" and not hasattr(model, "decision_function"):
            raise faithkit.errors.InputError(
                f"gradient: {_name(model)} has no raw scores (decision_function), nor is a formula known for "
                "them: use output=probability."
            )
        own = raw_scores(predictor) if self.output == "raw" else predictor
        found = FiniteDifferences.learn(own, self.encoder_, background)
        _warn_if_flat(model, found(probe)[1])
        return found


def _check_input(model: Any, background: Any) -> None:
    if is_module(model):
        raise faithkit.errors.InputError(
            f"gradient: the model is the PyTorch module {_name(model)}, which gives scores and no labels: "
            "wrap it, faithkit_feature_importance.TorchClassifier(module, classes) or TorchRegressor(module)."
        )
    if isinstance(background, list) or hasattr(background, "tocsr"):
        kind = "texts" if isinstance(background, list) else "sparse matrices"
        raise faithkit.errors.InputError(
            f"gradient explains tables, not {kind}: give a DataFrame or an array of the model's own inputs, "
            "or choose another explainer."
        )


def _check_output(predictor: faithkit.Predictor, output: str, background: Any) -> None:
    model = predictor.model
    if not predictor.has_scores:
        predictor.scores(background)  # which says what to do
    if predictor.is_regressor:
        if output == "raw":
            raise faithkit.errors.InputError(
                f"gradient: {_name(model)} has no raw scores beside what it predicts: leave output=raw out."
            )
        return
    if output == "probability" and not hasattr(model, "predict_proba"):
        raise faithkit.errors.InputError(
            f"gradient: {_name(model)} has no probabilities (predict_proba): use output=raw, its "
            "decision_function."
        )


def _check_floats(predictor: faithkit.Predictor, pixels: Any) -> None:
    """Refuse a model that takes 255 for white in bytes, and 1 in floats: slopes are asked for in floats."""
    if pixels.dtype.kind == "f":
        return
    if not np.allclose(predictor.scores(pixels), predictor.scores(pixels.astype(np.float64))):
        raise faithkit.errors.InputError(
            f"gradient: {_name(predictor.model)} gives other scores where the same {pixels.dtype} are "
            "floats, and a slope needs floats: give X and the background as the floats that it means."
        )


def _some_rows(background: Any) -> Any:
    """Return a few rows of the background, chosen by what they hold: its order must not matter."""
    words = [faithkit.plugin.row_seeds(background, seed) for seed in (0, 1)]
    return faithkit.plugin.take_rows(background, np.lexsort(words)[:PROBE])


def _along(slopes: NDArray[np.float64], codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ∇·x for every class, summed in a fixed order; a missing number adds nothing."""
    total = np.zeros((len(slopes), slopes.shape[2]))
    for j, column in enumerate(codes.T):
        total += slopes[:, j] * np.where(np.isnan(column), 0.0, column)[:, None]
    return total


def _warn_if_flat(model: Any, slopes: NDArray[np.float64]) -> None:
    flat = (slopes == 0).all(axis=(1, 2))
    if flat.mean() > FLAT:
        warnings.warn(
            f"gradient: the score of {_name(model)} does not change around {int(flat.sum())} of {len(flat)} "
            "background rows, as that of trees and of nearest neighbours does not: the gradient is 0 there, "
            "and elsewhere an effect of the step. shap explains such models.",
            faithkit.FaithkitWarning,
            stacklevel=3,
        )


def _name(model: Any) -> str:
    return getattr(model, "__name__", None) or type(model).__name__
