"""The user's own model, from a file, a folder or a module, loaded with care."""

import os
from collections.abc import Iterable
from typing import Any

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.models.default_models import DEFAULTS
from faithkit.inputs.models.loaders import check_loader, known_types, loaded_by, loader_for
from faithkit.inputs.models.model_names import called
from faithkit.inputs.models.module_paths import import_from_here, import_object
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.models.recognition import check_model, says_regressor
from faithkit.inputs.objects.adapters import adapter_for
from faithkit.wording import did_you_mean, listing

_SERVED = ("models:/", "runs:/", "mlflow-artifacts:/")  # where MLflow keeps models, besides folders


def load_model(
    reference: str | os.PathLike[str],
    trust_pickle: bool = False,
    trust_types: str | Iterable[str] = (),
    classes: Any = None,
) -> Any:
    """Return the model that a file or a name in a module holds.

    Parameters
    ----------
    reference : str or path
        `module:attribute` (the current directory can be imported from), or the path of a file or folder for
        which a loader is installed. faithkit-model-files has those for `.skops`, `.onnx`, `.joblib`, `.pkl`
        and `.pickle`, and for a folder that MLflow saved. What it names is a model as `Predictor` takes it.
    trust_pickle : bool
        Whether what runs code may be loaded: a pickle, MLflow's folder, or a plugin's file that may.
    trust_types : iterable of str, or str
        Full names, or one text of them with commas between: types and functions that a `.skops` file may hold
        besides those of scikit-learn that are known to be harmless. The file may then call what they name.
    classes : sequence, optional
        Names for the model's classes; of a model without classes of its own, what it returns is then taken
        as their scores.

    Examples
    --------
    >>> load_model("model.pkl")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: loading model.pkl runs code that is in it. If you trust its origin, ...
    """
    reference = os.fspath(reference)
    loader = loader_for(reference)
    if loader is not None:
        given = trust_types.split(",") if isinstance(trust_types, str) else trust_types
        names = [name.strip() for name in given if name.strip()]
        if names:
            import_from_here()
        model = loaded_by(loader, reference, trust_pickle, {"trust_types": names} if names else {})
    else:
        model = _imported(reference)
    with foreign(f"the model {reference}", "Give an object with a predict method, or a callable."):
        check_model(model)
        return model if classes is None else _named(model, classes)


def _imported(reference: str) -> Any:
    """Return what `module:attribute` names; anything else is refused."""
    check_loader(reference)
    if reference.startswith(_SERVED):
        raise InputError(
            f"the model {reference} is on a server, and none is asked. Fetch it: mlflow artifacts download "
            f"-u {reference} -d model, and give the folder."
        )
    if ":" in reference:
        return import_object(reference)
    raise InputError(
        f"the model {reference!r} is neither a file of a known kind nor a name in a module; expected "
        f"module:attribute, or {known_types()}. On the command line also a default model: "
        f"{listing(DEFAULTS, 'or')}. "
        f"{did_you_mean(reference, DEFAULTS)}".rstrip()
    )


def _named(model: Any, classes: Any) -> Predictor:
    """Give the classes of a model names; of one without classes of its own, what it returns are scores."""
    if says_regressor(model):
        raise InputError(f"{called(model)} predicts numbers, which have no classes: leave --classes out.")
    if isinstance(model, Predictor) or adapter_for(model) is not None or hasattr(model, "classes_"):
        return Predictor(model, classes=classes)
    methods = (getattr(model, name, None) for name in ("predict_proba", "decision_function", "predict"))
    return Predictor(scores=next(filter(None, methods), model), classes=classes)
