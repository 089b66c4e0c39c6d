"""An estimator that trusts small groups less."""


class Smoothed:
    """Leave-one-out, with some agreeing and as many disagreeing instances added.

    Parameters
    ----------
    weight : float
        How many of each.
    """

    name = "smoothed"

    def __init__(self, weight=1.0):
        self.weight = weight

    def scores(self, tally):
        """Score every owner."""
        return (tally.agreeing + self.weight) / (tally.others + 2 * self.weight)
