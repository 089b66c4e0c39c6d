"""Write files atomically: a file is complete or does not exist."""

import contextlib
import errno
import os
import stat
from functools import partial
from pathlib import Path

from faithkit.errors import InputError

# paths to files that a process has open: they are written into, never replaced
_OPEN_FILES = ("/dev/fd/", "/dev/std", "/proc/")


def write_atomically(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader never sees an incomplete result.

    A regular file is written under another name and renamed. It keeps its mode and its owner, and a link to
    it stays a link. A device or a named pipe is written into.
    """
    # an unpaired surrogate, which no file can hold, becomes its JSON escape
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        if is_replaced(path):
            write_file(Path(os.path.realpath(path)), data)
        else:
            _write_into(path, data)
    except OSError as error:
        reason = "no process reads it" if error.errno == errno.ENXIO else error.strerror
        raise InputError(f"cannot write {path}: {reason}. Give a path that you can write to.") from None


def is_replaced(path: str | Path) -> bool:
    """Whether writing replaces the file: it is a regular file, or does not exist yet."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return True
    return stat.S_ISREG(mode) and not os.path.abspath(path).startswith(_OPEN_FILES)


def write_file(path: str | Path, data: bytes) -> None:
    """Write a file so that readers find all of it or what was there before, also after a crash.

    It is written under another name, synced to the disk and renamed. It keeps the owner and the mode of a
    file that it replaces. Errors are those of the system.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "numbers"
    >>> write_file(path, b"1 2 3")
    >>> path.read_bytes()
    b'1 2 3'
    """
    target = Path(path)
    old_stat = target.stat() if target.exists() else None
    temporary = target.parent / f".faithkit-{os.urandom(8).hex()}"
    mode = 0o666 if old_stat is None else 0o600  # private until it has the owner of the old file
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if old_stat is not None:
            with contextlib.suppress(OSError, AttributeError):  # not permitted; a system without owners
                os.chown(temporary, old_stat.st_uid, old_stat.st_gid)
            os.chmod(temporary, stat.S_IMODE(old_stat.st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_into(path: str | Path, data: bytes) -> None:
    # without blocking, so that a pipe without a reader is an error instead of an endless wait
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(descriptor, True)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
