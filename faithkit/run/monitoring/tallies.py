"""What is counted of a batch: how many rows have which explanation and which prediction.

Tallies of two files add up, whatever the order of rows and files and however numbers are written there.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.inputs.logs.opening import Log, ParquetLog
from faithkit.inputs.objects.forms import as_explanations
from faithkit.inputs.predictions.labels import encode, listed
from faithkit.inputs.predictions.outcome import LABELS, OF_LABELS, Outcome, gone_through
from faithkit.inputs.seeds import row_words
from faithkit.measure.blocks import spans
from faithkit.measure.census import Census
from faithkit.measure.relations import SameExplanation
from faithkit.run.components import Given
from faithkit.run.discretizing import discretize
from faithkit.run.monitoring.digests import digests, form
from faithkit.run.on_disk import OnDisk
from faithkit.run.passes import Reading
from faithkit.wording import few

Cell = tuple[bytes, str]
"""An explanation's digest, none where there is no explanation, and a prediction: its name, or its JSON."""

UNEXPLAINED = b""
_AT_ONCE = 2**20  # rows


@attrs.frozen(eq=False)
class Tallies:
    """How many rows each cell has, and what their explanations look like; None where there are none.

    Examples
    --------
    >>> from faithkit.run.components import component
    >>> way = component("discretizer", "original")
    >>> one = Tallies.of_arrays(["yes", "no", "yes"], ["a", "a", "b"], way)
    >>> two = Tallies.of_arrays(["yes", "yes", "no"], ["b", "a", "a"], way)
    >>> one.n, one.fingerprint() == two.fingerprint(), one.cells == two.cells
    (3, True, True)
    """

    cells: Counter[Cell]
    form: dict[str, Any] | None
    outcome: Outcome = OF_LABELS

    @classmethod
    def of_arrays(
        cls, predictions: Any, explanations: Any, discretizer: Given, outcome: Outcome | None = None
    ) -> "Tallies":
        """Count rows in memory; None: what predictions are is for them to say."""
        predictions = gone_through(predictions)
        outcome = _decided(outcome, lambda: Outcome.of(None, None, predictions))
        labels, given = encode(predictions, outcome), as_explanations(explanations)
        if len(given) != len(labels.codes):
            raise InputError(
                f"{len(given)} explanations for {len(labels.codes)} predictions: give one of each per row."
            )
        found = discretize(discretizer, attrs.evolve(given, instances=None))
        return cls._of(Census.of(SameExplanation(), found, labels.codes, labels.classes), outcome)

    @classmethod
    def of_log(cls, log: Log | ParquetLog, discretizer: Given, outcome: Outcome | None = None) -> "Tallies":
        """Count a log, in pieces where it is one in Parquet."""
        if isinstance(log, Log):
            return cls.of_arrays(log.predictions, log.explanations, discretizer, outcome)
        outcome = _decided(outcome, log.outcome)
        return cls._of(OnDisk(Reading(log, discretizer, outcome)).gathered, outcome)

    @classmethod
    def _of(cls, census: Census, outcome: Outcome) -> "Tallies":
        known, gone = census.explanations, census.explanations.missing
        names = np.full(len(known), UNEXPLAINED, dtype=object)
        names[~gone] = digests(known.take(~gone).identities) if not gone.all() else []
        written = label_name if outcome.kind == LABELS else json.dumps
        labels = [written(label) for label in listed(census.labels)]
        cells: Counter[Cell] = Counter()
        for owner, label, count in zip(census.owner, census.label, census.count.tolist(), strict=True):
            cells[names[owner], labels[label]] += count
        return cls(cells, None if gone.all() else form(known), outcome)

    @classmethod
    def united(cls, parts: Iterable["Tallies"]) -> "Tallies":
        """Add up the tallies of several files."""
        whole: Tallies | None = None
        for part in parts:
            whole = part if whole is None else whole._and(part)
        return cls(Counter(), None) if whole is None else whole

    def _and(self, other: "Tallies") -> "Tallies":
        check_form("a file", other.form, self.form)
        if other.outcome != self.outcome:
            raise InputError(
                f"the predictions of a file are {other.outcome}, and those before it {self.outcome}: say "
                "which with --outcome."
            )
        return Tallies(self.cells + other.cells, self.form or other.form, self.outcome)

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.cells.total()

    def fingerprint(self, partition: str = "") -> str:
        """Return 32 hex digits that name the rows: their cells, and the partition that they belong to."""
        digest = hashlib.blake2b(_written(partition), digest_size=16)
        for cell in sorted(self.cells):
            digest.update(b"%b%d;" % (_content(cell), self.cells[cell]))
        return digest.hexdigest()

    def rows(self, seed: int) -> tuple[list[Cell], NDArray[np.int64], NDArray[np.uint64]]:
        """Return the cells, the place of every row's cell among them, and a random word for every row.

        The words are made of the seed, of what is in the cell and of the row's number among the equals in it:
        so rows have the same words in whatever order they come, and those of equal rows are unrelated.
        """
        cells = sorted(self.cells)
        counts = np.array([self.cells[cell] for cell in cells], dtype=np.int64)
        place = np.repeat(np.arange(len(cells)), counts)
        first = np.cumsum(counts) - counts
        names = b"".join(hashlib.blake2b(_content(cell), digest_size=16).digest() for cell in cells)
        named = np.frombuffer(names, dtype="<u8").reshape(-1, 2).astype(np.uint64)
        words = np.empty(len(place), dtype=np.uint64)
        for start, stop in spans(len(place), _AT_ONCE):
            mine = place[start:stop]
            number = np.arange(start, stop) - first[mine]
            words[start:stop] = row_words(np.column_stack([named[mine], number.astype(np.uint64)]), seed)
        return cells, place, words


def _decided(settled: Outcome | None, found: Callable[[], Outcome]) -> Outcome:
    """Return what predictions are: what is settled, unless these show that it was no more than a guess."""
    if settled is None:
        return found()
    if settled.is_a_guess and found().kind != LABELS:
        raise InputError(
            f"predictions are {found().kind} here, and those of the reference are labels: is it the right "
            "column? If they are labels, make a new state with --outcome labels."
        )
    return settled


def _content(cell: Cell) -> bytes:
    """Write a cell down such that nobody can take two for one."""
    return b"%d:%b%b" % (len(cell[0]), cell[0], _written(cell[1]))


def _written(text: str) -> bytes:
    content = text.encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(content), content)


def label_name(label: Any) -> str:
    """Return what a prediction is called, in whatever type a file has it: 1.0 and 1 are one label.

    Examples
    --------
    >>> label_name("yes"), label_name(1.0), label_name(0.5), label_name(True)
    ('yes', '1', '0.5', 'True')
    """
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def check_form(who: str, found: dict[str, Any] | None, expected: dict[str, Any] | None) -> None:
    """Refuse explanations that could not equal those they are compared with, whatever they say."""
    if found is None or expected is None:
        return
    for name, what in (("kind", "of kind"), ("columns", "in the columns"), ("identity", "made of")):
        mine, theirs = found[name], expected[name]
        if mine != theirs and (name != "columns" or None not in (mine, theirs)):  # arrays have no names
            raise InputError(
                f"the explanations of {who} are {what} {_told(mine)}, and those before it {what} "
                f"{_told(theirs)}: write both in the same way."
            )


def _told(given: Any) -> str:
    return few(given) if isinstance(given, list) else str(given)
