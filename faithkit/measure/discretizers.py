"""Discretizers set what equality compares; the kernel's own changes nothing."""

from typing import Any

from faithkit.measure.explanations import Explanations


class Original:
    """Compare explanations as they are.

    Examples
    --------
    >>> Original().discretize(Explanations.vectors([[0.25]]))
    array([[0.25]])
    """

    def discretize(self, explanations: Explanations) -> Any:
        """Return the values themselves."""
        return explanations.values
