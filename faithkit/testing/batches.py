"""Explanations for relations and discretizers to be tried on: made up, and from the plugin's own explainers.

Those made up have seventy rows, so that bits do not fill whole words, and the last ten equal the first ten.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any
from unittest import SkipTest

import attrs
import numpy as np
import pandas as pd
from attrs import frozen
from numpy.typing import NDArray

from faithkit.arrays.containers import take_rows
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.explanations.predicates import Contains, Interval, OneOf
from faithkit.explanations.rules import Rule
from faithkit.extension.component import INPUTS
from faithkit.extension.entries import Entry
from faithkit.extension.registry import registry
from faithkit.inputs.rows import is_one_of
from faithkit.testing.checks import holds
from faithkit.testing.fixtures import fresh
from faithkit.testing.kinds.explainer_checks import (
    check_explanations_can_be_compared,
    check_instances_are_the_explained_rows,
    check_numbers_are_finite,
)
from faithkit.testing.kit import samples
from faithkit.testing.trials import Trial, trials

N = 70

_SOUND = (
    check_explanations_can_be_compared,
    check_instances_are_the_explained_rows,
    check_numbers_are_finite,
)
_ROWS = np.r_[0 : N - 10, 0:10]
_TWINS = tuple((i, N - 10 + i) for i in range(10))
_WORDS = ("fine", "dull", "plot", "cast", "long", "loud")


@frozen(eq=False)
class Batch:
    """A sample of instances and their explanations, none of them missing; `twins` are pairs of equal rows."""

    name: str
    X: Any
    explanations: Explanations
    background: Any
    twins: tuple[tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def sample(self) -> Sample:
        """What a relation is asked about; a new one each time, since a sample remembers."""
        return self.piece(slice(None))

    def piece(self, rows: slice) -> Sample:
        """Return a part of the sample."""
        return Sample(take_rows(self.X, rows), self.explanations.take(rows))

    def thirds(self) -> list[Explanations]:
        """Return the explanations in three parts."""
        edges = [0, 1, len(self) // 2, len(self)]
        return [self.explanations.take(slice(*pair)) for pair in pairwise(edges)]

    def with_missing(self) -> Explanations:
        """Return the same explanations, of which some are missing."""
        gone = np.arange(len(self)) % 7 == 2
        return attrs.evolve(self.explanations, values=_blanked(self.explanations.values, gone), missing=gone)


def batches_for(entry: Entry) -> list[Batch]:
    """Find explanations of the kinds that a relation or discretizer declares, or skip the check.

    Examples
    --------
    >>> from faithkit.plugin import Component
    >>> component = Component(name="mine", factory="m:f", summary="Mine.", kinds=("rule",))
    >>> [batch.name for batch in batches_for(Entry("relation", component, "mine", "1.0"))]
    ['rules about a table', 'rules about texts']
    """
    kinds = entry.component.kinds
    found = [batch for batch in _made_up() if _declared(batch, entry)]
    found += [_from_trial(trial) for trial in _own_trials(entry.distribution) if _suits(trial.answer, entry)]
    found += [
        Batch(name, sample.X, sample.explanations, sample.X)
        for name, sample in samples().items()
        if sample.explanations.kind in kinds
    ]
    if not found:
        raise SkipTest(
            f"There are no explanations of kind {' or '.join(kinds)} to try it on: give some, as samples of "
            "a faithkit.testing.Kit."
        )
    return fresh(found)


def _own_trials(distribution: str) -> Iterator[Trial]:
    """Yield what the explainers of the same distribution gave: some relations read what only they write.

    Those whose answers break a promise are left out: the blame is theirs.
    """
    for entry in registry().entries("explainer"):
        if entry.distribution == distribution and all(holds(check, entry) for check in _SOUND):
            try:
                yield from trials(entry)
            except SkipTest:
                continue


def _declared(batch: Batch, entry: Entry) -> bool:
    """Whether a component says that it takes such explanations, and a relation that it reads such rows."""
    kinds, inputs = entry.component.kinds, entry.component.inputs
    if kinds and batch.explanations.kind not in kinds:
        return False
    return is_one_of(batch.X, inputs if entry.kind == "relation" else INPUTS)


def _suits(answer: Any, entry: Entry) -> bool:
    if not isinstance(answer, Explanations) or answer.missing.all():
        return False
    if entry.kind == "relation":
        return answer.relation == entry.component.name
    return answer.kind in entry.component.kinds


def _from_trial(trial: Trial) -> Batch:
    answer, situation = trial.answer, trial.situation
    given = answer if answer.instances is not None else attrs.evolve(answer, instances=situation.X)
    rows = np.flatnonzero(~given.missing)
    X = take_rows(situation.X, rows)
    return Batch(f"{trial.who}'s explanations", X, given.take(rows), situation.background)


@lru_cache(maxsize=1)
def _made_up() -> tuple[Batch, ...]:
    numbers, table, texts = _numbers(), _table(), _texts()
    few = np.random.default_rng(5).integers(0, 6, N)[_ROWS]
    frame = table[["age", "hours"]].fillna(0.0)
    return (
        _batch("vectors", numbers, kind="vector", values=(numbers[:, ::-1] * 2).round() / 4),
        _batch("wide vectors", numbers, kind="vector", values=(np.tile(numbers, 3) * 2).round() / 4),
        _batch("rules about a table", table, kind="rule", values=_column(_table_rules(), few)),
        _batch("rules about texts", texts, kind="rule", values=_column(_text_rules(), few)),
        _batch("examples", numbers, kind="example", values=numbers[few]),
        _batch("examples from a table", frame, kind="example", values=_renumbered(frame.iloc[few])),
        _batch("words", texts, kind="value", values=_column(list(_WORDS), few)),
        _batch("vectors of images", _images(), kind="vector", values=(_images()[:, 0] * 2).round() / 4),
    )


def _batch(name: str, X: Any, kind: str, values: Any) -> Batch:
    return Batch(name, X, Explanations(kind=kind, values=values, instances=X), X, _TWINS)


def _numbers() -> NDArray[np.float64]:
    return np.random.default_rng(4).normal(size=(N, 3)).round(1)[_ROWS]


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    age, hours = rng.integers(18, 70, N).astype(float), rng.integers(10, 60, N).astype(float)
    age[::9] = np.nan
    jobs = pd.Series(rng.choice(["clerk", "smith", "cook"], N), dtype="str")
    jobs[::11] = None
    return _renumbered(pd.DataFrame({"age": age, "hours": hours, "job": jobs}).iloc[_ROWS])


def _images() -> NDArray[np.float64]:
    return np.random.default_rng(8).normal(size=(N, 3, 3)).round(1)[_ROWS]


def _texts() -> list[str]:
    rng = np.random.default_rng(7)
    texts = [" ".join(rng.choice(_WORDS, 3)) for _ in range(N)]
    return [texts[i] for i in _ROWS]


def _table_rules() -> list[Rule]:
    return [
        Rule(),
        Rule([Interval("age", high=40)]),
        Rule([Interval("age", low=30, missing=True), OneOf("job", ["clerk", "cook"])]),
        Rule([OneOf("job", ["smith"], missing=True)]),
        Rule([Interval("hours", 20, 40), OneOf("job", ["cook"])]),
        Rule([Interval("hours", high=0)]),
    ]


def _text_rules() -> list[Rule]:
    single = [Rule([Contains(word)]) for word in _WORDS[:4]]
    return [*single, Rule([Contains("fine"), Contains("dull")]), Rule()]


def _column(values: list[Any], rows: NDArray[Any]) -> NDArray[Any]:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column[rows]


def _renumbered(table: pd.DataFrame) -> pd.DataFrame:
    return table.reset_index(drop=True)


def _blanked(values: Any, gone: NDArray[np.bool_]) -> Any:
    """Put into some rows what an explainer leaves there when it finds nothing."""
    if isinstance(values, pd.DataFrame):
        return values.apply(lambda column: column if column.dtype.kind in "biu" else column.mask(gone))
    blanked = values.copy()
    if blanked.dtype.kind in "Of":
        blanked[gone] = None if blanked.dtype.kind == "O" else np.nan
    return blanked
