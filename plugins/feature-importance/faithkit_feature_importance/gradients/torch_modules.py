"""PyTorch modules as models, and their gradients by autograd."""

import contextlib
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]


class TorchClassifier:
    """A PyTorch module as a model: labels and probabilities of its logits.

    Parameters
    ----------
    module : torch.nn.Module
        Takes a float tensor (n, columns), or of more axes as X has them, and returns logits: (n, classes), or
        one column for two classes.
    classes : sequence
        The labels in the order of the logits; the second of two where there is one column.

    Examples
    --------
    >>> import torch
    >>> module = torch.nn.Linear(2, 1)
    >>> with torch.no_grad():
    ...     _ = module.weight.copy_(torch.tensor([[1.0, -1.0]])), module.bias.zero_()
    >>> model = TorchClassifier(module, classes=["no", "yes"])
    >>> model.predict(np.array([[3.0, 1.0], [1.0, 3.0]]))
    array(['yes', 'no'], dtype='<U3')
    """

    def __init__(self, module: Any, classes: Any) -> None:
        import_torch()
        if not is_module(module):
            raise faithkit.errors.InputError(
                f"TorchClassifier wraps a torch.nn.Module, and was given a {type(module).__name__}."
            )
        self.module = module
        self.classes_ = np.asarray(classes)
        if self.classes_.ndim != 1 or len(self.classes_) < 2:
            raise faithkit.errors.InputError(f"TorchClassifier needs two classes or more, got {classes!r}.")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest probability."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Return the softmax of the logits, or the sigmoid of a single one."""
        torch = import_torch()
        with evaluating(self.module), torch.no_grad():
            logits = outputs(self.module, as_tensor(self.module, np.asarray(X, dtype=np.float64)))
            if logits.shape[1] == 1:
                logits = torch.cat([torch.zeros_like(logits), logits], dim=1)  # whose softmax is the sigmoid
            self._check_logits(logits)
            chances: Floats = torch.softmax(logits, dim=1).cpu().numpy().astype(np.float64)
        return chances

    def _check_logits(self, logits: Any) -> None:
        if logits.shape[1] != len(self.classes_):
            raise faithkit.errors.InputError(
                f"the module gives {logits.shape[1]} logits, and there are {len(self.classes_)} classes: "
                "give TorchClassifier(module, classes) one class for each."
            )
        if len(logits) and (logits >= 0).all() and ((logits.sum(dim=1) - 1).abs() < 1e-5).all():
            raise faithkit.errors.InputError(
                "the module gives probabilities where logits are expected: leave out its last softmax, or "
                "write faithkit.Predictor(scores=lambda X: module(torch.as_tensor(numpy.asarray(X), "
                f"dtype=torch.float32)), classes={self.classes_.tolist()})."
            )


class TorchRegressor:
    """A PyTorch module as a model that predicts numbers: its outputs.

    Parameters
    ----------
    module : torch.nn.Module
        Takes a float tensor (n, columns) and returns (n,), or (n, outputs).

    Examples
    --------
    >>> import torch
    >>> module = torch.nn.Linear(2, 1)
    >>> with torch.no_grad():
    ...     _ = module.weight.copy_(torch.tensor([[1.0, -1.0]])), module.bias.fill_(0.5)
    >>> TorchRegressor(module).predict(np.array([[3.0, 1.0], [1.0, 3.0]]))
    array([ 2.5, -1.5], dtype=float32)
    """

    _estimator_type = "regressor"

    def __init__(self, module: Any) -> None:
        import_torch()
        if not is_module(module):
            raise faithkit.errors.InputError(
                f"TorchRegressor wraps a torch.nn.Module, and was given a {type(module).__name__}."
            )
        self.module = module

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the module's outputs: one number per row, or a row of them."""
        torch = import_torch()
        with evaluating(self.module), torch.no_grad():
            tensor = as_tensor(self.module, np.asarray(X, dtype=np.float64))
            found: NDArray[Any] = outputs(self.module, tensor).cpu().numpy()
        return found[:, 0] if found.shape[1] == 1 else found


@attrs.frozen(eq=False)
class Autograd:
    """A module's raw scores and their gradients, in the module's own precision.

    Rows are asked about one by one: the last bits of a product in float32 depend on the batch, and equal
    rows must get equal gradients.
    """

    module: Any

    def __call__(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Return the raw scores (n, outputs) and their gradients (n, inputs, outputs)."""
        with evaluating(self.module):
            rows = [self._row(row) for row in numbers[:, None, :]]
        scores = np.concatenate([score for score, _ in rows])
        return scores.astype(np.float64), np.stack([slopes for _, slopes in rows]).astype(np.float64)

    def _row(self, row: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
        torch = import_torch()
        with torch.enable_grad():
            point = as_tensor(self.module, row).requires_grad_()
            scores = outputs(self.module, point)
            slopes = [
                torch.autograd.grad(score, point, retain_graph=True, materialize_grads=True)[0][0]
                for score in scores[0]
            ]
        return scores.detach().cpu().numpy(), torch.stack(slopes, dim=1).cpu().numpy()


def module_of(estimator: Any) -> Any:
    """Return the module of a TorchClassifier, a TorchRegressor or one of skorch's nets, or None."""
    parts = (getattr(estimator, name, None) for name in ("module_", "module"))
    return next((part for part in parts if is_module(part)), None)


def is_module(thing: Any) -> bool:
    """Whether something is a PyTorch module, told without importing PyTorch."""
    return any(base.__module__.startswith("torch.nn.") for base in type(thing).__mro__)


def import_torch() -> Any:
    """Import PyTorch, or say how to install it."""
    try:
        import torch
    except ImportError as error:
        raise faithkit.errors.InputError(
            "PyTorch is not installed, which gradients of its modules need: pip install torch."
        ) from error
    return torch


def as_tensor(module: Any, numbers: Floats) -> Any:
    """Return numbers in the precision and on the device of the module's parameters."""
    torch = import_torch()
    first = next((part for part in module.parameters() if part.is_floating_point()), None)
    if first is None:
        return torch.tensor(numbers, dtype=torch.get_default_dtype())
    return torch.tensor(numbers, dtype=first.dtype, device=first.device)


def outputs(module: Any, tensor: Any) -> Any:
    """Return the module's outputs, one row per instance."""
    found = module(tensor)
    if getattr(found, "ndim", None) == 1:
        found = found[:, None]
    if getattr(found, "ndim", None) != 2 or len(found) != len(tensor):
        raise faithkit.errors.InputError(
            f"the module returned {getattr(found, 'shape', type(found).__name__)} for {len(tensor)} rows; "
            "expected one row of logits, or numbers, for each."
        )
    return found


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Switch dropout and the like off for the body, and every part back as it was after it."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
