"""What a path names, asked once and before anything is opened: a pipe would wait for a writer for ever."""

import os
import stat
from os import PathLike

from faithkit.errors import InputError
from faithkit.wording import describe, one_line

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def is_folder(path: str | PathLike[str]) -> bool:
    """Return whether a path names a folder; False is a regular file, and anything else is refused.

    Examples
    --------
    >>> is_folder(os.curdir), is_folder(__file__)
    (True, False)
    >>> is_folder(os.devnull)
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: /dev/null is a device; expected a regular file. Copy what it gives into one.
    """
    given = os.fspath(path)
    shown = one_line(given if given.isprintable() else repr(given))
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise InputError(f"there is no file {shown}. Check the path.") from None
    except (OSError, ValueError) as error:  # a folder that may not be searched, too long a name, a NUL in it
        raise InputError(f"{shown} cannot be read ({describe(error)}). Check the path.") from None
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no file")
        raise InputError(f"{shown} is {kind}; expected a regular file. Copy what it gives into one.")
    return stat.S_ISDIR(mode)
