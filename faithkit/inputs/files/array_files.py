"""Arrays from NumPy's own files: images, series, and any rows without names for what is in them."""

from os import PathLike
from pathlib import Path

import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.rows import check_X

_MAGIC = b"\x93NUMPY"  # how such a file begins


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
    path = Path(path)
    if not path.is_file():
        raise InputError(
            f"there is no file {str(path)!r}; of .npy files, one is read: no folder, no pattern."
        )
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{path} is no .npy file: save one array with numpy.save.")
    try:
        # a header that promises more than the file holds fills no memory
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, OverflowError) as error:
        what = (
            "holds Python objects (images of different sizes?)" if "objects" in str(error) else "is damaged"
        )
        raise InputError(f"{path} {what}: save numbers of one shape with numpy.save.") from None
    if found.dtype.kind not in "biuf":
        raise InputError(f"{path} holds {found.dtype}: save numbers with numpy.save.")
    if found.offset + found.nbytes != path.stat().st_size:
        raise InputError(f"{path} goes on after its first array: save one array in a file.")
    rows: np.ndarray = check_X(np.array(found), str(path))
    return rows
