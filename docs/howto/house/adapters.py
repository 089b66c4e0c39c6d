"""Take memos as they come from the house's older program."""

from faithkit import Explanations
from faithkit.plugin import RowContext


class Memo:
    """What the older program gives: a class of another library, in real life."""

    def __init__(self, reasons):
        self.reasons = reasons


class Memos:
    """Memos of several customers, of which the order of reasons says nothing.

    Parameters
    ----------
    most : int
        How many reasons are read.
    """

    def __init__(self, most: int = 3):
        self.most = most

    def example(self):
        """Return an object of a few rows, for the conformance kit, and what is known of the rows."""
        return [Memo(["debt", "age"]), Memo(["age"])], RowContext(n=2)

    def explanations(self, given, about):
        """Return one explanation per memo; rows without one are not among them."""
        return Explanations.of(tuple(sorted(memo.reasons[: self.most])) for memo in given)
