"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path

import faithkit


def make_folder(folder: Path) -> Path:
    """Make a folder, and see that files can be written to it: before hours of work, not after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise faithkit.errors.InputError(
            f"cannot write to {folder}: {error.strerror}. Name a folder that you can write to."
        ) from None


def write_whole(path: Path, content: str) -> None:
    """Write beside the file's place, then rename: a reader never sees half a file."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(content, encoding="utf-8")
        os.replace(unfinished, path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise faithkit.errors.InputError(f"cannot write {path}: {error.strerror}.") from None
