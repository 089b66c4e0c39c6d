"""What merging finds: a share that is at most the measure in the mean, and how sure it is."""

from collections.abc import Mapping
from typing import Any

import attrs

ROUNDING = 1e-14  # what is left of 0
NOTHING, PAIRS, NEAR, BLOCK = "nothing", "pairs", "near blocks", "one block"


@attrs.frozen
class Merged:
    """The agreement inside blocks: groups as they are, and rows that are alone put together.

    Attributes
    ----------
    how : str
        "nothing" where no two rows are alone, "pairs", "near blocks" or "one block".
    value : float
        x: the mean over rows of how many others of their block agree. In the mean it is at most the measure.
    reach : float
        The share of rows that have others in their block: the most that x could be.
    se : float or None
        The standard error of x; None where the sample shows no variation: all agree, or none.
    trials : float
        The smallest number of independent trials that the sample may be worth.
    skew : float
        The skewness of what x is the mean of, where predictions are numbers.
    """

    how: str
    value: float
    reach: float
    se: float | None
    trials: float
    skew: float = 0.0

    @classmethod
    def of(
        cls, how: str, level: tuple[float, float], added: tuple[float, int], n: int, se: float | None
    ) -> "Merged":
        """Add, to M and V of n rows, how far the merged rows agree and how many of them have others now."""
        (value, verified), (score, size) = level, added
        reach = (round(verified * n) + size) / n
        whole = value == verified and score == size  # then x is no rounding error below its reach
        x = value + score / n
        return cls(how, reach if whole else 0.0 if abs(x) < ROUNDING else min(x, reach), reach, se, n / 2)

    @property
    def is_unsure(self) -> bool:
        """Whether the standard error says too little: nothing agrees, or all does."""
        return self.value <= 0 or self.value >= self.reach or self.se is None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "Merged":
        """Make it of what `to_dict` told."""
        return cls(**told)
