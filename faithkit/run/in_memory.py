"""A population whose rows are all in memory."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.inputs.labels import Labels, encode_labels
from faithkit.inputs.rows import check_columns, check_row, check_X
from faithkit.measure.bitsets import unpack_bits
from faithkit.measure.containers import take_rows
from faithkit.measure.difference import Side
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.inference import Moments, moments
from faithkit.measure.instance import local, local_from_counts
from faithkit.measure.jackknife import pseudo_values
from faithkit.measure.permutation import permutation_p_value
from faithkit.measure.relations import Relation, SameExplanation, holds_bits
from faithkit.measure.slots import Counts
from faithkit.measure.tally import Count, RowCount, count
from faithkit.measure.witnesses import LocalResult, Witness
from faithkit.run.components import Given
from faithkit.run.discretizing import discretize, teach
from faithkit.run.pairing import RowNames
from faithkit.run.population import Parts, Population, divided
from faithkit.run.provenance import describe_data
from faithkit.run.readable import cells_of, readable
from faithkit.run.setup import Setup
from faithkit.run.system import System


@attrs.frozen(eq=False)
class InMemory(Population):
    """Rows with their labels and explanations; `own` is the identity before any discretizer set one.

    Examples
    --------
    >>> rows = InMemory.of(None, encode_labels(["yes", "no"]), Explanations.of(["a", "a"]))
    >>> rows.kind, rows.labels
    ('value', ['no', 'yes'])
    """

    sample: Sample
    coded: Labels
    own: Any = None
    _sides: dict[int, Side] = attrs.field(factory=dict, init=False)
    row_names: RowNames = attrs.field(init=False)

    where = "of this sample"

    @classmethod
    def of(cls, X: Any, labels: Labels, explanations: Explanations) -> "InMemory":
        """Put rows, their labels and their explanations together."""
        return cls(Sample(X, explanations), labels, explanations.identity)

    @classmethod
    def explained(cls, system: System, X: Any) -> "InMemory":
        """Let a system predict and explain rows."""
        check_X(X)
        check_columns(X, system.job.background)
        return cls.of(X, encode_labels(system.job.predictor.predict(X)), system.explain(X))

    @row_names.default
    def _row_names(self) -> RowNames:
        X = self.sample.explanations.instances if self.sample.X is None else self.sample.X
        return RowNames(X, self.coded)

    @property
    def kind(self) -> str:
        """The kind of the explanations."""
        return self.sample.explanations.kind

    @property
    def labels(self) -> list[Any]:
        """The predictions that occur."""
        return self.coded.classes

    @property
    def undiscretized(self) -> Explanations:
        """The explanations as they were given."""
        return attrs.evolve(self.sample.explanations, identity=self.own)

    def remarks(self) -> tuple[int, dict[str, int], dict[str, int]]:
        """Count what explainers remarked, on rows that have no explanation and on those that have one."""
        missing = self.sample.explanations.missing
        if self.sample.explanations.remarks is None and not missing.any():
            return 0, {}, {}
        return int(missing.sum()), self._remarked(missing), self._remarked(~missing)

    def _remarked(self, rows: NDArray[np.bool_]) -> dict[str, int]:
        told = [str(remark) for remark in self.sample.explanations.remarked[rows] if remark is not None]
        counted = Counter(remark.partition(": ")[0] for remark in told)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    def data(self) -> dict[str, Any]:
        """Describe the instances, or the explanations where there are none."""
        return describe_data(self.sample.explanations.values if self.sample.X is None else self.sample.X)

    def teach(self, discretizer: Given, system: System | None = None) -> None:
        """Fit a discretizer to the explanations, or to those of the system's background."""
        if system is not None:
            system.teach(discretizer, self.sample.X, self.undiscretized)
        else:
            teach(discretizer, self.undiscretized)

    def under(self, discretizer: Given) -> "InMemory":
        """Set the explanations' identity."""
        sample = Sample(self.sample.X, discretize(discretizer, self.undiscretized))
        return InMemory(sample, self.coded, self.own)

    def count(self, relation: Relation) -> RowCount:
        """Tally a relation over the sample."""
        return count(relation, self.sample, self.coded.codes, len(self.labels))

    def moments(self, counted: Count) -> Moments:
        """Jackknife what was counted."""
        return moments(counted.slots, pseudo_values(_of_rows(counted)))

    def p_value(self, counted: Count, permutations: int, seed: int) -> float:
        """Permute the labels."""
        return permutation_p_value(_of_rows(counted), permutations, seed)

    def side(self, counted: Count | None) -> Side:
        """Compute the pseudo-values of every row, once: a measure is compared with several others."""
        if id(counted) not in self._sides:
            self._sides[id(counted)] = Side.of(_of_rows(counted))
        return self._sides[id(counted)]

    def parts(self, groups: Any) -> Parts:
        """Divide the rows by one value each, or by a column of X."""
        return divided(groups, self.sample.X, self.coded.codes, self.part)

    def part(self, some: Counts) -> "InMemory":
        """Return some of the rows, as if there were no others."""
        sample = Sample(take_rows(self.sample.X, some), self.sample.explanations.take(some))
        labels = encode_labels([self.labels[code] for code in self.coded.codes[some]])
        return InMemory(sample, labels, take_rows(self.own, some))

    def witnesses(self, counted: Count, explanation: int, held: Counts) -> tuple[Witness, Witness]:
        """Find the rows in the relation's matrix."""
        counted = _of_rows(counted)
        rows = self.held_by(counted.relation, counted.explanations.take([explanation]))
        labels = self.coded.codes
        owners = np.flatnonzero(counted.owned == explanation)
        owner = owners[(held.sum() > held[labels[owners]]).argmax()]
        other = rows[(labels[rows] != labels[owner]).argmax()]
        return self.witness(int(owner)), self.witness(int(other))

    def held_by(self, relation: Relation, explanation: Explanations) -> NDArray[np.intp]:
        """Return the rows for which one explanation holds."""
        bits = holds_bits(relation, self.sample, explanation)
        return np.flatnonzero(unpack_bits(bits, len(self.sample))[0])

    def witness(self, row: int) -> Witness:
        """Show a row."""
        return Witness(row, self.labels[self.coded.codes[row]], cells_of(self.sample.X, row))

    def local(self, row: Any, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        """Measure a row of the sample by its number, or a new one."""
        if isinstance(row, int | np.integer):
            return self._local_of_sample(int(row), counts, setup)
        return self._local_of_new(row, counts, setup)

    def _local_of_sample(self, row: int, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        n = len(self.sample)
        found = {name: local(_of_rows(counted), row, setup.confidence) for name, counted in counts.items()}
        seen, owned = self.witness(row % n), _of_rows(counts["consistency"]).owned
        same = np.flatnonzero(owned == owned[row])
        return LocalResult(
            prediction=seen.prediction,
            explanation=readable(self.sample.explanations, row % n, setup.discretizer.instance),
            consistency=found["consistency"],
            sufficiency=found.get("sufficiency"),
            shared_by=tuple(same[same != row % n].tolist()),
            cells=seen.cells,
        )

    def _local_of_new(self, row: Any, counts: Mapping[str, Count], setup: Setup) -> LocalResult:
        if setup.system is None:
            raise InputError(
                "a new row needs the model and the explainer, and a score has neither: give an index."
            )
        check_row(row)
        explanations = discretize(setup.discretizer, setup.system.explain_one(row))
        label = setup.system.job.predictor.predict(row).tolist()[0]
        mine = np.array([known == label for known in self.labels])[self.coded.codes]
        found = {}
        for name, counted in counts.items():
            held = self.held_by(counted.relation, explanations)
            found[name] = local_from_counts(len(held), int(mine[held].sum()), 0, setup.confidence)
        return LocalResult(
            prediction=label,
            explanation=readable(explanations, 0, setup.discretizer.instance),
            consistency=found["consistency"],
            sufficiency=found.get("sufficiency"),
            shared_by=tuple(self.held_by(SameExplanation(), explanations).tolist()),
            cells=cells_of(row, 0),
        )


def _of_rows(counted: Count | None) -> RowCount:
    assert isinstance(counted, RowCount)
    return counted
