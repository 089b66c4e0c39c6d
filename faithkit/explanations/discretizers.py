"""The built-in discretizer, which leaves explanations unchanged."""

from typing import Any

from faithkit.explanations.explanations import Explanations


class Original:
    """Compare explanations as they are.

    Computed vectors arrive rounded, so that the last bits of a sum do not make two vectors differ. They keep
    eight digits after the leading digit of a typical value of their column, and at most twelve after the
    leading digit of the largest column (four and five if the model scores in single precision).
    `shared["decimals"]` has the number of decimals. Logged vectors are compared exactly.

    Examples
    --------
    >>> Original().discretize(Explanations.vectors([[0.25]]))
    array([[0.25]])
    """

    def discretize(self, explanations: Explanations) -> Any:
        """Return the values unchanged."""
        return explanations.values
