"""The model output that SHAP values add up to: probabilities, raw scores or predictions, also of codes."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.scores import ScoreScale, predictor_with_scores
from faithkit_feature_importance.shap_values.leaf_by_leaf.column_origins import split_pipeline

Floats = NDArray[np.float64]
OUTPUTS = ("probability", "raw")
PREDICTION = "prediction"  # the output of a regressor
TOLERANCE = 1e-6
FLOAT32_TOLERANCE = 1e-4
VALUES_PER_CALL = 2**22  # in one call of the model


@attrs.frozen
class Output:
    """The scores that SHAP values add up to, one column per class, or per output of a regressor.

    Parameters
    ----------
    name : str
        "probability", "raw", or "prediction" for a regressor.
    tolerance : float
        By how much a sum may miss a score, relative to the scale of the scores.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> predictor = faithkit.Predictor(LinearSVC().fit(X, [0, 0, 1, 1]))
    >>> output = Output.choose("raw", predictor, X)
    >>> bool((output.scores(X)[:, 1] == predictor.model.decision_function(X)).all()), output.tolerance
    (True, 1e-06)
    >>> Output.choose("probability", predictor, X)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: shap: LinearSVC has no probabilities (predict_proba): use output=raw, ...
    """

    name: str
    tolerance: float
    _predictor: faithkit.Predictor = attrs.field(repr=False)
    scale: ScoreScale = attrs.field(repr=False)

    @classmethod
    def choose(cls, name: str, predictor: faithkit.Predictor, background: Any) -> "Output":
        """Find the method of the model that computes an output; raise an error with advice if it has none."""
        if not predictor.has_scores:
            predictor.scores(background)  # raises an error with advice
        if name == "raw":
            predictor = predictor_with_scores(predictor, _require_raw_method(predictor))
        elif predictor.is_regressor:
            name = PREDICTION
        elif not hasattr(predictor.model, "predict_proba"):
            raise faithkit.errors.InputError(
                f"shap: {type(predictor.model).__name__} has no probabilities (predict_proba): use "
                "output=raw, which explains its decision_function, or calibrate it (scikit-learn's "
                "CalibratedClassifierCV)."
            )
        row = faithkit.plugin.take_rows(background, slice(0, 1))
        predictor.scores(row)  # raises an error with advice if the model cannot take the row
        tolerance = FLOAT32_TOLERANCE if predictor.scores_are_single(row) else TOLERANCE
        return cls(name, tolerance, predictor, ScoreScale.of_predictor(predictor, background))

    @property
    def title(self) -> str:
        """The name of the output in messages."""
        return "raw score" if self.name == "raw" else self.name

    def scores(self, X: Any) -> Floats:
        """Return the scores of rows, (n, classes)."""
        return self._predictor.scores(X)

    def expand_two_classes(self, values: Floats) -> Floats:
        """Return values of a single score for both classes: those of the first class are the opposite."""
        is_single_score = values.shape[-1] == 1 and not self._predictor.is_regressor
        return np.concatenate([-values, values], axis=-1) if is_single_score else values


def candidate_outputs(output: str | None, predictor: faithkit.Predictor, reads_model: bool) -> list[str]:
    """Return the outputs to try, the preferred one first. By default raw scores come first, as in shap.

    >>> from sklearn.linear_model import LogisticRegression
    >>> predictor = faithkit.Predictor(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    >>> [candidate_outputs(None, predictor, reads_model) for reads_model in (True, False)]
    [['raw', 'probability'], ['probability']]
    """
    if output is not None:
        return [output]
    if predictor.is_regressor or not predictor.has_scores:
        return ["probability"]
    predict_proba = getattr(predictor.model, "predict_proba", None)
    raw = raw_method(predictor.model)
    if predict_proba is None and raw is not None:
        return ["raw"]
    return ["raw", "probability"] if reads_model and raw not in (None, predict_proba) else ["probability"]


def libraries_of(model: Any) -> set[str]:
    """Return the packages of a model's class and its base classes.

    >>> from sklearn.svm import LinearSVC
    >>> sorted(libraries_of(LinearSVC()))
    ['builtins', 'sklearn']
    """
    return {kind.__module__.partition(".")[0] for kind in type(model).__mro__}


def raw_method(model: Any) -> Any:
    """Return the method that computes raw scores: margins, or the probabilities of forests.

    >>> from sklearn.svm import LinearSVC
    >>> raw_method(LinearSVC()).__name__
    'decision_function'
    """
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    last = split_pipeline(model)[1]  # a Pipeline passes keyword arguments on
    libraries = libraries_of(last)
    if "xgboost" in libraries:
        return partial(model.predict, output_margin=True)
    if "lightgbm" in libraries:
        return partial(model.predict, raw_score=True)
    if "catboost" in libraries:
        return partial(model.predict, prediction_type="RawFormulaVal")
    if isinstance(last, DecisionTreeClassifier | RandomForestClassifier | ExtraTreesClassifier):
        return model.predict_proba
    return getattr(model, "decision_function", None)


def _require_raw_method(predictor: faithkit.Predictor) -> Any:
    method, name = raw_method(predictor.model), type(predictor.model).__name__
    if method is None and predictor.is_regressor:
        raise faithkit.errors.InputError(
            f"shap: {name} has no raw scores besides its predictions: leave output out."
        )
    if method is None:
        raise faithkit.errors.InputError(
            f"shap: {name} has no raw scores (decision_function): use output=probability."
        )
    return method


@attrs.frozen
class CodedModel:
    """The scores of rows that are given as the codes of an Encoder.

    All categories that the background does not have share one code. So such values of an instance are passed
    separately, and put back into the decoded rows before the model scores them.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]])
    >>> predictor = faithkit.Predictor(GaussianNB().fit(X, [0, 1, 1]))
    >>> model = CodedModel(Output.choose("probability", predictor, X), faithkit.plugin.Encoder(X))
    >>> bool((model.scores(X) == predictor.scores(X)).all())
    True
    """

    output: Output
    encoder: faithkit.plugin.Encoder

    def scores(
        self, codes: NDArray[np.float64], unseen_values: Mapping[int, Any] | None = None
    ) -> NDArray[np.float64]:
        """Return scores (n, classes). `unseen_values` maps columns to values with an unseen category."""
        rows_per_call = max(1, VALUES_PER_CALL // codes.shape[1])
        batches = [codes[start : start + rows_per_call] for start in range(0, len(codes), rows_per_call)]
        return np.concatenate(
            [self.output.scores(self._decode(batch, unseen_values or {})) for batch in batches]
        )

    def unseen_values(self, X: Any, codes: NDArray[np.float64]) -> list[dict[int, Any]]:
        """Return for every row the values with a category that the background does not have, by column."""
        values: list[dict[int, Any]] = [{} for _ in codes]
        for j, categories in self.encoder.categories.items():
            for i in np.flatnonzero(codes[:, j] == len(categories) + 1):
                values[i][j] = self._column(X, j)[i : i + 1]
        return values

    def _column(self, X: Any, j: int) -> Any:
        if not isinstance(X, pd.DataFrame):
            return X[:, j]
        names, name = [str(column) for column in X.columns], self.encoder.names[j]
        return X.iloc[:, names.index(name) if name in names else j]

    def _decode(self, codes: NDArray[np.float64], unseen_values: Mapping[int, Any]) -> Any:
        table = self.encoder.decode(codes)
        for j, value in unseen_values.items():
            is_unseen = codes[:, j] == len(self.encoder.categories[j]) + 1
            if isinstance(table, pd.DataFrame):
                column, category = table.iloc[:, j], value.iloc[0]
                if isinstance(column.dtype, pd.CategoricalDtype) and category not in column.cat.categories:
                    column = column.cat.add_categories([category])
                table.isetitem(j, column.mask(is_unseen, category))
            else:
                table[is_unseen, j] = value
        return table
