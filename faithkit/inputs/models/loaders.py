"""Find the loader of a plugin that takes a file or folder, and load the model with it.

A pickle runs code when it is loaded, so a loader that does not say that it runs none is never used unasked.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faithkit.errors import ContractError, InputError
from faithkit.extension.entries import Entry
from faithkit.extension.known_plugins import install, providers
from faithkit.extension.registry import registry
from faithkit.foreign import foreign
from faithkit.wording import listing

_LOADERS = {  # of faithkit's own plugins, by what they take
    ".skops": "skops",
    ".onnx": "onnx",
    ".joblib": "pickle",
    ".pkl": "pickle",
    ".pickle": "pickle",
    "MLmodel": "mlflow",
}


def loader_for(path: str) -> Entry | None:
    """Return the loader that takes a path, by a file's suffix or by what a folder holds; or None.

    Examples
    --------
    >>> loader_for("models.credit:model") is None
    True
    """
    found = [entry for entry in registry().entries("loader") if takes(entry, path)]
    if len(found) > 1:
        several = listing(entry.qualified for entry in found)
        raise InputError(f"{path} would be loaded by {several}: load it yourself, and give module:attribute.")
    return found[0] if found else None


def takes(entry: Entry, path: str) -> bool:
    """Whether a loader takes a path: a type is a suffix, or the name of a file that a folder has."""
    suffixes = {kind.lower() for kind in entry.component.types if is_suffix(kind)}
    return Path(path).suffix.lower() in suffixes or _is_folder_of(entry, path)


def _is_folder_of(entry: Entry, path: str) -> bool:
    files = (kind for kind in entry.component.types if not is_suffix(kind))
    return any(os.path.isfile(os.path.join(path, file)) for file in files)


def is_suffix(kind: str) -> bool:
    """Whether a type that a loader names is the suffix of files, and not a file in a folder."""
    return kind.startswith(".")


def known_types() -> str:
    """Say what can be loaded, for people."""
    types = {kind for entry in registry().entries("loader") for kind in entry.component.types} | set(_LOADERS)
    suffixes = sorted(filter(is_suffix, types))
    folders = sorted(types.difference(suffixes))
    return f"a file ({', '.join(suffixes)}) or a folder (with {', '.join(folders)})"


def check_loader(path: str) -> None:
    """Refuse a file or folder whose loader is not installed, and say what to install.

    Examples
    --------
    >>> check_loader("models.credit:model")
    """
    holds = (kind for kind in _LOADERS if not is_suffix(kind) and os.path.isfile(os.path.join(path, kind)))
    name = _LOADERS.get(Path(path).suffix.lower()) or next((_LOADERS[kind] for kind in holds), None)
    if name is not None:
        home = providers("loader")[name]
        raise InputError(
            f"{path} needs the loader {name}, which is not installed. {home} provides it. In faithkit's "
            f"source tree: {install(home)}"
        )


def loaded_by(entry: Entry, path: str, trust_code: bool, params: Mapping[str, Any]) -> Any:
    """Return the model at a path, unless that would run code and nobody has allowed it."""
    if getattr(entry.component.load(), "runs_code", True) and not trust_code:
        raise InputError(
            f"loading {path} runs code that is in it. If you trust its origin, say --trust-pickle "
            "(trust_pickle=True); safer is a .skops file, which runs none."
        )
    loader = registry().create("loader", entry.qualified, dict(params))
    with foreign(f"looking for {path}", "Check the path."):
        if not Path(path).is_file() and not _is_folder_of(entry, path):  # a pipe would wait for ever
            raise InputError(f"there is no file {path}. Check the path.")
    with foreign(f"loading {path}", "It may be damaged, or need other versions of what it was made with."):
        model = loader.load(path)
    if model is None:
        raise ContractError(f"{entry} made nothing of {path}: load returned None.")
    return model
