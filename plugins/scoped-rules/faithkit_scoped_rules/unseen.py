"""Rows with a category that the background does not have: no rule can speak of it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit

UNSEEN = "a category that the background does not have"


def unseen(
    encoder: faithkit.plugin.Encoder, codes: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which encoded rows have one, and remarks that say so.

    Examples
    --------
    >>> jobs = np.array([["cook"], ["smith"]], dtype=object)
    >>> encoder = faithkit.plugin.Encoder(jobs)
    >>> unseen(encoder, encoder.encode(np.array([["pilot"], ["cook"]], dtype=object), unseen="keep"))[1]
    array(['a category that the background does not have', None], dtype=object)
    """
    found, remarks = np.zeros(len(codes), dtype=bool), np.full(len(codes), None, dtype=object)
    for j, known in encoder.categories.items():
        found |= codes[:, j] > len(known)
    remarks[found] = UNSEEN
    return found, remarks
