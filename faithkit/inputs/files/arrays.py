"""Arrays from NumPy's own files: images, series, and any rows without names for what is in them."""

from os import PathLike
from pathlib import Path

import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.rows import check_X
from faithkit.wording import describe


def is_array(path: str | PathLike[str]) -> bool:
    """Whether a path names a file of one array, by its suffix.

    Examples
    --------
    >>> is_array("images.npy"), is_array("people.csv")
    (True, False)
    """
    return Path(path).suffix.lower() == ".npy"


def read_array(path: str | PathLike[str]) -> np.ndarray:
    """Read an array of numbers, one row per instance; nothing in the file is run.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "images.npy")
    ...     np.save(path, np.zeros((3, 8, 8)))
    ...     read_array(path).shape
    (3, 8, 8)
    """
    if not Path(path).is_file():
        raise InputError(f"there is no file {str(path)!r}.")
    try:
        # as a map first: a header that promises more than the file holds fills no memory
        found = np.array(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError, EOFError, SyntaxError, OverflowError) as error:
        raise InputError(
            f"{path} cannot be read as a NumPy array ({describe(error)}): save numbers with numpy.save."
        ) from None
    if found.dtype.kind not in "biuf":
        raise InputError(f"{path} holds {found.dtype}: save numbers with numpy.save.")
    rows: np.ndarray = check_X(found, str(path))
    return rows
