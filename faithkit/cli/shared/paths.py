"""Paths of inputs and outputs: resolved when the command starts, and checked before anything is computed."""

import glob
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click

from faithkit.errors import InputError
from faithkit.files import is_replaced
from faithkit.inputs.files.discovery import is_pattern, match_files, table_format

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def resolve_path(_ctx: click.Context, _param: click.Parameter, path: str | None) -> str | None:
    """Return the full path of an existing file, so that code may change the working folder.

    Other texts are returned as they are. They may be names, and an error shows them as the user typed them.
    """
    if path and is_pattern(path) and glob.glob(path):
        return os.path.join(glob.escape(os.getcwd()), path)
    return os.path.abspath(path) if path and os.path.exists(path) else path


def resolve_model_path(ctx: click.Context, param: click.Parameter, model: str) -> str | None:
    """Return the full path of a model's file; a text without a suffix names a default model or a module."""
    return resolve_path(ctx, param, model) if Path(model).suffix else model


def check_paths(paths: Mapping[str, str | None]) -> dict[str, str]:
    """Check that the outputs can be written, and return their full paths.

    An output must not overwrite an input. The inputs are the files whose option or argument has the callback
    `resolve_path` or the type `click.Path`, which plugins' verbs may use.

    Parameters
    ----------
    paths : mapping
        The path of each output; None for no output, - for stdout.
    """
    outputs = {name: "-" if path in STDOUT else path for name, path in paths.items() if path is not None}
    if list(outputs.values()).count("-") > 1:
        raise click.UsageError("only one of the outputs can be - (stdout): give the others a file each.")
    inputs = [file for path in _input_paths() for file in (match_files(path) if is_pattern(path) else [path])]
    input_files = [Path(path) for path in inputs if os.path.exists(path)]
    input_files += map(Path, _param_values(_is_click_path))  # also those that do not exist yet
    output_files = [path for path in outputs.values() if path != "-"]
    for number, path in enumerate(output_files):
        reason = (
            _write_problem(path)
            or _output_clash(path, output_files[:number])
            or _input_clash(path, input_files)
        )
        if reason is not None:
            raise InputError(f"cannot write {path}: {reason}.")
    return {name: path if path == "-" else os.path.abspath(path) for name, path in outputs.items()}


def _input_paths() -> list[str]:
    return _param_values(
        lambda param: param.callback in (resolve_path, resolve_model_path) or _is_click_path(param)
    )


def _is_click_path(param: click.Parameter) -> bool:
    return isinstance(param.type, click.Path)


def _param_values(is_selected: Callable[[click.Parameter], bool]) -> list[str]:
    """Return the paths that the user gave for the selected arguments and options."""
    ctx = click.get_current_context()
    values = [ctx.params[str(param.name)] for param in ctx.command.params if is_selected(param)]
    groups = (paths if isinstance(paths, tuple) else (paths,) for paths in values)
    return [path for paths in groups for path in paths if path]


def _write_problem(path: str) -> str | None:
    """Return why a file cannot be written, as far as this can be known in advance."""
    if not os.path.basename(path) and not os.path.isdir(path):
        return "a file needs a name"
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return _new_file_problem(path)
    except OSError as error:
        return str(error.strerror)
    if stat.S_ISDIR(mode):
        return f"{path} is a folder"
    if not os.access(path, os.W_OK):
        return f"{path} is not yours to write"
    return _new_file_problem(path) if is_replaced(path) else None


def _new_file_problem(path: str) -> str | None:
    name = Path(path)
    folder = Path(os.path.realpath(path)).parent if name.is_symlink() else name.parent
    if not os.path.isdir(folder):
        return f"there is no folder {folder}"
    try:
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"the folder {folder} takes no files ({error.strerror})"


def _output_clash(path: str, earlier_paths: Iterable[str]) -> str | None:
    clash = next((earlier for earlier in earlier_paths if _is_same_file(path, earlier)), None)
    return None if clash is None else f"another output goes to {clash} already; give each a file of its own"


def _input_clash(path: str, input_files: Iterable[Path]) -> str | None:
    """Return an error message if a path is an input, or lies in a folder that is read."""
    for file in input_files:
        is_inside = file.is_dir() and Path(os.path.realpath(path)).is_relative_to(os.path.realpath(file))
        if _is_same_file(path, file) or (is_inside and table_format(Path(path).name) is not None):
            return f"{file} is read; give a file of its own"
    return None


def _is_same_file(path: str, other_path: str | Path) -> bool:
    """Whether two paths lead to the same file; devices such as /dev/null do not count."""
    try:
        return os.path.samefile(path, other_path) and not stat.S_ISCHR(os.stat(path).st_mode)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other_path)
