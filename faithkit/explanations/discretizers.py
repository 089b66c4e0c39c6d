"""Discretizers set what equality compares; the kernel's own changes nothing."""

from typing import Any

from faithkit.explanations.explanations import Explanations


class Original:
    """Compare explanations as they are.

    Vectors that an explainer computes come rounded, so that no last bit of a sum tells two of them apart:
    to eight digits behind the first of what is usual in their column, and to no more than twelve behind the
    first of the largest column (four and five where the model scores in single precision).
    `shared["decimals"]` says to how many decimals. Logged vectors are compared exactly.

    Examples
    --------
    >>> Original().discretize(Explanations.vectors([[0.25]]))
    array([[0.25]])
    """

    def discretize(self, explanations: Explanations) -> Any:
        """Return the values themselves."""
        return explanations.values
