"""Find rows with a category that the background does not have: no rule can cover them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit

UNSEEN = "a category that the background does not have"


def find_unseen(
    encoder: faithkit.plugin.Encoder, codes: NDArray[np.float64]
) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which encoded rows have an unseen category, and a remark for each of them.

    Examples
    --------
    >>> jobs = np.array([["cook"], ["smith"]], dtype=object)
    >>> encoder = faithkit.plugin.Encoder(jobs)
    >>> find_unseen(encoder, encoder.encode(np.array([["pilot"], ["cook"]], dtype=object), unseen="keep"))[1]
    array(['a category that the background does not have', None], dtype=object)
    """
    has_unseen, remarks = np.zeros(len(codes), dtype=bool), np.full(len(codes), None, dtype=object)
    for j, categories in encoder.categories.items():
        has_unseen |= codes[:, j] > len(categories)
    remarks[has_unseen] = UNSEEN
    return has_unseen, remarks
