"""Adapters for the memos of a legacy program: as objects, and as texts."""

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


class MemoTexts:
    """Read memos as the legacy program prints them, such as "memo: debt, age"."""

    def example(self):
        """Return texts of a few rows for the conformance kit, and the context of the rows."""
        return ["memo: debt, age", "memo: age"], RowContext(n=2)

    def takes(self, texts):
        """Return whether these texts are memos."""
        return all(isinstance(text, str) and text.startswith("memo: ") for text in texts)

    def explanations(self, values, context):
        """Return one explanation per text; None is a row without one."""
        memos = [None if text is None else text.removeprefix("memo: ").split(", ") for text in values]
        return Explanations.of(None if memo is None else tuple(sorted(memo)) for memo in memos)
