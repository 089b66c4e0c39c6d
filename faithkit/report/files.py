"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path

from faithkit.errors import InputError


def write_whole(path: str | Path, text: str) -> None:
    """Write beside the file's place, then rename: a reader never sees half a result."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror}. Give a path in a folder you can write to."
        ) from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        os.unlink(name)
        raise InputError(f"cannot write {target}: {error.strerror}.") from None


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
