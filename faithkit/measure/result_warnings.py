"""Warnings that are a part of a result: what to know before believing its verdict."""

from collections.abc import Mapping
from typing import Any

import attrs

REPEATS, ORDER, LABELS, LEARNT, SCOPES, TAILS = "repeats", "order", "labels", "learnt", "scopes", "tails"


@attrs.frozen
class ResultWarning:
    """A warning about the rows or the explanations of a result.

    Attributes
    ----------
    name : str
        "repeats", "order", "labels", "learnt", "scopes" or "tails".
    sentence : str
        What was found and what to do, in one sentence.
    figures : mapping of str to float
        The numbers behind it.

    Examples
    --------
    >>> import faithkit
    >>> leaking = [f"class {label}: amount {i % 3}" for i, label in enumerate(["approved", "declined"] * 50)]
    >>> [warning.name for warning in faithkit.score(["approved", "declined"] * 50, leaking).warnings]
    ['labels']
    """

    name: str
    sentence: str
    figures: Mapping[str, float] = attrs.field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)
