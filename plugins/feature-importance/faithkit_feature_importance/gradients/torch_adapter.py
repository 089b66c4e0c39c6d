"""A PyTorch module as a model, by what somebody says of its outputs."""

from typing import Any

import faithkit
from faithkit_feature_importance.gradients.torch_modules import (
    TorchClassifier,
    TorchRegressor,
    import_torch,
)


class TorchModule:
    """Take a `torch.nn.Module` as a model: with classes its outputs are their logits, else they are numbers.

    Examples
    --------
    >>> module, about = TorchModule().example()
    >>> type(TorchModule().model(module, about)).__name__
    'TorchClassifier'
    >>> TorchModule().model(module, faithkit.plugin.RowContext())
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: nobody says what the outputs of the PyTorch module Linear are. ...
    """

    def model(self, given: Any, about: faithkit.plugin.RowContext) -> Any:
        """Return a TorchClassifier or a TorchRegressor; a module that predicts by itself stays what it is."""
        if callable(getattr(given, "predict", None)):
            return given
        if about.classes is not None:
            return TorchClassifier(given, about.classes)
        if about.outcome == "numbers":
            return TorchRegressor(given)
        raise faithkit.errors.InputError(
            f"nobody says what the outputs of the PyTorch module {type(given).__name__} are. If logits, "
            "write faithkit.Predictor(module, classes=[…]), with a label for each (CLI: --classes NAME,…); "
            "if numbers, say outcome='numbers' (CLI: --outcome numbers)."
        )

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return a linear layer with one logit for two classes."""
        return import_torch().nn.Linear(2, 1), faithkit.plugin.RowContext(n=1, classes=["no", "yes"])
