"""Write files completely or not at all."""

import os
import tempfile
from pathlib import Path

import faithkit


def make_folder(folder: Path) -> Path:
    """Create a folder, and check that it is writable before hours of work begin."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise faithkit.errors.InputError(
            f"cannot write to {folder}: {error.strerror}. Name a folder that you can write to."
        ) from None


def write_atomically(path: Path, content: str) -> None:
    """Write to a temporary file and rename it, so that readers never see half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(content, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise faithkit.errors.InputError(f"cannot write {path}: {error.strerror}.") from None
