"""An estimator that does not take two instances for proof."""

from typing import Any

from faithkit.errors import ParameterError
from faithkit.plugin import Tally


class Mine:
    """Count as if some instances more had agreed, and as many had not.

    Parameters
    ----------
    weight : float
        How many instances are added on each side.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"], estimator=Mine(weight=1.0))
    >>> round(result.consistency.value, 3)  # the mean of 2/3, 2/3 and 1/2
    0.611
    """

    name = "mine"
    interval = False  # the intervals are those of leave-one-out, and this is another quantity

    def __init__(self, weight: float = 1.0) -> None:
        if not weight > 0:
            raise ParameterError(f"mine: weight must be a number above 0, got {weight!r}.")
        self.weight = weight

    def scores(self, tally: Tally) -> Any:
        """Score whoever has an explanation and a label: A others of D agree."""
        return (tally.agreeing + self.weight) / (tally.others + 2 * self.weight)
