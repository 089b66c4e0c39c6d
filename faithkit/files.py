"""Files that are either whole or not there."""

import contextlib
import errno
import os
import stat
from functools import partial
from pathlib import Path

from faithkit.errors import InputError

# names of what a process has open, whose content is not ours to replace
_OPEN_FILES = ("/dev/fd/", "/dev/std", "/proc/")


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file so that a reader never sees half a result.

    A regular file is written beside its place and renamed; it keeps its mode and its owner, and a link to it
    stays a link. What is there and is no regular file (a device, a named pipe) is written into.
    """
    # half of a surrogate pair, which no file can hold, becomes the escape that JSON has for it
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    try:
        if is_replaced(path):
            _replace(Path(os.path.realpath(path)), data)
        else:
            _write_into(path, data)
    except OSError as error:
        reason = "nobody is at its other end" if error.errno == errno.ENXIO else error.strerror
        raise InputError(f"cannot write {path}: {reason}. Give a path that you can write to.") from None


def written(text: str, path: str | Path | None) -> str:
    """Return a text, and write it to `path` where one is given."""
    if path is not None:
        write_whole(path, text)
    return text


def is_replaced(path: str | Path) -> bool:
    """Whether a file is written by putting another into its place: it is a regular file, or not there yet."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return True
    return stat.S_ISREG(mode) and not os.path.abspath(path).startswith(_OPEN_FILES)


def _replace(target: Path, data: bytes) -> None:
    """Put a new file in a file's place, with the owner and the mode of that one, or those of any new file."""
    before = target.stat() if target.exists() else None
    name = target.parent / f".faithkit-{os.urandom(8).hex()}"
    mode = 0o666 if before is None else 0o600  # nobody else reads it before it is the other's owner's
    try:
        with open(name, "xb", opener=partial(os.open, mode=mode)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            with contextlib.suppress(OSError, AttributeError):  # not ours to give; a system without owners
                os.chown(name, before.st_uid, before.st_gid)
            os.chmod(name, stat.S_IMODE(before.st_mode))
        os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def _write_into(path: str | Path, data: bytes) -> None:
    # a pipe that nobody reads is an error, instead of a wait for ever
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
