"""An estimator that smooths counts, so that two rows that agree are no proof."""

from typing import Any

from faithkit.errors import ParameterError
from faithkit.plugin import Tally


class Starter:
    """Score as if some more instances had agreed, and as many had not.

    Parameters
    ----------
    weight : float
        How many instances are added on each side.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"], estimator=Starter(weight=1.0))
    >>> round(result.consistency.value, 3)  # the mean of 2/3, 2/3 and 1/2
    0.611
    """

    name = "starter"
    interval = False  # intervals are for leave-one-out, and this is another quantity
    whole = False  # it scores an explanation by its own counts alone, so a large tally may come in parts

    def __init__(self, weight: float = 1.0) -> None:
        if not weight > 0:
            raise ParameterError(f"starter: weight must be a number above 0, got {weight!r}.")
        self.weight = weight

    def scores(self, tally: Tally) -> Any:
        """Return the smoothed share of the other rows that agree, for each explanation and label."""
        return (tally.agreeing + self.weight) / (tally.others + 2 * self.weight)
