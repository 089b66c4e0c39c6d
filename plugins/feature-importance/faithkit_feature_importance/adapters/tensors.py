"""The adapter `torch-tensors`: attributions as PyTorch tensors, such as those of Captum."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.adapters.named_vectors import to_vectors

ADAPTER = "torch-tensors"


class Tensors:
    """Adapter of PyTorch tensors of attributions: one tensor of all rows, or a list with one of each row.

    Attributions of images have the shape of X, with a number for each pixel. Captum returns a tuple for a
    model with several inputs: their features are put side by side.

    Examples
    --------
    >>> value, context = Tensors().example()
    >>> Tensors().explanations(value, context).values.tolist()
    [[0.5, -0.25], [0.0, 1.0]]
    """

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the attributions of two features, for two rows, in a tensor that requires a gradient."""
        import torch

        return torch.tensor([[0.5, -0.25], [0.0, 1.0]], requires_grad=True), faithkit.plugin.RowContext(n=2)

    def explanations(self, value: Any, context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row."""
        if isinstance(value, list):
            row_shape = np.shape(context.X)[1:] if isinstance(context.X, np.ndarray) else ()
            rows = [_flatten_row(row, _to_array(tensor), row_shape) for row, tensor in enumerate(value)]
            lengths = sorted({len(row) for row in rows})
            if len(lengths) > 1:
                raise faithkit.errors.InputError(
                    f"{ADAPTER}: rows of {lengths[0]} and of {lengths[1]} values: give every row the same "
                    "number."
                )
            return to_vectors(ADAPTER, np.stack(rows), None, context)
        matrices = [
            _to_matrix(_to_array(tensor), context)
            for tensor in (value if isinstance(value, tuple) else (value,))
        ]
        if len({len(matrix) for matrix in matrices}) > 1:
            raise faithkit.errors.InputError(
                f"{ADAPTER}: the inputs have different numbers of rows: give one of each per row."
            )
        return to_vectors(ADAPTER, np.hstack(matrices), None, context)


def _to_array(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array, without its gradient, in main memory, in a type that NumPy has."""
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    tensor = tensor if str(tensor.layout) == "torch.strided" else tensor.to_dense()
    array: NDArray[Any] = (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()
    return array


def _flatten_row(number: int, values: NDArray[Any], row_shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the values of one row as a flat array; a leading axis of length 1 is removed."""
    if len(row_shape) > 1 and values.shape in (row_shape, (1, *row_shape)):
        return values.ravel()
    flat = values[0] if values.ndim == 2 and len(values) == 1 else values
    if flat.ndim != 1:
        raise faithkit.errors.InputError(
            f"{ADAPTER}: tensor {number} of the list has the shape {values.shape}: {_ADVICE}."
        )
    return flat


def _to_matrix(values: NDArray[Any], context: faithkit.plugin.RowContext) -> NDArray[Any]:
    """Return values as (rows, features); values with the shape of X have one feature per pixel."""
    if values.ndim > 2 and values.shape == np.shape(context.X):
        return values.reshape(len(values), -1)
    if values.ndim != 2:
        raise faithkit.errors.InputError(
            f"{ADAPTER}: attributions of the shape {values.shape} are not understood: {_ADVICE}."
        )
    return values


_ADVICE = (
    "give one number for each feature, (rows, features), such as the sum over a token's embedding (.sum(-1)) "
    "or over a segment of a picture; or one for each value of X, with X beside them"
)
