"""Models out of files, folders and modules, each in its own way, and none that runs code unasked."""

import importlib
import importlib.util
import operator
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.wording import suggest


def load_pickle(path: str, trust_pickle: bool) -> Any:
    """Return the model in a pickle, if its origin is trusted."""
    if not trust_pickle:
        raise InputError(
            f"{path} is a pickle, and loading a pickle runs code that is in it. If you trust its origin, "
            "say --trust-pickle (trust_pickle=True); safer is a .skops file."
        )
    _check_file(path)
    import joblib

    with foreign(f"loading {path}", "It may be damaged, or made with other versions."):
        return joblib.load(path)


def load_skops_file(path: str, trust_types: str | Iterable[str]) -> Any:
    """Return the model in a skops file, if all that it is made of is trusted."""
    if importlib.util.find_spec("skops") is None:
        raise InputError(f"{path} needs skops. Install it: pip install 'faithkit[skops]'.")
    _check_file(path)
    from faithkit.inputs.models.skops import load_skops

    given = trust_types.split(",") if isinstance(trust_types, str) else trust_types
    names = [name.strip() for name in given if name.strip()]
    if names:
        _import_from_here()
    return load_skops(path, names)


def load_onnx(path: str) -> Any:
    """Return the model in an ONNX file."""
    if importlib.util.find_spec("onnxruntime") is None:
        raise InputError(f"{path} needs onnxruntime. Install it: pip install 'faithkit[onnx]'.")
    _check_file(path)
    from faithkit.inputs.models.onnx import OnnxModel

    return OnnxModel(path)


def is_mlflow(path: str) -> bool:
    """Whether a folder holds a model as MLflow saves it."""
    return os.path.isfile(os.path.join(path, "MLmodel"))


def load_mlflow(path: str, trust_pickle: bool) -> Any:
    """Return the model in a folder of MLflow: itself where it has `predict`, else MLflow's face of it."""
    if not trust_pickle:
        raise InputError(
            f"{path} is a model of MLflow, and loading it runs code that is in it. If you trust its origin, "
            "say --trust-pickle (trust_pickle=True)."
        )
    if importlib.util.find_spec("mlflow") is None:
        raise InputError(f"{path} needs MLflow. Install it: pip install mlflow-skinny")
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # to load a file is nobody else's business
    with foreign(f"loading {path}", "It may be damaged, or need other versions: see its requirements.txt."):
        import mlflow.pyfunc

        model = mlflow.pyfunc.load_model(path)
        try:
            # which has scores, and can be read by explainers; the face checks types that a gap changes
            own = model.get_raw_model()
        except NotImplementedError:  # a class of the user's own, which knows no other face
            return model
    return own if hasattr(own, "predict") else model


def _check_file(path: str) -> None:
    with foreign(f"looking for {path}", "Check the path."):
        if not Path(path).is_file():
            raise InputError(f"there is no file {path}. Check the path.")


def import_object(reference: str) -> Any:
    """Return what `module:attribute` names; the current directory can be imported from."""
    module_name, _, attribute = reference.partition(":")
    advice = "Expected module:attribute, importable from the current directory."
    with foreign(f"importing the module {module_name!r}", advice):
        _import_from_here()
        module = importlib.import_module(module_name)
    with foreign(f"looking up {reference}", "Give a model that is ready when its module is imported."):
        try:
            return operator.attrgetter(attribute)(module)
        except AttributeError as error:
            raise InputError(
                f"the module {module_name!r} has no {attribute!r}. "
                f"{suggest(attribute, (name for name in vars(module) if not name.startswith('_')))}"
            ) from error


def _import_from_here() -> None:
    # It stays on the path: workers get this path too, and import the module to unpickle the model.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
