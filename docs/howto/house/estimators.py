"""An estimator that does not take two instances for proof."""

import faithkit


class Smoothed:
    """Count as if some instances more had agreed, and as many had not.

    The share (A + w) / (D + 2w) is one half where nobody can be asked, and near A / D where many can.

    Parameters
    ----------
    weight : float
        w, how many instances are added on each side.

    Examples
    --------
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"], estimator=Smoothed(weight=1.0))
    >>> round(result.consistency.value, 3)  # the mean of 2/3, 2/3 and 1/2
    0.611
    """

    name = "smoothed"
    interval = False  # the intervals are those of leave-one-out, and this is another quantity

    def __init__(self, weight: float = 1.0) -> None:
        if not weight > 0:
            raise faithkit.errors.ParameterError(
                f"smoothed: weight must be a number above 0, got {weight!r}."
            )
        self.weight = weight

    def scores(self, tally):
        """Score an owner of explanation u with label y, for s in (0, 1): shape (2, m, k)."""
        return (tally.agreeing + self.weight) / (tally.others + 2 * self.weight)
