"""The measure by its definition: loops over pairs of rows, and every unit left out by measuring anew.

It shares no code with the package. The theory page has the formulas: the pair ratio of each part, what counts as
checked, rows that are merged, and what is printed.
"""

import math

import attrs
import numpy as np

OWN, ALL = 2.0, 0.5


@attrs.frozen(eq=False)
class Rows:
    """A small sample.

    Attributes
    ----------
    explanation : (n,) int
        What each row's explanation is equal to; −1 for rows without one, and for rows of a pool.
    holds : (n, n) bool
        Whether the explanation of row i holds for row j.
    apart : (n, n) float
        How far the predictions of two rows disagree.
    weights, unit, block : (n,)
    owns : (n,) bool
        False for rows of a pool.
    merged : (n,) int
        The block in which a row is compared if only its unit has its explanation; −1 for other rows.
    is_mixed : bool
        False where weights are declared to say nothing about predictions.
    divided, bound : whether disagreement is divided by that of a constant explanation, and the largest of two
        predictions if it is known
    unchecked : float
        How much a row without comparison may disagree, in units of `bound`.
    """

    explanation: np.ndarray
    holds: np.ndarray
    apart: np.ndarray
    weights: np.ndarray
    unit: np.ndarray
    block: np.ndarray
    owns: np.ndarray
    merged: np.ndarray
    is_mixed: bool = True
    divided: bool = False
    bound: float | None = None
    unchecked: float = 1.0

    @property
    def n(self):
        return len(self.unit)

    @property
    def left_out(self):
        """The units that are left out one by one: blocks, if there are several."""
        return self.block if len(set(self.block)) > 1 else self.unit

    def cells(self, rows):
        """Return the weight of each unit among some rows."""
        cells = {}
        for j in rows:
            cells[self.unit[j]] = cells.get(self.unit[j], 0.0) + self.weights[j]
        return cells

    def parts(self, alive, owner):
        """Return owners and held rows of each explanation, block, and whether it holds for the owner."""
        owners = {}
        for i in range(self.n):
            if alive[i] and owner[i] and self.owns[i] and self.explanation[i] >= 0 and self.weights[i] > 0:
                owners.setdefault((self.explanation[i], self.block[i], bool(self.holds[i, i])), []).append(i)
        for (_, block, _), rows in owners.items():
            first = rows[0]
            held = [
                j for j in range(self.n)
                if alive[j] and self.holds[first, j] and self.block[j] == block and self.weights[j] > 0
            ]  # fmt: skip
            yield rows, held

    def level(self, owners, held):
        """Return the mean disagreement of a part, and its cells; None if no two rows are compared."""
        cells = self.cells(held)
        weight, apart, own = np.zeros(3), np.zeros(3), 0.0
        for i in owners:
            own_cell = cells.get(self.unit[i], 0.0)
            own += self.weights[i] * own_cell
            for j in held:
                if self.unit[i] != self.unit[j]:
                    pair = self.weights[i] * self.weights[j] * np.array([1.0, cells[self.unit[j]], own_cell])
                    weight, apart = weight + pair, apart + pair * self.apart[i, j]
        if not weight[0]:
            return None, cells
        if not self.is_mixed:
            return apart[0] / weight[0], cells
        total, squares = sum(cells.values()), sum(cell**2 for cell in cells.values())
        owned = sum(self.weights[i] for i in owners) * total
        shares = np.array(
            [
                0.0,
                squares / max(total**2 - squares, squares),
                own / max(owned - own, own) if weight[2] else 0.0,
            ]
        )
        shares /= max(1.0, shares.sum())
        shares[0] = 1.0 - shares.sum()
        return sum(s * a / w for s, a, w in zip(shares, apart, weight, strict=True) if w), cells

    def sizes(self, alive, owner):
        """Return the mean cell by owned weight, and by number, without the unit that accounts for most."""
        by_unit = {}
        for owners, held in self.parts(alive, owner):
            cells = self.cells(held)
            factor = sum(self.weights[i] for i in owners) / sum(cells.values()) if cells else 0.0
            for unit, cell in cells.items():
                by_unit[unit] = by_unit.get(unit, np.zeros(3)) + factor * np.array([1.0, cell, cell**2])
        if len(by_unit) < 2:
            return 0.0, 0.0
        most = max(sums[2] for sums in by_unit.values()) * (1 - 1e-9)
        heaviest = min(
            (unit for unit in by_unit if by_unit[unit][2] >= most), key=lambda unit: by_unit[unit][1]
        )
        number, total, squares = sum(sums for unit, sums in by_unit.items() if unit != heaviest)
        return squares / total, total / number

    def constant(self, alive):
        """Return the mean disagreement of rows that all have one explanation, in blocks that of each block."""
        lost = weight = 0.0
        for block in set(self.block):
            held = [j for j in range(self.n) if alive[j] and self.block[j] == block and self.weights[j] > 0]
            owners = [i for i in held if self.owns[i]]
            level, _ = self.level(owners, held)
            if level is not None:
                own = sum(self.weights[i] for i in owners)
                lost, weight = lost + own * level, weight + own
        return lost / weight if weight else 0.0

    def pairs_of_merged(self, alive, owner):
        """Return ΣK and ΣK·d over the merged rows that are left."""
        compared = lost = 0.0
        for block in set(self.merged[self.merged >= 0]):
            rows = [i for i in range(self.n) if alive[i] and self.merged[i] == block and self.weights[i] > 0]
            cells = self.cells(rows)
            if len(cells) < 2:
                continue
            c = np.array(list(cells.values()))
            total, squares = c.sum(), (c**2).sum()
            pairs, by_other = total**2 - squares, total * squares - (c**3).sum()
            share = min(1.0, 2 * squares / pairs)
            alpha, beta = (1 - share) * total / pairs, share * total / (2 * by_other)
            top = max((beta * total - alpha) / (4 * beta), c.min())
            top = alpha * (total - top) + beta * (squares - 2 * top**2 + top * total)
            by_cell = dict.fromkeys(cells, 0.0)
            for i in rows:
                for j in rows:
                    if self.unit[i] == self.unit[j]:
                        continue
                    both = cells[self.unit[i]] + cells[self.unit[j]]
                    K = self.weights[i] * self.weights[j] * (alpha + beta * both) / top
                    by_cell[self.unit[i]] += K
                    if owner[i]:
                        compared, lost = compared + K, lost + K * self.apart[i, j]
            assert all(by_cell[unit] <= cells[unit] * (1 + 1e-9) for unit in cells)  # the theorem needs it
        return compared, lost

    def measure(self, alive, owner, sizes):
        """Return x, what is printed, R_v and the share that counts as compared."""
        total = sum(self.weights[i] for i in range(self.n) if alive[i] and owner[i] and self.owns[i])
        unit = self.constant(alive) if self.divided else 1.0
        free = self.unchecked * (1.0 if self.bound is None else self.bound / unit if unit > 0 else 0.0)
        sums = np.zeros((2, 2))  # counted as checked, or everything that has a pair; K and K·d
        for owners, held in self.parts(alive, owner):
            level, cells = self.level(owners, held)
            if level is None:
                continue
            own = sum(self.weights[i] for i in owners)
            sums += np.outer([own * self.checked(cells, sizes), own], [1.0, level])
        merged = np.array(self.pairs_of_merged(alive, owner))
        (compared, lost), (everything, lost_of_everything) = sums + merged
        if self.divided and not unit > 1e-12:
            return 0.0, 0.0, 1.0, 0.0
        values = [
            1.0 - disagreement / total / unit - free * (1.0 - share / total)
            for share, disagreement in ((compared, lost), (everything, lost_of_everything))
        ]
        return *values, sums[0, 1] / total / unit, compared / total

    def checked(self, cells, sizes):
        """Return the share of a part that counts as checked."""
        if not self.is_mixed:
            return 1.0
        total = sum(cells.values())
        own = sum(cell**2 for cell in cells.values()) / total, total / len(cells)
        unequal = [
            a**2 * math.sqrt(1 - b / a) if a > 0 and 1 - b / a > 1e-9 else 0.0 for a, b in (own, sizes)
        ]
        return 1.0 - min(1.0, max(OWN * unequal[0], ALL * unequal[1]) / total**2)


