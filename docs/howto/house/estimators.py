"""An estimator that shrinks the shares of few instances."""

import faithkit


class Smoothed:
    """Add w instances that agree and w instances that do not.

    The share (A + w) / (D + 2w) is one half without other instances, and near A / D with many.

    Parameters
    ----------
    weight : float
        w, the number of instances to add on each side.

    Examples
    --------
    >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"], estimator=Smoothed(weight=1.0))
    >>> round(result.consistency.value, 3)  # the mean of 2/3, 2/3 and 1/2
    0.611
    """

    name = "smoothed"
    interval = False  # the intervals are valid for leave-one-out, and this is another quantity
    whole = False  # an explanation is scored by its own counts alone, so a large tally may come in parts

    def __init__(self, weight: float = 1.0) -> None:
        if not weight > 0:
            raise faithkit.errors.ParameterError(
                f"smoothed: weight must be a number above 0, got {weight!r}."
            )
        self.weight = weight

    def scores(self, tally):
        """Return the score of an owner of explanation u with label y, for s in (0, 1): shape (2, m, k)."""
        return (tally.agreeing + self.weight) / (tally.others + 2 * self.weight)
