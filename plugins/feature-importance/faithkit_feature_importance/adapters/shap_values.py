"""What shap's explainers return: an `Explanation`, of all rows or of one."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.columns import (
    check_digits,
    no_choice,
    pairs,
    picked,
    prefixed,
    vectors,
)
from faithkit_feature_importance.adapters.outputs import Outputs, check_target

WHO = "shap-values"
_NO_CLASSES = "chooses among classes, and these are the values of one output"
_NO_TEXTS = "is about the words of texts, and these are vectors, which the discretizer fp rounds"


class ShapValues:
    """SHAP values as shap has them: an `Explanation` of all rows, or a list with one of each row.

    Parameters
    ----------
    target : str, int or None
        Of several classes the one that is meant: "positive" (the second of two), "predicted", "all" side by
        side, a label, or a number from 0. By default positive for two classes, predicted for more.
    digits : int, optional
        To how many decimals the values of a text's words are rounded; by default they are not.

    Notes
    -----
    The values of a table become vectors with the features' names; those of pictures, which have the shape of
    their data, become vectors of all cells. Those of texts become words with their
    values, in one order, as `lime-text` has them: texts have no features in common.

    Base values are no features. `shared` keeps them, one for each class, where all rows have the same.

    Examples
    --------
    >>> from shap import Explanation
    >>> values = np.array([[[0.1, -0.1], [0.3, -0.3]], [[0.2, -0.2], [0.0, 0.0]]])
    >>> given = Explanation(values, base_values=np.full((2, 2), 0.5), feature_names=["age", "sex"])
    >>> found = ShapValues().explanations(given, faithkit.plugin.RowContext(n=2))
    >>> found.values.tolist(), found.shared["base_values"], found.shared["names"]
    ([[-0.1, -0.3], [-0.2, 0.0]], [0.5, 0.5], ['age', 'sex'])
    >>> found.shared["adds_up_to"], found.shared["target"], found.relation
    ('score', 'positive', 'same-top-features')
    """

    def __init__(self, target: str | int | None = None, digits: int | None = None) -> None:
        self.target = check_target(WHO, target)
        self.digits = check_digits(WHO, digits)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the values of two classes, for three rows."""
        import shap

        values = np.linspace(-1, 1, 12).reshape(3, 2, 2)
        base = np.tile([0.25, 0.75], (3, 1))
        return shap.Explanation(values, base, feature_names=["age", "sex"]), faithkit.plugin.RowContext(n=3)

    def explanations(self, given: Any, about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row of a table, and words with their values for each text."""
        row = np.shape(about.X)[1:] if isinstance(about.X, np.ndarray) else ()
        batches = _one_by_one(given, row) if isinstance(given, list | tuple) else [Batch.of(given, row)]
        if len({batch.is_text for batch in batches}) > 1:
            raise faithkit.errors.InputError(
                f"{WHO}: the list is of texts and tables: give those of one kind."
            )
        return (self._texts if batches[0].is_text else self._tables)(batches, about)

    def _tables(self, batches: list["Batch"], about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        no_choice(WHO, digits=(self.digits, _NO_TEXTS))
        shapes = sorted({batch.values.shape[1:] for batch in batches})
        if len(shapes) > 1:
            raise faithkit.errors.InputError(
                f"{WHO}: rows of the shapes {shapes[0]} and {shapes[1]}: give one shape."
            )
        values, first = np.concatenate([batch.values for batch in batches]), batches[0]
        names, shared = first.features, _common_base([batch.base for batch in batches])
        if all(batch.base is not None for batch in batches):
            shared["adds_up_to"] = "score"
        if values.ndim == 2:
            no_choice(WHO, target=(self.target, _NO_CLASSES))
            return vectors(WHO, values, names, about, **shared)
        outputs = Outputs.of(WHO, values.shape[2], about, first.outputs)
        chosen = outputs.chosen(self.target, about, len(values))
        named = prefixed(outputs, self.target, names if names is not None else about.features)
        return vectors(WHO, picked(values, chosen), named, about, **shared, **outputs.shared(self.target))

    def _texts(self, batches: list["Batch"], about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        values = [value for batch in batches for value in batch.values]
        tokens = [words for batch in batches for words in batch.features or ()]
        outputs = {value.shape[1:] for value in values}
        if len(outputs) > 1:
            raise faithkit.errors.InputError(
                f"{WHO}: some texts have values of several classes, others of one."
            )
        if outputs == {()}:
            no_choice(WHO, target=(self.target, _NO_CLASSES))
            weights = values
        else:
            known = Outputs.of(WHO, values[0].shape[1], about, batches[0].outputs)
            if self.target == "all" and known.count > 1:
                raise faithkit.errors.InputError(f"{WHO}: target=all is for tables: choose a class of texts.")
            chosen = known.chosen(self.target, about, len(values))[:, 0]
            weights = [value[:, place] for value, place in zip(values, chosen, strict=True)]
        found = [pairs(*text, self.digits) for text in zip(tokens, weights, strict=True)]
        shared = _common_base([batch.base for batch in batches])
        return faithkit.Explanations.of(found, kind="words", shared=shared)


@attrs.frozen(eq=False)
class Batch:
    """An `Explanation` in one shape, whatever was cut out of it: rows first, outputs last."""

    values: Any  # (rows, features) or (rows, features, outputs); of texts one array for each
    base: NDArray[np.float64] | None  # (rows,) or (rows, outputs)
    features: Any
    outputs: Any
    is_text: bool

    @classmethod
    def of(cls, given: Any, row: tuple[int, ...] = (), alone: bool = False) -> "Batch":
        """Read one, and refuse what is no importance of a feature.

        `row` is the shape of a row of X, and `alone` says that it is one of a list.
        """
        features, outputs = _listed(given.feature_names), _listed(given.output_names)
        values, data = given.values, given.data
        if features is not None and any(isinstance(name, list) for name in features):  # of texts
            return cls([np.asarray(value) for value in values], _base(given), features, outputs, True)
        values = np.asarray(values)
        has_outputs = outputs is not None and values.shape[-1:] == (len(outputs),) and values.ndim > 1
        is_one = values.ndim - has_outputs == 1
        is_one = is_one or (alone and len(row) > 1 and values.shape[: len(row)] == row)
        if is_one and _listed(data) is not None and _is_text(data, features):
            return cls([values], _base(given, one=True), [features], outputs, True)
        if values.dtype == object:
            raise faithkit.errors.InputError(
                f"{WHO}: rows of different lengths that are no texts: give one shape."
            )
        values = values[None] if is_one else values
        values = _laid_flat(values, _shape(data) if not is_one else (1, *_shape(data)), (len(values), *row))
        _check_shape(values, given.base_values, has_outputs)
        return cls(values, _base(given, is_one), features, outputs, False)


def _one_by_one(given: Sequence[Any], row: tuple[int, ...]) -> list[Batch]:
    """Read a list with one object of each row."""
    found = [Batch.of(one, row, alone=True) for one in given]
    several = next((row for row, batch in enumerate(found) if len(batch.values) != 1), None)
    if several is not None:
        raise faithkit.errors.InputError(
            f"{WHO}: object {several} of the list has {len(found[several].values)} rows: give one object of "
            "all rows, or a list with one of each row."
        )
    return found


def _is_text(data: Any, features: list[Any] | None) -> bool:
    """Whether one row is a text: its features are called as its data, the words."""
    words = [str(one).strip() for one in data]
    return features is not None and words == features and any(isinstance(one, str) for one in data)


def _listed(names: Any) -> list[Any] | None:
    """Return names as a list; the name of the one output that was cut out is none."""
    return None if names is None or isinstance(names, str) or not hasattr(names, "__len__") else list(names)


def _shape(data: Any) -> tuple[int, ...]:
    try:
        return tuple(np.shape(data))
    except ValueError:  # rows of different lengths
        return ()


def _laid_flat(values: NDArray[Any], *shapes: tuple[int, ...]) -> NDArray[Any]:
    """Return the values of pictures as those of their cells, by the shape of their data or of X."""
    for shape in shapes:
        if len(shape) > 2 and values.shape[: len(shape)] == shape:
            return values.reshape(len(values), -1, *values.shape[len(shape) :])
    return values


def _check_shape(values: NDArray[Any], base: Any, has_outputs: bool) -> None:
    """Refuse interactions, which have a value for each two features, and what has more axes yet."""
    mirrored = values.ndim == 3 and np.array_equal(values, values.swapaxes(1, 2))
    last_is_class = has_outputs or np.ndim(base) == 2 or (base is None and not mirrored)
    if values.ndim != 2 and not (values.ndim == 3 and last_is_class):
        raise faithkit.errors.InputError(
            f"{WHO}: values of the shape {values.shape} are interactions, or pictures without their data, "
            "and not one importance per feature: explain without interactions, keep the data, or add the "
            "values of each feature up."
        )


def _base(given: Any, one: bool = False) -> NDArray[np.float64] | None:
    if given.base_values is None:
        return None
    base = np.asarray(given.base_values, dtype=np.float64)
    return base[None] if one or base.ndim == 0 else base


def _common_base(bases: list[NDArray[np.float64] | None]) -> dict[str, Any]:
    """Return the base values, one for each output, if all rows have the same."""
    known = [base for base in bases if base is not None]
    if len(known) < len(bases) or len({base.shape[1:] for base in known}) > 1:
        return {}
    every = np.concatenate(known)
    same = len(every) > 0 and (every == every[0]).all()
    return {"base_values": np.atleast_1d(every[0]).tolist()} if same else {}
