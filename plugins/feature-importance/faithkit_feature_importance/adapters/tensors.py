"""Attributions as PyTorch tensors, such as Captum's."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.columns import vectors

WHO = "torch-tensors"


class Tensors:
    """Attributions of features as PyTorch tensors: one of all rows, or a list with one of each row.

    Those of images have the shape of X, and a number for each of its cells. A tuple is what Captum returns
    for a model of several inputs: their features stand side by side.

    Examples
    --------
    >>> given, about = Tensors().example()
    >>> Tensors().explanations(given, about).values.tolist()
    [[0.5, -0.25], [0.0, 1.0]]
    """

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the attributions of two features, for two rows, with a gradient that nobody needs."""
        import torch

        return torch.tensor([[0.5, -0.25], [0.0, 1.0]], requires_grad=True), faithkit.plugin.RowContext(n=2)

    def explanations(self, given: Any, about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row."""
        if isinstance(given, list):
            shape = np.shape(about.X)[1:] if isinstance(about.X, np.ndarray) else ()
            rows = [_row(row, _array(one), shape) for row, one in enumerate(given)]
            lengths = sorted({len(row) for row in rows})
            if len(lengths) > 1:
                raise faithkit.errors.InputError(
                    f"{WHO}: rows of {lengths[0]} and of {lengths[1]} values: give every row the same number."
                )
            return vectors(WHO, np.stack(rows), None, about)
        parts = [_matrix(_array(one), about) for one in (given if isinstance(given, tuple) else (given,))]
        if len({len(part) for part in parts}) > 1:
            raise faithkit.errors.InputError(
                f"{WHO}: the inputs have different numbers of rows: give one of each per row."
            )
        return vectors(WHO, np.hstack(parts), None, about)


def _array(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array: without its gradient, in the computer's own memory, of a known type."""
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    tensor = tensor if str(tensor.layout) == "torch.strided" else tensor.to_dense()
    found: NDArray[Any] = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return found


def _row(row: int, values: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the values of one row, also one of the shape that X has; a leading axis of one row is none."""
    if len(shape) > 1 and values.shape in (shape, (1, *shape)):
        return values.ravel()
    flat = values[0] if values.ndim == 2 and len(values) == 1 else values
    if flat.ndim != 1:
        raise faithkit.errors.InputError(
            f"{WHO}: tensor {row} of the list has the shape {values.shape}: {_ADVICE}."
        )
    return flat


def _matrix(values: NDArray[Any], about: faithkit.plugin.RowContext) -> NDArray[Any]:
    """Return a row of values for each instance; what is of the shape of X has one for each of its cells."""
    if values.ndim > 2 and values.shape == np.shape(about.X):
        return values.reshape(len(values), -1)
    if values.ndim != 2:
        raise faithkit.errors.InputError(
            f"{WHO}: attributions of the shape {values.shape} are not understood: {_ADVICE}."
        )
    return values


_ADVICE = (
    "give one number for each feature, (rows, features), such as the sum over a token's embedding (.sum(-1)) "
    "or over a segment of a picture; or one for each cell of X, with X beside them"
)
