"""How far the prediction of a row agrees with those that the pool has for its explanation.

That is a number between 0 and 1, as a sequence asks for. Labels agree or do not, and so do numbers with a
tolerance; scores agree by their distance. Without a tolerance, numbers are as far apart as they like: their
squared distance, halved, is divided by the variance of the pool's, and what is left of 1 is cut at 0.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.predictions.outcome import LABELS, Outcome
from faithkit.measure.agreement.base import Sums
from faithkit.measure.agreement.same_label import SAME_LABEL
from faithkit.measure.agreement.squares import Squares
from faithkit.measure.agreement.within import Within
from faithkit.measure.arrays import Floats
from faithkit.run.monitoring.tallies import Cell

Pool = Mapping[bytes, Mapping[str, int]]
"""How many rows have each prediction, by the digest of their explanation."""

FAR = 1e6  # standard deviations; no prediction of a pool is so far away


@attrs.frozen
class Agreeing:
    """What predictions are, and what the distance of two numbers is divided by.

    Examples
    --------
    >>> pool = {b"a": {"0.5": 2, "1.5": 1}, b"b": {"3.5": 1}}
    >>> near = Agreeing.by(pool, Outcome("numbers", within=0.25))
    >>> near.shares([(b"a", "0.75"), (b"a", "1.0"), (b"c", "0.5")], pool)
    array([0.66666667, 0.        , 0.        ])
    >>> round(Agreeing.by(pool, Outcome("numbers")).unit, 3)  # of 0.5, 0.5, 1.5 and 3.5
    1.414
    """

    outcome: Outcome
    unit: float = attrs.field(default=1.0, converter=float, validator=attrs.validators.gt(0))

    @classmethod
    def by(cls, pool: Pool, outcome: Outcome) -> "Agreeing":
        """Take the standard deviation of a pool's numbers, of several outputs together, as their unit."""
        if not outcome.is_divided or not pool:
            return cls(outcome)
        times: Counter[str] = Counter()
        for counts in pool.values():
            times.update(counts)
        values, known = _points(times), np.array(list(times.values()))
        wide = np.ptp(values, axis=0)
        if not wide.any():
            raise InputError(
                "there is nothing to watch: the pool has no prediction but "
                f"{next(iter(times))}. Give a reference whose predictions differ."
            )
        widest = int(wide.argmax())
        return cls(outcome, float(wide[widest] / np.ptp(Squares.divided(values, known).points[:, widest])))

    def shares(self, cells: Sequence[Cell], pool: Pool) -> Floats:
        """Return how far each cell agrees with the pool's rows of its explanation; 0 where there are none."""
        mine = [cell for cell in cells if cell[0] in pool]
        rows = {name: row for row, name in enumerate(dict.fromkeys(name for name, _ in mine))}
        known = {(name, one): n for name in rows for one, n in pool[name].items()}
        slots = known | {cell: 0 for cell in mine if cell not in known}
        found = dict(zip(slots, self._found(rows, slots).tolist(), strict=True)) if slots else {}
        return np.array([found.get(cell, 0.0) for cell in cells], dtype=np.float64)

    def _found(self, rows: Mapping[bytes, int], slots: Mapping[Cell, int]) -> Floats:
        """Return the same for slots, each with how many rows of the pool it has; the first has some."""
        labels, agreement = self._agreement([one for _, one in slots])
        row = np.array([rows[name] for name, _ in slots], dtype=np.int64)
        label = np.array([labels[one] for _, one in slots], dtype=np.int64)
        weight = np.array(list(slots.values()), dtype=np.int64)
        order, agreeing = np.lexsort((label, row)), np.empty(len(slots))
        agreeing[order] = agreement.over_slots(row[order], label[order], weight[order])
        return np.clip(agreeing / np.bincount(row, weight)[row], 0.0, 1.0)

    def _agreement(self, predictions: Iterable[str]) -> tuple[dict[str, int], Sums]:
        """Give predictions codes, numbers in their order, and say how far two of them agree."""
        texts = list(dict.fromkeys(predictions))
        if self.outcome.kind == LABELS:
            return {text: code for code, text in enumerate(texts)}, SAME_LABEL
        values = _points(texts)
        order = np.lexsort(values.T[::-1])
        codes = {texts[place]: code for code, place in enumerate(order)}
        if self.outcome.within is not None:
            return codes, Within(values[order, 0], self.outcome.within)
        with np.errstate(over="ignore"):  # from one of the pool: new ones may be anywhere
            points = np.clip((values[order] - values[0]) / self.unit, -FAR, FAR)
        return codes, Squares.scores(points, np.zeros(len(order), dtype=np.int64))


def _points(texts: Iterable[str]) -> Floats:
    """Read numbers, or rows of them, that were written down."""
    with foreign("reading the numbers of a state", "It was changed: take a copy of it."):
        found = np.array([json.loads(text) for text in texts], dtype=np.float64)
        return found.reshape(len(found), -1)
