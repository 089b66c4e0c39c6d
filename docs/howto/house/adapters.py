"""An adapter for the memos of a legacy program."""

from faithkit import Explanations
from faithkit.plugin import RowContext


class Memo:
    """An explanation of the legacy program; in practice, a class of another library."""

    def __init__(self, reasons):
        self.reasons = reasons


class Memos:
    """Convert memos of several customers to explanations; the order of reasons does not matter.

    Parameters
    ----------
    n_reasons : int
        How many reasons to read.
    """

    def __init__(self, n_reasons: int = 3):
        self.n_reasons = n_reasons

    def example(self):
        """Return an object of a few rows for the conformance kit, and the context of the rows."""
        return [Memo(["debt", "age"]), Memo(["age"])], RowContext(n=2)

    def explanations(self, value, context):
        """Return one explanation per memo; faithkit passes no missing memos."""
        return Explanations.of(tuple(sorted(memo.reasons[: self.n_reasons])) for memo in value)
