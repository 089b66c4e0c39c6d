"""Find the plugin's loader for a file or folder, and load the model with it.

A pickle runs code when it is loaded. So a loader is used without permission only if it declares that it runs
no code.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from faithkit.errors import ContractError, InputError
from faithkit.extension.entries import Entry
from faithkit.extension.known_plugins import pip_command, providers
from faithkit.extension.registry import registry
from faithkit.third_party import guard
from faithkit.wording import join_words

_LOADERS = {  # of faithkit's own plugins, by the files that they load
    ".skops": "skops",
    ".onnx": "onnx",
    ".joblib": "pickle",
    ".pkl": "pickle",
    ".pickle": "pickle",
    "MLmodel": "mlflow",
}


def find_loader(path: str) -> Entry | None:
    """Return the loader for a path, by a file's suffix or by a file in a folder; None if there is none.

    Examples
    --------
    >>> find_loader("models.credit:model") is None
    True
    """
    loaders = [entry for entry in registry().entries("loader") if takes(entry, path)]
    if len(loaders) > 1:
        names = join_words(entry.qualified for entry in loaders)
        raise InputError(f"{path} would be loaded by {names}: load it yourself, and give module:attribute.")
    return loaders[0] if loaders else None


def takes(entry: Entry, path: str) -> bool:
    """Return whether a loader accepts a path: its types are suffixes, or names of files in a folder."""
    suffixes = {kind.lower() for kind in entry.component.types if is_suffix(kind)}
    return Path(path).suffix.lower() in suffixes or _is_folder_of(entry, path)


def _is_folder_of(entry: Entry, path: str) -> bool:
    files = (kind for kind in entry.component.types if not is_suffix(kind))
    return any(os.path.isfile(os.path.join(path, file)) for file in files)


def is_suffix(kind: str) -> bool:
    """Return whether a loader's type is a suffix, and not the name of a file in a folder."""
    return kind.startswith(".")


def describe_loadable_types() -> str:
    """Describe the files and folders that can be loaded."""
    types = {kind for entry in registry().entries("loader") for kind in entry.component.types} | set(_LOADERS)
    suffixes = sorted(filter(is_suffix, types))
    folders = sorted(types.difference(suffixes))
    return f"a file ({', '.join(suffixes)}) or a folder (with {', '.join(folders)})"


def check_loader_installed(path: str) -> None:
    """Check that no known loader for a file or folder is missing, and say what to install.

    Examples
    --------
    >>> check_loader_installed("models.credit:model")
    """
    folder_types = (
        kind for kind in _LOADERS if not is_suffix(kind) and os.path.isfile(os.path.join(path, kind))
    )
    name = _LOADERS.get(Path(path).suffix.lower()) or next((_LOADERS[kind] for kind in folder_types), None)
    if name is not None:
        plugin = providers("loader")[name]
        raise InputError(
            f"{path} needs the loader {name}, which is not installed. {plugin} provides it. In faithkit's "
            f"source tree: {pip_command(plugin)}"
        )


def load_with(entry: Entry, path: str, trust_code: bool, params: Mapping[str, Any]) -> Any:
    """Load the model at a path; running code without permission is an error."""
    if getattr(entry.component.load(), "runs_code", True) and not trust_code:
        raise InputError(
            f"loading {path} runs code that is in it. If you trust its origin, say --trust-pickle "
            "(trust_pickle=True); safer is a .skops file, which runs none."
        )
    loader = registry().create("loader", entry.qualified, dict(params))
    with guard(f"looking for {path}", "Check the path."):
        if not Path(path).is_file() and not _is_folder_of(entry, path):  # a pipe would block for ever
            raise InputError(f"there is no file {path}. Check the path.")
    with guard(f"loading {path}", "It may be damaged, or need other versions of what it was made with."):
        model = loader.load(path)
    if model is None:
        raise ContractError(f"{entry} made nothing of {path}: load returned None.")
    return model
