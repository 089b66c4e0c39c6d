"""The kernel's objections to explanations that state their scope, as rules do.

Such an explanation must hold for its own row. If it also holds for hardly any other row, it may have been cut
to these rows, and its agreement says nothing of further ones.
"""

from collections.abc import Callable

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays import Ints, sum_by
from faithkit.arrays.bitsets import get_bits, popcount
from faithkit.measure.counting.count import Count
from faithkit.measure.objections import Objection
from faithkit.measure.verdict import ABOVE_ITS_CONTROL, NOT_FAITHFUL

OWN_ROW, SCOPE = "own row", "scope"
TRUE_ENOUGH = 0.95  # of the explanations hold for their own row
FEW_ROWS = 10  # other rows in the median scope

_Scopes = tuple[Ints, NDArray[np.bool_], Ints, Ints]
"""Of each entry: its explanation, whether that holds for its own rows, for how many others, and its rows."""


@attrs.frozen
class StatedScopes:
    """How far the scopes of explanations reach, and how many do not reach their own row.

    Attributes
    ----------
    n : int
        The number of explained rows.
    n_false : int
        How many explanations do not hold for their own row.
    median : float
        How many other rows an explanation holds for, in the median.
    worst : int or None
        The distinct explanation that is false of most of its own rows.

    Examples
    --------
    >>> import faithkit, numpy as np
    >>> X = np.arange(4.0).reshape(-1, 1)
    >>> rules = [faithkit.Rule([faithkit.plugin.Interval(0, high=high)]) for high in (3, 3, 3, 1)]
    >>> explanations = faithkit.Explanations.of(rules, kind="rule", relation="in-scope")
    >>> result = faithkit.score(["yes", "no", "no", "no"], explanations, X)
    >>> scopes = StatedScopes.of(result.evidence.counts["sufficiency"])
    >>> scopes.n, scopes.n_false, scopes.median
    (4, 1, 3.0)
    """

    n: int
    n_false: int
    median: float
    worst: int | None

    @classmethod
    def of(cls, count: Count) -> "StatedScopes":
        """Return the scopes of the explained rows of a count."""
        explanation, is_true, others, rows = _read(count) if count.design.is_equal else _scan_cells(count)
        rows = np.where(count.explanations.missing[explanation], 0, rows)
        false_rows = sum_by(explanation, np.where(is_true, 0, rows), len(count.explanations))
        all_others, n_false = np.repeat(others, rows), int(false_rows.sum())
        return cls(
            n=int(rows.sum()),
            n_false=n_false,
            median=float(np.median(all_others)) if len(all_others) else 0.0,
            worst=int(false_rows.argmax()) if n_false else None,
        )

    def objections(self, describe: Callable[[int], str]) -> list[Objection]:
        """Return what speaks against the scopes; `describe` puts a distinct explanation into words."""
        if not self.n:
            return []
        objections = []
        if self.worst is not None:
            is_lie = self.n_false > (1.0 - TRUE_ENOUGH) * self.n
            count = f"{self.n_false:,} explanation{' is' if self.n_false == 1 else 's are'} false of"
            sentence = (
                f"{count} {'its' if self.n_false == 1 else 'their'} own row, such as {describe(self.worst)!r}"
            )
            objections.append(Objection(OWN_ROW, sentence, NOT_FAITHFUL if is_lie else None))
        if self.median < FEW_ROWS:
            rows = f"{self.median:g} other row{'' if self.median == 1 else 's'}"
            sentence = (
                f"explanations hold for {rows} in the median, so they could be cut to these rows: check them "
                "against other rows (pool=, CLI: --pool)"
            )
            objections.append(Objection(SCOPE, sentence, ABOVE_ITS_CONTROL))
        return objections


def _read(count: Count) -> _Scopes:
    """Return the scopes of equal rows, from the counts of their owners."""
    owners = count.owners
    return owners.explanation, np.asarray(owners.own) > 0, owners.others, owners.rows


def _scan_cells(count: Count) -> _Scopes:
    """Return the scopes of rows with weights or clusters, by one more pass over the relation's matrix."""
    explanation = count.owned[: count.n_explained]
    is_true, sizes = np.zeros(len(explanation), dtype=bool), np.zeros(len(count.explanations), dtype=np.int64)
    for start, stop, bits in count.batches():
        sizes[start:stop] = popcount(bits)
        rows = np.flatnonzero((explanation >= start) & (explanation < stop))
        is_true[rows] = get_bits(bits, explanation[rows] - start, rows)
        del bits  # free memory before the next batch
    return explanation, is_true, sizes[explanation] - is_true, np.ones_like(explanation)
