"""PyTorch modules as models, their gradients by autograd, and the adapter `torch-module`."""

import contextlib
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]


class TorchClassifier:
    """A PyTorch module that returns logits, as a classifier.

    Parameters
    ----------
    module : torch.nn.Module
        Takes a float tensor (n, columns), or with the axes of X, and returns logits: (n, classes), or one
        column for two classes.
    classes : sequence
        The labels in the order of the logits. A single column of logits is that of the second class.

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
        self.module = _check_module("TorchClassifier", module)
        self.classes_ = np.asarray(classes)
        if self.classes_.ndim != 1 or len(self.classes_) < 2:
            raise faithkit.errors.InputError(f"TorchClassifier needs two classes or more, got {classes!r}.")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest probability."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Floats:
        """Return the softmax of the logits, or the sigmoid of a single logit."""
        torch = import_torch()
        with evaluation_mode(self.module), torch.no_grad():
            logits = module_outputs(self.module, to_tensor(self.module, np.asarray(X, dtype=np.float64)))
            if logits.shape[1] == 1:
                # the softmax of (0, z) is the sigmoid of z
                logits = torch.cat([torch.zeros_like(logits), logits], dim=1)
            self._check_logits(logits)
            probabilities: Floats = torch.softmax(logits, dim=1).cpu().numpy().astype(np.float64)
        return probabilities

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
    """A PyTorch module that returns numbers, as a regressor.

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
        self.module = _check_module("TorchRegressor", module)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the outputs of the module: (n,), or (n, outputs) if there are several."""
        torch = import_torch()
        with evaluation_mode(self.module), torch.no_grad():
            tensor = to_tensor(self.module, np.asarray(X, dtype=np.float64))
            predictions: NDArray[Any] = module_outputs(self.module, tensor).cpu().numpy()
        return predictions[:, 0] if predictions.shape[1] == 1 else predictions


@attrs.frozen(eq=False)
class Autograd:
    """The raw scores of a module and their gradients, in the module's own precision.

    The module is called row by row: the last bits of a product in float32 depend on the batch, and equal rows
    must get equal gradients.
    """

    module: Any

    def __call__(self, numbers: Floats) -> tuple[Floats, Floats]:
        """Return the raw scores (n, outputs) and their gradients (n, inputs, outputs)."""
        with evaluation_mode(self.module):
            rows = [self._differentiate_row(row) for row in numbers[:, None, :]]
        scores = np.concatenate([score for score, _ in rows])
        return scores.astype(np.float64), np.stack([slopes for _, slopes in rows]).astype(np.float64)

    def _differentiate_row(self, row: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
        torch = import_torch()
        with torch.enable_grad():
            point = to_tensor(self.module, row).requires_grad_()
            scores = module_outputs(self.module, point)
            slopes = [
                torch.autograd.grad(score, point, retain_graph=True, materialize_grads=True)[0][0]
                for score in scores[0]
            ]
        return scores.detach().cpu().numpy(), torch.stack(slopes, dim=1).cpu().numpy()


class TorchModule:
    """The adapter of a `torch.nn.Module`: outputs are logits if classes are given, else numbers.

    Examples
    --------
    >>> module, context = TorchModule().example()
    >>> type(TorchModule().model(module, context)).__name__
    'TorchClassifier'
    >>> TorchModule().model(module, faithkit.plugin.RowContext())
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the PyTorch module Linear does not say what its outputs are. ...
    """

    def model(self, value: Any, context: faithkit.plugin.RowContext) -> Any:
        """Return a TorchClassifier or a TorchRegressor; a module with its own `predict` stays as it is."""
        if callable(getattr(value, "predict", None)):
            return value
        if context.classes is not None:
            return TorchClassifier(value, context.classes)
        if context.outcome == "numbers":
            return TorchRegressor(value)
        raise faithkit.errors.InputError(
            f"the PyTorch module {type(value).__name__} does not say what its outputs are. If logits, "
            "write faithkit.Predictor(module, classes=[…]), with a label for each (CLI: --classes NAME,…); "
            "if numbers, say outcome='numbers' (CLI: --outcome numbers)."
        )

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a linear layer with one logit for two classes."""
        return import_torch().nn.Linear(2, 1), faithkit.plugin.RowContext(n=1, classes=["no", "yes"])


def _check_module(wrapper: str, module: Any) -> Any:
    import_torch()
    if not is_module(module):
        raise faithkit.errors.InputError(
            f"{wrapper} wraps a torch.nn.Module, and was given a {type(module).__name__}."
        )
    return module


def find_module(estimator: Any) -> Any:
    """Return the module of a TorchClassifier, a TorchRegressor or a net of skorch; None for other models."""
    candidates = (getattr(estimator, name, None) for name in ("module_", "module"))
    return next((candidate for candidate in candidates if is_module(candidate)), None)


def is_module(value: Any) -> bool:
    """Return whether a value is a PyTorch module, without importing PyTorch."""
    return any(base.__module__.startswith("torch.nn.") for base in type(value).__mro__)


def import_torch() -> Any:
    """Import PyTorch; raise an error with the install command if it is missing."""
    try:
        import torch
    except ImportError as error:
        raise faithkit.errors.InputError(
            "gradients of PyTorch modules need PyTorch, which is not installed: pip install torch."
        ) from error
    return torch


def to_tensor(module: Any, numbers: Floats) -> Any:
    """Return numbers as a tensor with the precision and device of the module's parameters."""
    torch = import_torch()
    parameter = next((candidate for candidate in module.parameters() if candidate.is_floating_point()), None)
    if parameter is None:
        return torch.tensor(numbers, dtype=torch.get_default_dtype())
    return torch.tensor(numbers, dtype=parameter.dtype, device=parameter.device)


def module_outputs(module: Any, tensor: Any) -> Any:
    """Call the module and return its outputs, one row per instance."""
    outputs = module(tensor)
    if getattr(outputs, "ndim", None) == 1:
        outputs = outputs[:, None]
    if getattr(outputs, "ndim", None) != 2 or len(outputs) != len(tensor):
        raise faithkit.errors.InputError(
            f"the module returned {getattr(outputs, 'shape', type(outputs).__name__)} for {len(tensor)} "
            "rows; expected one row of logits, or numbers, for each."
        )
    return outputs


@contextlib.contextmanager
def evaluation_mode(module: Any) -> Iterator[None]:
    """Put the module into evaluation mode, and restore the mode of every submodule afterwards."""
    training_modes = [(submodule, submodule.training) for submodule in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for submodule, is_training in training_modes:
            submodule.training = is_training
