"""Files that are either whole or not there."""

import os
import tempfile
from pathlib import Path

from faithkit.errors import InputError


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write beside the file's place, then rename: a reader never sees half a result."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise InputError(
            f"cannot write {target}: {error.strerror}. Give a path in a folder you can write to."
        ) from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
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
