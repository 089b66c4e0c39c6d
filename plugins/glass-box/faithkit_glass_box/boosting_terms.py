"""The explainer `ebm`: contributions of a boosting machine's terms, read from the model, not estimated."""

from typing import Any

import numpy as np

import faithkit
from faithkit_glass_box.model_rules import advise_on_pipeline


class Contributions:
    """The contribution of each term to the score; a term uses one column, or two that interact.

    For two classes it is the score of the second, in logits; for more, the score of the predicted class. For
    a regressor it is the prediction, on the scale of the model's link. The contributions and the intercept
    add up to the score.

    Examples
    --------
    >>> class Wage:
    ...     term_names_, intercept_ = ["age", "hours"], 10.0
    ...
    ...     def eval_terms(self, X):
    ...         return X * [0.5, 1.0]
    ...
    ...     def predict(self, X):
    ...         return self.eval_terms(X).sum(axis=1) + self.intercept_
    >>> wage = faithkit.Predictor(Wage(), outcome="numbers")
    >>> explanations = Contributions().fit(wage, None).explain(np.array([[30.0, 8.0]]), seeds=None)
    >>> explanations.values, explanations.shared
    (array([[15.,  8.]]), {'names': ['age', 'hours'], 'intercept': [10.0], 'adds_up_to': 'score'})
    """

    learns = False
    rows_per_chunk = 1024
    outcomes = ("labels", "numbers")

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Contributions":
        """Store the model, if it has terms."""
        missing = [name for name in ("eval_terms", "term_names_") if not hasattr(predictor.model, name)]
        if missing:
            raise faithkit.errors.InputError(_advise_on_terms(predictor.model, missing))
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the contribution of each term for each row; seeds are not used."""
        model = self.predictor_.model
        predicted = self.predictor_.predict(X)  # the model checks the columns
        names = [str(name) for name in model.term_names_]
        no_values = np.empty((0, len(names)))
        values = np.asarray(model.eval_terms(X), dtype=np.float64) if len(predicted) else no_values
        is_per_class = values.ndim == 3
        if is_per_class:
            class_columns = self.predictor_.columns_of(predicted)
            values = np.take_along_axis(values, class_columns[:, None, None], axis=2)[:, :, 0]
        shared = {"names": names, "intercept": np.ravel(model.intercept_).tolist(), "adds_up_to": "score"}
        if is_per_class:
            shared["target"] = "predicted"
        elif self.predictor_.classes is not None and len(self.predictor_.classes) == 2:
            shared |= {"target": "positive", "class": str(self.predictor_.classes[1])}
        is_one_per_column = len(names) == X.shape[1] and not any(" & " in name for name in names)
        # the relation reads columns, not interactions
        relation = "near-in-top-features" if is_one_per_column else None
        return faithkit.Explanations.vectors(values, instances=X, shared=shared, relation=relation)


def _advise_on_terms(model: Any, missing: list[str]) -> str:
    name = type(model).__name__
    if "eval_terms" not in missing:
        return f"ebm: the {name} has no terms yet: fit it first."
    if hasattr(model, "steps"):
        return advise_on_pipeline("ebm", "terms", name)
    if hasattr(model, "explain_local"):
        return (
            f"ebm explains InterpretML's boosting machines, and the model is a {name}: "
            "give its explain_local as the explainer."
        )
    return f"ebm explains InterpretML's boosting machines, and the model is a {name}: use shap, or give one."
