"""The explainer `gradient`: the gradient of a score at the instance (section 3.2.3 of the paper)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.gradients.finite_differences import FiniteDifferences
from faithkit_feature_importance.gradients.formulas import Formula, find_formula, use_decision_function
from faithkit_feature_importance.gradients.row_shapes import RowShape
from faithkit_feature_importance.gradients.torch_modules import is_module
from faithkit_feature_importance.targets import Target, check_target

METHODS = ("auto", "analytic", "finite-differences")
PROBE_ROWS = 100  # background rows on which formulas are compared with the model
MAX_FLAT_SHARE = 0.5  # of these rows: if more have no slope, the score is a step function, not saturated


class GradientExplainer:
    """The gradient of a class's score with respect to the instance, exact if a formula is known.

    For a regressor, it is the gradient of the prediction.

    Formulas are known for linear models, scikit-learn's multi-layer perceptrons and PyTorch modules
    (autograd), alone or in a Pipeline after scalers. Each formula is compared with the model's own scores.
    Other models are differentiated by central differences, to about six digits. The step is 2⁻¹⁰ of a
    column's standard deviation to either side (2⁻⁶, and four digits, if scores are in float32). With central
    differences, categories, booleans and missing numbers have no derivative and get 0.

    For images and series, the gradient has one number per pixel: by autograd for a PyTorch module, else by
    central differences, which call the model twice per pixel.

    Parameters
    ----------
    output : str
        "probability", or "raw": the decision function, or the scores before softmax or sigmoid. A regressor
        has neither; its prediction is differentiated.
    target : str, optional
        The explained class: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more.
    offset : bool
        Whether to append the offset b(x) = score(x) − ∇·x to the gradient, as part of the explanation. Both
        together are the tangent; the gradient alone is the tangent up to a constant.
    method : str
        "analytic" (formulas and autograd only), "finite-differences", or "auto": "analytic" if
        a formula is known, else "finite-differences".

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
    learns = False  # the background only sets the step of finite differences

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
        """Find the model's formula, or choose the steps of finite differences."""
        _check_input(predictor.model, background)
        self.row_shape_ = RowShape.of(background)
        predictor, background = self.row_shape_.flat_predictor(predictor), self.row_shape_.flatten(background)
        _check_output(predictor, self.output, background)
        self.target_ = Target.choose("gradient", self.target, predictor, background)
        self.output_ = "prediction" if predictor.is_regressor else self.output
        self.encoder_ = faithkit.plugin.Encoder(background)
        probe = _probe_rows(background)
        if self.row_shape_.shape is not None:
            _check_floats(predictor, probe)
        self.n_classes_ = predictor.scores(probe).shape[1]
        self.gradient_function_: Formula | FiniteDifferences = self._find_formula(
            predictor, probe
        ) or self._finite_differences(predictor, background, probe)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one gradient per row, in column order. The seeds are not used."""
        rows, names = self.row_shape_.flatten(X), self.row_shape_.column_names(self.encoder_.names)
        codes = self.encoder_.encode(rows, unseen="keep")
        scores, slopes = np.empty((0, self.n_classes_)), np.empty((0, codes.shape[1], self.n_classes_))
        if len(codes):
            scores, slopes = self.gradient_function_(rows)
        offsets = scores - _directional_sums(slopes, codes)
        return self.target_.explanations(
            X, slopes, offsets, names, offset=self.offset, output=self.output_, slopes=True
        )

    def _find_formula(self, predictor: faithkit.Predictor, probe: Any) -> Formula | None:
        if self.method == "finite-differences":
            return None
        formula = find_formula(predictor, self.encoder_, probe, self.output_)
        if formula is None and self.method == "analytic":
            raise faithkit.errors.InputError(
                f"gradient: no formula is known for the {self.output_} output of "
                f"{_model_name(predictor.model)}; there are some for linear models, multi-layer perceptrons "
                "and PyTorch modules, alone or behind scalers. Leave out method=analytic to have it "
                "differentiated numerically."
            )
        return formula

    def _finite_differences(
        self, predictor: faithkit.Predictor, background: Any, probe: Any
    ) -> FiniteDifferences:
        model = predictor.model
        if self.output == "raw" and not hasattr(model, "decision_function"):
            raise faithkit.errors.InputError(
                f"gradient: {_model_name(model)} has no raw scores (decision_function), nor is a formula "
                "known for them: use output=probability."
            )
        scored = use_decision_function(predictor) if self.output == "raw" else predictor
        differences = FiniteDifferences.fit(scored, self.encoder_, background)
        _warn_if_flat(model, differences(probe)[1])
        return differences


def _check_input(model: Any, background: Any) -> None:
    if is_module(model):
        raise faithkit.errors.InputError(
            f"gradient: the model is the PyTorch module {_model_name(model)}, which gives scores and no "
            "labels: wrap it, faithkit_feature_importance.TorchClassifier(module, classes) or "
            "TorchRegressor(module)."
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
        predictor.scores(background)  # raises an error with advice
    if predictor.is_regressor:
        if output == "raw":
            raise faithkit.errors.InputError(
                f"gradient: {_model_name(model)} has no raw scores besides its predictions: leave output=raw "
                "out."
            )
        return
    if output == "probability" and not hasattr(model, "predict_proba"):
        raise faithkit.errors.InputError(
            f"gradient: {_model_name(model)} has no probabilities (predict_proba): use output=raw, its "
            "decision_function."
        )


def _check_floats(predictor: faithkit.Predictor, pixels: Any) -> None:
    """Reject a model that scores integers and the same floats differently: slopes need floats."""
    if pixels.dtype.kind == "f":
        return
    if not np.allclose(predictor.scores(pixels), predictor.scores(pixels.astype(np.float64))):
        raise faithkit.errors.InputError(
            f"gradient: {_model_name(predictor.model)} scores {pixels.dtype} and the same numbers as floats "
            "differently, and slopes need floats: give X and the background as the floats that it expects."
        )


def _probe_rows(background: Any) -> Any:
    """Return a few rows of the background, chosen by content, so that its order does not matter."""
    hashes = [faithkit.plugin.row_seeds(background, seed) for seed in (0, 1)]
    return faithkit.plugin.take_rows(background, np.lexsort(hashes)[:PROBE_ROWS])


def _directional_sums(slopes: NDArray[np.float64], codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ∇·x for every class, summed in a fixed order. A missing number counts as 0."""
    sums = np.zeros((len(slopes), slopes.shape[2]))
    for j, column in enumerate(codes.T):
        sums += slopes[:, j] * np.where(np.isnan(column), 0.0, column)[:, None]
    return sums


def _warn_if_flat(model: Any, slopes: NDArray[np.float64]) -> None:
    is_flat = (slopes == 0).all(axis=(1, 2))
    if is_flat.mean() > MAX_FLAT_SHARE:
        faithkit.errors.warn(
            f"gradient: the score of {_model_name(model)} does not change around {int(is_flat.sum())} of "
            f"{len(is_flat)} background rows, as for trees and nearest neighbours: the gradient is 0 there, "
            "and elsewhere it depends on the step. shap explains such models."
        )


def _model_name(model: Any) -> str:
    return getattr(model, "__name__", None) or type(model).__name__
