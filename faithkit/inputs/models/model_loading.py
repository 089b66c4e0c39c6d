"""Load the user's model from a file, a folder or a module.

A pickle runs code when it is loaded. So a plugin's loader is used without permission only if it declares that
it runs no code.
"""

import importlib
import operator
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from faithkit.errors import ContractError, InputError
from faithkit.extension.creation import build
from faithkit.extension.entries import Entry
from faithkit.extension.known_plugins import pip_command, providers
from faithkit.extension.registry import registry
from faithkit.inputs.models.default_models import DEFAULTS
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.models.recognition import check_model, is_tagged_regressor, model_name
from faithkit.inputs.objects.adapters import find_adapter
from faithkit.third_party import guard
from faithkit.wording import did_you_mean, join_words, suggest

_LOADERS = {  # of faithkit's own plugins, by the files that they load
    ".skops": "skops",
    ".onnx": "onnx",
    ".joblib": "pickle",
    ".pkl": "pickle",
    ".pickle": "pickle",
    "MLmodel": "mlflow",
}
_SERVER_PREFIXES = ("models:/", "runs:/", "mlflow-artifacts:/")  # of models on an MLflow server


def load_model(
    reference: str | os.PathLike[str],
    *,
    trust_pickle: bool = False,
    trust_types: str | Iterable[str] = (),
    classes: Any = None,
) -> Any:
    """Load a model from a file, a folder or a module.

    Parameters
    ----------
    reference : str or path
        `module:attribute` (modules in the current directory can be imported), or the path of a file or folder
        for which a loader is installed. faithkit-model-files has loaders for `.skops`, `.onnx`, `.joblib`,
        `.pkl` and `.pickle`, and for a folder that MLflow saved. `Predictor` says which models are accepted.
    trust_pickle : bool
        Whether to load files that can run code: a pickle, an MLflow folder, or such a file of a plugin.
    trust_types : iterable of str, or str
        Full names of types and functions, or one text with commas between them. A `.skops` file may contain
        them in addition to the harmless types of scikit-learn, and may call them.
    classes : sequence, optional
        Names for the model's classes. If the model has no `classes_`, its outputs are then the scores of
        these classes.

    Examples
    --------
    >>> load_model("model.pkl")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: loading model.pkl runs code that is in it. If you trust its origin, ...
    """
    reference = os.fspath(reference)
    loader = find_loader(reference)
    if loader is not None:
        type_names = trust_types.split(",") if isinstance(trust_types, str) else trust_types
        trusted = [name.strip() for name in type_names if name.strip()]
        if trusted:
            _allow_local_imports()
        model = _load_file(loader, reference, trust_pickle, {"trust_types": trusted} if trusted else {})
    else:
        model = _import_model(reference)
    with guard(f"the model {reference}", "Give an object with a predict method, or a callable."):
        check_model(model)
        return model if classes is None else _with_classes(model, classes)


def find_loader(path: str) -> Entry | None:
    """Return the loader for a path, by a file's suffix or by a file in a folder; None if there is none.

    Examples
    --------
    >>> find_loader("models.credit:model") is None
    True
    """
    loaders = [entry for entry in registry().entries("loader") if is_of_type(path, entry.component.types)]
    if len(loaders) > 1:
        names = join_words(entry.qualified for entry in loaders)
        raise InputError(f"{path} would be loaded by {names}: load it yourself, and give module:attribute.")
    return loaders[0] if loaders else None


def is_of_type(path: str, types: Iterable[str]) -> bool:
    """Return whether a path has one of the types: suffixes (".skops"), or names of files in a folder."""
    return any(
        Path(path).suffix.lower() == kind.lower()
        if kind.startswith(".")
        else os.path.isfile(os.path.join(path, kind))
        for kind in types
    )


def _load_file(entry: Entry, path: str, trust_code: bool, params: Mapping[str, Any]) -> Any:
    """Load the model at a path; running code without permission is an error."""
    if getattr(entry.component.load(), "runs_code", True) and not trust_code:
        raise InputError(
            f"loading {path} runs code that is in it. If you trust its origin, say --trust-pickle "
            "(trust_pickle=True); safer is a .skops file, which runs none."
        )
    loader = build(entry, params)
    with guard(f"looking for {path}", "Check the path."):
        if not Path(path).is_file() and not Path(path).is_dir():  # a pipe would block for ever
            raise InputError(f"there is no file {path}. Check the path.")
    with guard(f"loading {path}", "It may be damaged, or need other versions of what it was made with."):
        model = loader.load(path)
    if model is None:
        raise ContractError(f"{entry} made nothing of {path}: load returned None.")
    return model


def _import_model(reference: str) -> Any:
    """Return the model that `module:attribute` names; any other reference is an error."""
    loader_name = next((name for kind, name in _LOADERS.items() if is_of_type(reference, [kind])), None)
    if loader_name is not None:
        plugin = providers("loader")[loader_name]
        raise InputError(
            f"{reference} needs the loader {loader_name}, which is not installed. {plugin} provides it: "
            f"{pip_command(plugin)}"
        )
    if reference.startswith(_SERVER_PREFIXES):
        raise InputError(
            f"the model {reference} is on a server, and none is asked. Fetch it: mlflow artifacts download "
            f"-u {reference} -d model, and give the folder."
        )
    if ":" in reference:
        return import_object(reference)
    types = {kind for entry in registry().entries("loader") for kind in entry.component.types} | set(_LOADERS)
    raise InputError(
        f"the model {reference!r} is neither a file of a known kind nor a name in a module; expected "
        f"module:attribute, or a file or folder ({', '.join(sorted(types))}). On the command line also a "
        "default model: "
        f"{join_words(DEFAULTS, 'or')}. "
        f"{did_you_mean(reference, DEFAULTS)}".rstrip()
    )


def import_object(reference: str) -> Any:
    """Return the object that `module:attribute` names; modules in the current directory can be imported."""
    module_name, _, attribute = reference.partition(":")
    advice = "Expected module:attribute, importable from the current directory."
    with guard(f"importing the module {module_name!r}", advice):
        _allow_local_imports()
        module = importlib.import_module(module_name)
    with guard(f"looking up {reference}", "Give a model that is ready when its module is imported."):
        try:
            return operator.attrgetter(attribute)(module)
        except AttributeError as error:
            raise InputError(
                f"the module {module_name!r} has no {attribute!r}. "
                f"{suggest(attribute, (name for name in vars(module) if not name.startswith('_')))}"
            ) from error


def _allow_local_imports() -> None:
    """Add the current directory to the import path."""
    # It stays there: workers inherit the path, and import the module to unpickle the model.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def _with_classes(model: Any, classes: Any) -> Predictor:
    """Name the classes of a model; if it has no `classes_`, its outputs are scores."""
    if is_tagged_regressor(model):
        raise InputError(f"{model_name(model)} predicts numbers, which have no classes: leave --classes out.")
    if isinstance(model, Predictor) or find_adapter(model) is not None or hasattr(model, "classes_"):
        return Predictor(model, classes=classes)
    methods = (getattr(model, name, None) for name in ("predict_proba", "decision_function", "predict"))
    return Predictor(scores=next(filter(None, methods), model), classes=classes)
