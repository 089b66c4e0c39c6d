"""The adapter `shap-values`: `Explanation` objects of shap, for all rows or one per row."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.named_vectors import (
    NO_TEXTS,
    ONE_OUTPUT,
    check_digits,
    reject_parameters,
    to_output_vectors,
    to_vectors,
    weighted_words,
)
from faithkit_feature_importance.adapters.output_choice import Outputs, check_target

ADAPTER = "shap-values"


class ShapValues:
    """Adapter of shap's values: one `Explanation` of all rows, or a list with one per row.

    Parameters
    ----------
    target : str, int or None
        The explained class, if there are several: "positive" (the second of two), "predicted", "all" side by
        side, a label, or a position from 0. By default positive for two classes, predicted for more.
    digits : int, optional
        To how many decimals the values of words are rounded. By default they are not rounded.

    Notes
    -----
    The values of a table become vectors with the names of the features. The values of pictures, which have
    the shape of their data, become vectors of all pixels. The values of texts become sorted pairs of words
    and values, as in `lime-text`, since texts have no features in common.

    Base values are not features. If they are the same for all rows, `shared` keeps them, one for each class.

    Examples
    --------
    >>> from shap import Explanation
    >>> values = np.array([[[0.1, -0.1], [0.3, -0.3]], [[0.2, -0.2], [0.0, 0.0]]])
    >>> value = Explanation(values, base_values=np.full((2, 2), 0.5), feature_names=["age", "sex"])
    >>> explanations = ShapValues().explanations(value, faithkit.plugin.RowContext(n=2))
    >>> explanations.values.tolist(), explanations.shared["base_values"], explanations.shared["names"]
    ([[-0.1, -0.3], [-0.2, 0.0]], [0.5, 0.5], ['age', 'sex'])
    >>> explanations.shared["adds_up_to"], explanations.shared["target"], explanations.relation
    ('score', 'positive', 'near-in-top-features')
    """

    def __init__(self, target: str | int | None = None, digits: int | None = None) -> None:
        self.target = check_target(ADAPTER, target)
        self.digits = check_digits(ADAPTER, digits)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the values of two classes, for three rows."""
        import shap

        values = np.linspace(-1, 1, 12).reshape(3, 2, 2)
        base_values = np.tile([0.25, 0.75], (3, 1))
        return shap.Explanation(
            values, base_values, feature_names=["age", "sex"]
        ), faithkit.plugin.RowContext(n=3)

    def explanations(self, value: Any, context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row of a table, and words with their values for each text."""
        row_shape = np.shape(context.X)[1:] if isinstance(context.X, np.ndarray) else ()
        batches = (
            _read_list(value, row_shape) if isinstance(value, list | tuple) else [Batch.of(value, row_shape)]
        )
        if len({batch.is_text for batch in batches}) > 1:
            raise faithkit.errors.InputError(
                f"{ADAPTER}: the list is of texts and tables: give those of one kind."
            )
        return (self._texts if batches[0].is_text else self._tables)(batches, context)

    def _tables(self, batches: list["Batch"], context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        reject_parameters(ADAPTER, digits=(self.digits, NO_TEXTS))
        shapes = sorted({batch.values.shape[1:] for batch in batches})
        if len(shapes) > 1:
            raise faithkit.errors.InputError(
                f"{ADAPTER}: rows of the shapes {shapes[0]} and {shapes[1]}: give one shape."
            )
        values, first = np.concatenate([batch.values for batch in batches]), batches[0]
        names, shared = first.features, _shared_base_values([batch.base_values for batch in batches])
        if all(batch.base_values is not None for batch in batches):
            shared["adds_up_to"] = "score"
        if values.ndim == 2:
            reject_parameters(ADAPTER, target=(self.target, ONE_OUTPUT))
            return to_vectors(ADAPTER, values, names, context, **shared)
        outputs = Outputs.of(ADAPTER, values.shape[2], context, first.outputs)
        feature_names = names if names is not None else context.features
        return to_output_vectors(outputs, self.target, values, feature_names, context, **shared)

    def _texts(self, batches: list["Batch"], context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        values = [value for batch in batches for value in batch.values]
        tokens = [words for batch in batches for words in batch.features or ()]
        output_shapes = {value.shape[1:] for value in values}
        if len(output_shapes) > 1:
            raise faithkit.errors.InputError(
                f"{ADAPTER}: some texts have values of several classes, others of one."
            )
        if output_shapes == {()}:
            reject_parameters(ADAPTER, target=(self.target, ONE_OUTPUT))
            weights, target = values, {}
        else:
            outputs = Outputs.of(ADAPTER, values[0].shape[1], context, batches[0].outputs)
            if self.target == "all" and outputs.count > 1:
                raise faithkit.errors.InputError(
                    f"{ADAPTER}: target=all is for tables: choose a class of texts."
                )
            positions, target = (
                outputs.choose(self.target, context, len(values))[:, 0],
                outputs.shared(self.target),
            )
            weights = [value[:, position] for value, position in zip(values, positions, strict=True)]
        pairs = [weighted_words(*text, self.digits) for text in zip(tokens, weights, strict=True)]
        shared = _shared_base_values([batch.base_values for batch in batches])
        return faithkit.Explanations.of(pairs, kind="words", shared=shared | target)


@attrs.frozen(eq=False)
class Batch:
    """An `Explanation` of shap in a uniform shape: rows first, outputs last."""

    values: Any  # (rows, features) or (rows, features, outputs); for texts, a list of arrays
    base_values: NDArray[np.float64] | None  # (rows,) or (rows, outputs)
    features: Any
    outputs: Any
    is_text: bool

    @classmethod
    def of(cls, explanation: Any, row_shape: tuple[int, ...] = (), in_list: bool = False) -> "Batch":
        """Read an object of shap, and reject values that are not importances of features.

        `row_shape` is the shape of a row of X. `in_list` says that the object is one of a list.
        """
        features, outputs = _to_list(explanation.feature_names), _to_list(explanation.output_names)
        values, data = explanation.values, explanation.data
        if features is not None and any(isinstance(name, list) for name in features):  # texts
            return cls(
                [np.asarray(value) for value in values], _base_values(explanation), features, outputs, True
            )
        values = np.asarray(values)
        has_outputs = outputs is not None and values.shape[-1:] == (len(outputs),) and values.ndim > 1
        is_single_row = values.ndim - has_outputs == 1
        is_single_row = is_single_row or (
            in_list and len(row_shape) > 1 and values.shape[: len(row_shape)] == row_shape
        )
        if is_single_row and _to_list(data) is not None and _is_text(data, features):
            return cls([values], _base_values(explanation, is_single_row=True), [features], outputs, True)
        if values.dtype == object:
            raise faithkit.errors.InputError(
                f"{ADAPTER}: rows of different lengths that are no texts: give one shape."
            )
        values = values[None] if is_single_row else values
        values = _flatten_pictures(
            values, _shape(data) if not is_single_row else (1, *_shape(data)), (len(values), *row_shape)
        )
        _check_shape(values, explanation.base_values, has_outputs)
        return cls(values, _base_values(explanation, is_single_row), features, outputs, False)


def _read_list(explanations: Sequence[Any], row_shape: tuple[int, ...]) -> list[Batch]:
    """Read a list with one object for each row."""
    batches = [Batch.of(explanation, row_shape, in_list=True) for explanation in explanations]
    for number, batch in enumerate(batches):
        if len(batch.values) != 1:
            raise faithkit.errors.InputError(
                f"{ADAPTER}: object {number} of the list has {len(batch.values)} rows: give one object of "
                "all rows, or a list with one of each row."
            )
    return batches


def _is_text(data: Any, features: list[Any] | None) -> bool:
    """Return whether a row is a text: its features have the names of its data, the words."""
    words = [str(word).strip() for word in data]
    return features is not None and words == features and any(isinstance(word, str) for word in data)


def _to_list(names: Any) -> list[Any] | None:
    """Return names as a list. A single text, the name of a selected output, gives None."""
    return None if names is None or isinstance(names, str) or not hasattr(names, "__len__") else list(names)


def _shape(data: Any) -> tuple[int, ...]:
    try:
        return tuple(np.shape(data))
    except ValueError:  # rows of different lengths
        return ()


def _flatten_pictures(values: NDArray[Any], *shapes: tuple[int, ...]) -> NDArray[Any]:
    """Flatten the SHAP values of pictures, if they have the shape of their data or of X."""
    for shape in shapes:
        if len(shape) > 2 and values.shape[: len(shape)] == shape:
            return values.reshape(len(values), -1, *values.shape[len(shape) :])
    return values


def _check_shape(values: NDArray[Any], base_values: Any, has_outputs: bool) -> None:
    """Reject interactions, which have a value for each pair of features, and values with more axes."""
    is_symmetric = values.ndim == 3 and np.array_equal(values, values.swapaxes(1, 2))
    last_is_class = has_outputs or np.ndim(base_values) == 2 or (base_values is None and not is_symmetric)
    if values.ndim != 2 and not (values.ndim == 3 and last_is_class):
        raise faithkit.errors.InputError(
            f"{ADAPTER}: values of the shape {values.shape} are interactions, or pictures without their "
            "data, and not one importance per feature: explain without interactions, keep the data, or add "
            "the values of each feature up."
        )


def _base_values(explanation: Any, is_single_row: bool = False) -> NDArray[np.float64] | None:
    if explanation.base_values is None:
        return None
    base = np.asarray(explanation.base_values, dtype=np.float64)
    return base[None] if is_single_row or base.ndim == 0 else base


def _shared_base_values(bases: list[NDArray[np.float64] | None]) -> dict[str, Any]:
    """Return the base values, one for each output, if they are the same for all rows."""
    known_bases = [base_values for base_values in bases if base_values is not None]
    if len(known_bases) < len(bases) or len({base_values.shape[1:] for base_values in known_bases}) > 1:
        return {}
    all_bases = np.concatenate(known_bases)
    is_constant = len(all_bases) > 0 and (all_bases == all_bases[0]).all()
    return {"base_values": np.atleast_1d(all_bases[0]).tolist()} if is_constant else {}
