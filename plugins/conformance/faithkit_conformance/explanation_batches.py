"""Test explanations for relations and discretizers: synthetic ones, and those of the plugin's explainers.

The synthetic ones have seventy rows, so that bits do not fill whole words. The last ten equal the first ten.
"""

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from itertools import pairwise
from typing import Any
from unittest import SkipTest

import attrs
import numpy as np
import pandas as pd
from attrs import frozen
from numpy.typing import NDArray

from faithkit import Explanations, Rule
from faithkit.plugin import Contains, Interval, OneOf, Sample, registry, take_rows
from faithkit_conformance.checks import passes
from faithkit_conformance.components import INPUTS, has_input_kind
from faithkit_conformance.kinds.explainer_checks import (
    check_explanations_can_be_compared,
    check_instances_are_the_explained_rows,
)
from faithkit_conformance.kit import Candidate
from faithkit_conformance.trials import Trial, successful_trials

N = 70

_PREREQUISITES = (
    check_explanations_can_be_compared,
    check_instances_are_the_explained_rows,
)
_ROWS = np.r_[0 : N - 10, 0:10]
_EQUAL_PAIRS = tuple((i, N - 10 + i) for i in range(10))
_WORDS = ("fine", "dull", "plot", "cast", "long", "loud")


@frozen(eq=False)
class Batch:
    """Instances with their explanations, none of them missing; `equal_pairs` are pairs of equal rows."""

    name: str
    X: Any
    explanations: Explanations
    background: Any
    equal_pairs: tuple[tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def sample(self) -> Sample:
        """The sample for a relation. It is new each time, since a sample caches results."""
        return self.sample_of(slice(None))

    def sample_of(self, rows: slice) -> Sample:
        """Return the sample of some rows."""
        return Sample(take_rows(self.X, rows), self.explanations.take(rows))

    def split_in_three(self) -> list[Explanations]:
        """Return the explanations in three consecutive slices."""
        edges = [0, 1, len(self) // 2, len(self)]
        return [self.explanations.take(slice(*pair)) for pair in pairwise(edges)]

    def with_missing(self) -> Explanations:
        """Return the same explanations with some of them missing."""
        is_missing = np.arange(len(self)) % 7 == 2
        return attrs.evolve(
            self.explanations, values=_blank_rows(self.explanations.values, is_missing), missing=is_missing
        )


def batches_for(candidate: Candidate) -> list[Batch]:
    """Return explanations of the kinds that a relation or discretizer declares, or skip the check.

    Examples
    --------
    >>> from faithkit.plugin import Component, Entry
    >>> component = Component(name="mine", factory="m:f", summary="Mine.", kinds=("rule",))
    >>> [batch.name for batch in batches_for(Candidate(Entry("relation", component, "mine", "1.0")))]
    ['rules about a table', 'rules about texts']
    """
    kinds = candidate.component.kinds
    batches = [batch for batch in _synthetic_batches() if _is_declared(batch, candidate)]
    batches += [
        _batch_from_trial(trial)
        for trial in _trials_of_distribution(candidate)
        if _is_suitable(trial.answer, candidate)
    ]
    batches += [
        Batch(name, sample.X, sample.explanations, sample.X)
        for name, sample in candidate.kit.samples.items()
        if sample.explanations.kind in kinds
    ]
    if not batches:
        raise SkipTest(
            f"There are no explanations of kind {' or '.join(kinds)} to try it on: give some, as samples of "
            "a faithkit_conformance.Kit."
        )
    return deepcopy(batches)


def _trials_of_distribution(candidate: Candidate) -> Iterator[Trial]:
    """Yield trials of the explainers of the same distribution: some relations read only their explanations.

    Explainers that break a promise are left out, since a relation is not to blame for them.
    """
    for entry in registry().entries("explainer"):
        explainer = Candidate(entry, candidate.kit)
        if entry.distribution == candidate.entry.distribution and all(
            passes(check, explainer) for check in _PREREQUISITES
        ):
            with suppress(SkipTest):
                yield from successful_trials(explainer)


def _is_declared(batch: Batch, candidate: Candidate) -> bool:
    """Return whether a component declares such explanations, and a relation such rows."""
    kinds, inputs = candidate.component.kinds, candidate.component.inputs
    if kinds and batch.explanations.kind not in kinds:
        return False
    return has_input_kind(batch.X, inputs if candidate.entry.kind == "relation" else INPUTS)


def _is_suitable(answer: Any, candidate: Candidate) -> bool:
    if not isinstance(answer, Explanations) or answer.missing.all():
        return False
    if candidate.entry.kind == "relation":
        return answer.relation == candidate.name
    return answer.kind in candidate.component.kinds


def _batch_from_trial(trial: Trial) -> Batch:
    answer, situation = trial.answer, trial.situation
    explanations = answer if answer.instances is not None else attrs.evolve(answer, instances=situation.X)
    rows = np.flatnonzero(~explanations.missing)
    X = take_rows(situation.X, rows)
    return Batch(f"{trial.label}'s explanations", X, explanations.take(rows), situation.background)


@lru_cache(maxsize=1)
def _synthetic_batches() -> tuple[Batch, ...]:
    numbers, table, texts = _numbers(), _table(), _texts()
    choices = np.random.default_rng(5).integers(0, 6, N)[_ROWS]
    frame = table[["age", "hours"]].fillna(0.0)
    return (
        _build_batch("vectors", numbers, kind="vector", values=(numbers[:, ::-1] * 2).round() / 4),
        _build_batch("wide vectors", numbers, kind="vector", values=(np.tile(numbers, 3) * 2).round() / 4),
        _build_batch("rules about a table", table, kind="rule", values=_column(_table_rules(), choices)),
        _build_batch("rules about texts", texts, kind="rule", values=_column(_text_rules(), choices)),
        _build_batch("examples", numbers, kind="example", values=numbers[choices]),
        _build_batch(
            "examples from a table", frame, kind="example", values=frame.iloc[choices].reset_index(drop=True)
        ),
        _build_batch("words", texts, kind="value", values=_column(list(_WORDS), choices)),
        _build_batch("vectors of images", _images(), kind="vector", values=(_images()[:, 0] * 2).round() / 4),
    )


def _build_batch(name: str, X: Any, kind: str, values: Any) -> Batch:
    return Batch(name, X, Explanations(kind=kind, values=values, instances=X), X, _EQUAL_PAIRS)


def _numbers() -> NDArray[np.float64]:
    return np.random.default_rng(4).normal(size=(N, 3)).round(1)[_ROWS]


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    age, hours = rng.integers(18, 70, N).astype(float), rng.integers(10, 60, N).astype(float)
    age[::9] = np.nan
    jobs = pd.Series(rng.choice(["clerk", "smith", "cook"], N), dtype="str")
    jobs[::11] = None
    return pd.DataFrame({"age": age, "hours": hours, "job": jobs}).iloc[_ROWS].reset_index(drop=True)


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
    return np.asarray(column[rows])


def _blank_rows(values: Any, is_missing: NDArray[np.bool_]) -> Any:
    """Put None or NaN into some rows, like an explainer that finds no explanation."""
    if isinstance(values, pd.DataFrame):
        return values.apply(lambda column: column if column.dtype.kind in "biu" else column.mask(is_missing))
    blanked = values.copy()
    if blanked.dtype.kind in "Of":
        blanked[is_missing] = None if blanked.dtype.kind == "O" else np.nan
    return blanked
