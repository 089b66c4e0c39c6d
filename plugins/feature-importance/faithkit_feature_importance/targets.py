"""What is explained: the score of a class, by the parameter `target`, or the numbers of a regressor."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import default_relation

TARGETS = ("positive", "predicted", "all")
NUMBERS = "prediction"  # of a regressor: there is nothing to choose


def check_target(who: str, target: str | None) -> str | None:
    """Return a parameter `target` as it is, or say what it may be."""
    if target not in (None, *TARGETS):
        raise faithkit.errors.ParameterError(
            f"{who}: target must be one of {', '.join(TARGETS)}, got {target!r}."
        )
    return target


@attrs.frozen
class Target:
    """The classes whose scores an explanation speaks of: the second of two, the predicted one, or all.

    Of a regressor it is the prediction itself, all of its outputs where there are several.

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
    labels: list[Any] = attrs.field(repr=False)  # of the model's scores, in their order

    @classmethod
    def choose(
        cls, who: str, target: str | None, predictor: faithkit.Predictor, rows: Any = None
    ) -> "Target":
        """Take the parameter, or its default: positive for two classes, predicted for more.

        A regressor has no classes, and is asked about one of the rows how many numbers it predicts.
        """
        if predictor.is_regressor:
            return cls._of_numbers(who, target, predictor, rows)
        classes = predictor.classes
        if classes is None or len(classes) < 2:
            raise faithkit.errors.InputError(
                f"{who} explains classifiers of two classes or more, and the model has {classes}."
            )
        if target == "positive" and len(classes) != 2:
            raise faithkit.errors.InputError(
                f"{who}: target=positive needs two classes, the model has {len(classes)}: "
                "use target=predicted or target=all."
            )
        name = target or ("positive" if len(classes) == 2 else "predicted")
        return cls(name, predictor, list(classes.tolist()))

    @classmethod
    def _of_numbers(cls, who: str, target: str | None, predictor: faithkit.Predictor, rows: Any) -> "Target":
        if target is not None:
            raise faithkit.errors.InputError(
                f"{who}: target={target} chooses a class, and the model predicts numbers: leave it out."
            )
        outputs = predictor.scores(faithkit.plugin.take_rows(rows, slice(0, 1))).shape[1]
        return cls(NUMBERS, predictor, [f"output {k}" for k in range(outputs)])

    @property
    def prefixes(self) -> list[str]:
        """What the names of columns begin with, for each class or output that is explained beside others."""
        several = self.name == "all" or (self.name == NUMBERS and len(self.labels) > 1)
        return [f"{label}: " for label in self.labels] if several else [""]

    def classes(self, X: Any) -> NDArray[np.int64]:
        """Return the positions of the explained classes, a row of them for every row of X."""
        if self.name != "predicted":
            chosen = [1] if self.name == "positive" else range(len(self.labels))
            return np.tile(np.array(chosen, dtype=np.int64), (faithkit.plugin.n_rows(X), 1))
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
        """Put importances of all classes together as the target asks for them.

        Parameters
        ----------
        X : the explained rows
        values : (n, columns, classes)
            The importance of every column for every class, or for every output of a regressor.
        offsets : (n, classes)
            What the importances start from: SHAP's base value, LIME's intercept, a gradient's offset.
        names : list of str
            The columns' names.
        offset : bool
            Whether the offsets stand behind the importances, as part of the explanation.
        **shared
            What else to keep in `Explanations.shared`.

        Returns
        -------
        Explanations
            `values` has the columns class by class, then the offsets; `shared["names"]` names them, and
            `shared["offsets"]` says how many offsets there are, which are no feature's importance.
        """
        chosen = self.classes(X)
        picked = np.take_along_axis(values, chosen[:, None, :], axis=2)
        parts = [picked.transpose(0, 2, 1).reshape(len(values), chosen.shape[1] * values.shape[1])]
        labels = self.prefixes
        told = [label + name for label in labels for name in names]
        if offset:
            parts.append(np.take_along_axis(offsets, chosen, axis=1))
            told += [f"{label}offset" for label in labels]
        shared |= {"names": told, "offsets": len(labels) if offset else 0, "target": self.name}
        return faithkit.Explanations.vectors(
            np.hstack(parts), instances=X, shared=shared, relation=default_relation(X)
        )
