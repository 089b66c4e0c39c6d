"""The explained score: that of the class named by the parameter `target`, or a regressor's prediction."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import default_relation

TARGETS = ("positive", "predicted", "all")
NUMBERS = "prediction"  # the only target of a regressor


def check_target(component: str, target: str | None) -> str | None:
    """Return the parameter `target`; raise an error if it is not allowed."""
    if target not in (None, *TARGETS):
        raise faithkit.errors.ParameterError(
            f"{component}: target must be one of {', '.join(TARGETS)}, got {target!r}."
        )
    return target


@attrs.frozen
class Target:
    """The classes whose scores are explained: the second of two, the predicted one, or all.

    For a regressor, the prediction is explained, with all of its outputs.

    Examples
    --------
    >>> def approve(X):
    ...     return np.where(X[:, 0] > 1, "yes", "no")
    >>> predictor = faithkit.Predictor(approve, classes=["no", "yes"])
    >>> Target.choose("shap", None, predictor)
    Target(name='positive')
    >>> Target.choose("shap", "predicted", predictor).classes(np.array([[0.0], [2.0]]))
    array([[0],
           [1]])
    """

    name: str
    _predictor: faithkit.Predictor = attrs.field(repr=False)
    labels: list[Any] = attrs.field(repr=False)  # in the order of the model's scores

    @classmethod
    def choose(
        cls, component: str, target: str | None, predictor: faithkit.Predictor, rows: Any = None
    ) -> "Target":
        """Resolve the parameter `target`. The default is positive for two classes, predicted for more.

        A regressor predicts the first of `rows`, which shows how many outputs it has.
        """
        if predictor.is_regressor:
            return cls._choose_for_regressor(component, target, predictor, rows)
        classes = predictor.classes
        if classes is None or len(classes) < 2:
            raise faithkit.errors.InputError(
                f"{component} explains classifiers of two classes or more, and the model has {classes}."
            )
        if target == "positive" and len(classes) != 2:
            raise faithkit.errors.InputError(
                f"{component}: target=positive needs two classes, the model has {len(classes)}: "
                "use target=predicted or target=all."
            )
        name = target or ("positive" if len(classes) == 2 else "predicted")
        return cls(name, predictor, list(classes.tolist()))

    @classmethod
    def _choose_for_regressor(
        cls, component: str, target: str | None, predictor: faithkit.Predictor, rows: Any
    ) -> "Target":
        if target is not None:
            raise faithkit.errors.InputError(
                f"{component}: target={target} chooses a class, and the model predicts numbers: leave it out."
            )
        n_outputs = predictor.scores(faithkit.plugin.take_rows(rows, slice(0, 1))).shape[1]
        return cls(NUMBERS, predictor, [f"output {k}" for k in range(n_outputs)])

    @property
    def prefixes(self) -> list[str]:
        """The prefix of column names for each explained class or output; empty if there is only one."""
        has_several = self.name == "all" or (self.name == NUMBERS and len(self.labels) > 1)
        return [f"{label}: " for label in self.labels] if has_several else [""]

    @property
    def shared(self) -> dict[str, str]:
        """The entries of `Explanations.shared` that say which class importances speak for."""
        return {"target": self.name} | ({"class": str(self.labels[1])} if self.name == "positive" else {})

    def classes(self, X: Any) -> NDArray[np.int64]:
        """Return the positions of the explained classes, (rows of X, explained classes)."""
        if self.name != "predicted":
            classes = [1] if self.name == "positive" else range(len(self.labels))
            return np.tile(np.array(classes, dtype=np.int64), (faithkit.plugin.n_rows(X), 1))
        return self._predictor.columns_of(self._predictor.predict(X)).reshape(-1, 1)

    def explanations(
        self,
        X: Any,
        values: NDArray[np.float64],
        offsets: NDArray[np.float64],
        names: list[str],
        *,
        offset: bool = False,
        **shared: Any,
    ) -> faithkit.Explanations:
        """Select the importances of the explained classes and return them as explanations.

        Parameters
        ----------
        X : the explained rows
        values : (n, columns, classes)
            The importance of every column for every class or output.
        offsets : (n, classes)
            The constant term: SHAP's base value, LIME's intercept, a gradient's offset.
        names : list of str
            The names of the columns.
        offset : bool
            Whether to append the offsets to the importances, as part of the explanation.
        **shared
            Further entries of `Explanations.shared`. `slopes` is True if values say how the score changes
            with a feature, and not what the feature contributes: their signs are not those of contributions.

        Returns
        -------
        Explanations
            `values` has the columns class by class, then the offsets. `shared["names"]` names them, and
            `shared["offsets"]` is the number of offsets, which are not importances of features.
        """
        classes = self.classes(X)
        importances = np.take_along_axis(values, classes[:, None, :], axis=2)
        columns = [importances.transpose(0, 2, 1).reshape(len(values), classes.shape[1] * values.shape[1])]
        prefixes = self.prefixes
        column_names = [prefix + name for prefix in prefixes for name in names]
        if offset:
            columns.append(np.take_along_axis(offsets, classes, axis=1))
            column_names += [f"{prefix}offset" for prefix in prefixes]
        shared |= {"names": column_names, "offsets": len(prefixes) if offset else 0, **self.shared}
        return faithkit.Explanations.vectors(
            np.hstack(columns), instances=X, shared=shared, relation=default_relation(X)
        )
