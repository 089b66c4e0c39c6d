"""Read arrays from NumPy's .npy files: images, series, and other rows without column names."""

from os import PathLike
from pathlib import Path

import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.rows import check_X

_MAGIC = b"\x93NUMPY"  # the first bytes of a .npy file


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
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{path} is no .npy file: save one array with numpy.save.")
    try:
        # a memory map: a header that claims more than the file holds allocates nothing
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, OverflowError) as error:
        problem = (
            "holds Python objects (images of different sizes?)" if "objects" in str(error) else "is damaged"
        )
        raise InputError(f"{path} {problem}: save numbers of one shape with numpy.save.") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{path} holds {array.dtype}: save numbers with numpy.save.")
    if array.offset + array.nbytes != path.stat().st_size:
        raise InputError(f"{path} goes on after its first array: save one array in a file.")
    rows: np.ndarray = check_X(np.array(array), str(path))
    return rows
