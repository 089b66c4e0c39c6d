"""Labels that look like numbers somebody wrote: with a decimal comma, a percent sign, or as texts."""

import re
import warnings
from typing import Any

from faithkit.errors import FaithkitWarning

_WRITTEN = re.compile(r"\s*[+-]?[0-9]*([.,][0-9]+)?\s*(%?)\s*")


def warn_about_written_numbers(labels: list[Any]) -> None:
    """Say that texts are taken for labels, where every one of them is a number and one has a fraction.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warn_about_written_numbers(["0,35", "0,4", "1"])
    ...     warn_about_written_numbers(["1.0", "2.0"])
    >>> [str(one.message)[:54] for one in said]
    ["predictions such as '0,35' are texts, and are taken fo"]
    """
    found = [_WRITTEN.fullmatch(label) if isinstance(label, str) else None for label in labels]
    if not all(found):  # an empty text is a number to the pattern, and no fraction
        return
    example = next((one[0] for one in found if one is not None and _is_fraction(one)), None)
    if example is not None:
        warnings.warn(
            f"predictions such as {example!r} are texts, and are taken for labels: if they are numbers, "
            "write them as numbers, with a decimal point and without a percent sign.",
            FaithkitWarning,
            stacklevel=4,
        )


def _is_fraction(written: re.Match[str]) -> bool:
    """Whether a number has a percent sign, or behind its point or comma any digit but 0."""
    return bool(written[2]) or (written[1] or "").strip(".,0") != ""
