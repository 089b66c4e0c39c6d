"""Read arrays from NumPy's .npy files: images, series, and other rows without column names."""

from os import PathLike
from pathlib import Path

import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.rows import check_X
from faithkit.third_party import guard


def is_array(path: str | PathLike[str]) -> bool:
    """Return whether a path has the suffix of a NumPy array file.

    Examples
    --------
    >>> is_array("images.npy"), is_array("people.csv")
    (True, False)
    """
    return Path(path).suffix.lower() == ".npy"


def read_array(path: str | PathLike[str]) -> np.ndarray:
    """Read an array of numbers, one row per instance, without running code from the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "images.npy")
    ...     np.save(path, np.zeros((3, 8, 8)))
    ...     read_array(path).shape
    (3, 8, 8)
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"there is no file {str(path)!r}; expected one .npy file, not a folder or a pattern."
        )
    with guard(f"reading {path}", "Save one array of numbers of one shape with numpy.save."):
        # a memory map: it refuses Python objects, and a header that claims more than the file holds
        array = np.lib.format.open_memmap(path, mode="r")
    if array.offset + array.nbytes < path.stat().st_size:
        raise InputError(f"{path} holds more than one array: save each in a file of its own with numpy.save.")
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path} holds {array.dtype}: save numbers with numpy.save.")
    rows: np.ndarray = check_X(np.array(array), str(path))
    return rows
