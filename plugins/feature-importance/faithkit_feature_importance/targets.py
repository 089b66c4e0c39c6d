"""Whose score is explained: one parameter, `target`, for shap, lime and gradient."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

TARGETS = ("positive", "predicted", "all")


def check_target(who: str, target: str | None) -> str | None:
    """Return a parameter `target` as it is, or say what it may be."""
    if target not in (None, *TARGETS):
        raise faithkit.ParameterError(f"{who}: target must be one of {', '.join(TARGETS)}, got {target!r}.")
    return target


@attrs.frozen
class Target:
    """The classes whose scores an explanation speaks of: the second of two, the predicted one, or all.

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

    @classmethod
    def choose(cls, who: str, target: str | None, predictor: faithkit.Predictor) -> "Target":
        """Take the parameter, or its default: positive for two classes, predicted for more."""
        classes = predictor.classes
        if classes is None or len(classes) < 2:
            raise faithkit.InputError(
                f"{who} explains classifiers of two classes or more, and the model has {classes}."
            )
        if target == "positive" and len(classes) != 2:
            raise faithkit.InputError(
                f"{who}: target=positive needs two classes, the model has {len(classes)}: "
                "use target=predicted or target=all."
            )
        return cls(target or ("positive" if len(classes) == 2 else "predicted"), predictor)

    @property
    def labels(self) -> list[Any]:
        """The labels of the model, in the order of its scores."""
        known = self._predictor.classes
        assert known is not None  # `choose` refused models without classes
        return list(known.tolist())

    @property
    def prefixes(self) -> list[str]:
        """What the names of columns begin with, for each class that is explained beside others."""
        return [f"{label}: " for label in self.labels] if self.name == "all" else [""]

    def classes(self, X: Any) -> NDArray[np.int64]:
        """Return the positions of the explained classes, a row of them for every row of X."""
        if self.name != "predicted":
            chosen = [1] if self.name == "positive" else range(len(self.labels))
            return np.tile(np.array(chosen, dtype=np.int64), (faithkit.n_rows(X), 1))
        place = {label: i for i, label in enumerate(self.labels)}
        labels = self._predictor.predict(X).tolist()
        return np.array([place[label] for label in labels], dtype=np.int64).reshape(-1, 1)

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
            The importance of every column for every class.
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
        return faithkit.Explanations.vectors(np.hstack(parts), instances=X, shared=shared)