def measure_all(rows, owner=None):
    """Return what `Rows.measure` returns, and the same without each unit, by whether it owns anything."""
    owner = np.ones(rows.n, dtype=bool) if owner is None else owner
    alive = np.ones(rows.n, dtype=bool)
    sizes = rows.sizes(alive, owner)
    whole = rows.measure(alive, owner, sizes)
    has_weight = rows.weights > 0
    owning = list(dict.fromkeys(rows.left_out[rows.owns & has_weight].tolist()))
    pool = [u for u in dict.fromkeys(rows.left_out[has_weight].tolist()) if u not in owning]
    without = [
        np.array([_without(rows, unit, owner, sizes) for unit in units]).reshape(-1, 4)
        for units in (owning, pool)
    ]
    return whole, *without


def _without(rows, unit, owner, sizes):
    alive = rows.left_out != unit
    if not rows.weights[alive & owner & rows.owns].any():
        return 0.0, 0.0, 0.0, 0.0
    return rows.measure(alive, owner, sizes)


def standard_errors(without, without_pool):
    """Return the standard errors of x and of R_v; a pool is a stratum of its own."""
    errors = []
    for column in (0, 2):
        values, pool = without[:, column], without_pool[:, column]
        C = len(values)
        variance = (C - 1) / C * ((values - values.mean()) ** 2).sum()
        if len(pool):
            variance += ((pool - pool.mean()) ** 2).sum()
        errors.append(math.sqrt(variance))
    return errors
