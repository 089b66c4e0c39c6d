"""Where files are: decided when the command starts, and checked before anything is computed."""

import glob
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from faithkit.errors import InputError
from faithkit.files import is_replaced
from faithkit.inputs.files.discovery import is_pattern, kind_of, matches

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def placed(_ctx: click.Context, _param: click.Parameter, given: str | None) -> str | None:
    """Return what is there by its full path: whoever changes the working folder does not move it.

    What is not there stays as it was given: it may be a name, and the error should show it as it was typed.
    """
    if given and is_pattern(given) and glob.glob(given):
        return os.path.join(glob.escape(os.getcwd()), given)
    return os.path.abspath(given) if given and os.path.exists(given) else given


def placed_model(ctx: click.Context, param: click.Parameter, given: str) -> str | None:
    """Return a model's file by its full path; a name without a suffix is a default model, or in a module."""
    return placed(ctx, param, given) if Path(given).suffix else given


def placed_folder(_ctx: click.Context, _param: click.Parameter, given: str | None) -> str | None:
    """Return a folder by its full path, whether it is there or not."""
    return os.path.abspath(given) if given else given


def check_paths(paths: Mapping[str, str | None]) -> dict[str, str]:
    """Refuse what cannot be written before anything is computed, and return the full paths that were given.

    What the verb reads must not be written onto: every file whose option or argument is `placed`, or of the
    type `click.Path`, which a plugin's verb may also write to.

    Parameters
    ----------
    paths : mapping
        Where each output goes; None for nowhere, - for stdout.
    """
    given = {name: "-" if path in STDOUT else path for name, path in paths.items() if path is not None}
    if list(given.values()).count("-") > 1:
        raise click.UsageError("only one of the outputs can be - (stdout): give the others a file each.")
    inputs = [file for path in _inputs() for file in ([path] if not is_pattern(path) else matches(path))]
    read = [Path(file) for path in inputs for file in (path, _module(str(path))) if os.path.exists(file)]
    read += map(Path, _values(lambda param: isinstance(param.type, click.Path)))  # also those to be made
    files = [path for path in given.values() if path != "-"]
    for place, path in enumerate(files):
        reason = _why_not(path) or _taken(path, files[:place]) or _read(path, read)
        if reason is not None:
            raise InputError(f"cannot write {path}: {reason}.")
    return {name: path if path == "-" else os.path.abspath(path) for name, path in given.items()}


def _inputs() -> list[str]:
    return _values(
        lambda param: param.callback in (placed, placed_model) or isinstance(param.type, click.Path)
    )


def _values(is_wanted: Callable[[click.Parameter], bool]) -> list[str]:
    """Return the paths that were given for some of the command's arguments and options."""
    ctx = click.get_current_context()
    values = [ctx.params[str(param.name)] for param in ctx.command.params if is_wanted(param)]
    groups = (paths if isinstance(paths, tuple) else (paths,) for paths in values)
    return [path for paths in groups for path in paths if path]


def _module(model: str) -> str:
    """Return the file of module:attribute, if it is one in the working folder."""
    return model.partition(":")[0].replace(".", os.sep) + ".py"


def _why_not(path: str) -> str | None:
    """Return why a file cannot be written, as far as can be known before it is."""
    if not os.path.basename(path) and not os.path.isdir(path):
        return "a file needs a name"
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return _why_no_new_file(path)
    except OSError as error:
        return str(error.strerror)
    if stat.S_ISDIR(mode):
        return f"{path} is a folder"
    if stat.S_ISBLK(mode):
        return f"{path} is a disk"
    if not os.access(path, os.W_OK):
        return f"{path} is not yours to write"
    return _why_no_new_file(path) if is_replaced(path) else None


def _why_no_new_file(path: str) -> str | None:
    name = Path(path)
    folder = Path(os.path.realpath(path)).parent if name.is_symlink() else name.parent
    if not os.path.isdir(folder):
        return f"there is no folder {folder}"
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"the folder {folder} takes no files ({error.strerror})"


def _taken(path: str, others: Iterable[str]) -> str | None:
    taken = next((other for other in others if _same(path, other)), None)
    return None if taken is None else f"another output goes to {taken} already; give each a file of its own"


def _read(path: str, inputs: Iterable[Path]) -> str | None:
    """Say that a path is one of the inputs, or would become a part of a folder that is read."""
    for given in inputs:
        inside = given.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(given))
        if _same(path, given) or (inside and kind_of(Path(path).name) is not None):
            return f"{given} is read; give a file of its own"
    return None


def _same(path: str, other: Any) -> bool:
    """Whether two paths are one file, by whatever name; a device such as /dev/null can be given twice."""
    try:
        return os.path.samefile(path, other) and not stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)
