"""The result: what was measured, how sure it is, and everything a person may ask about it next."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.errors import InputError
from faithkit.jsonable import json_text
from faithkit.measure import asking
from faithkit.measure.arguments import whole_number
from faithkit.measure.bitsets import count_labels, pack_bits, unpack_bits
from faithkit.measure.blocks import spans
from faithkit.measure.comparison import Difference, Side, difference
from faithkit.measure.estimate import Estimate, estimate
from faithkit.measure.explanations import Explanations, Sample
from faithkit.measure.inference import chance, moments
from faithkit.measure.jackknife import pseudo_values
from faithkit.measure.local import Local, local, local_from_counts
from faithkit.measure.owned import Counts, OwnedCells
from faithkit.measure.permutation import permutation_p_value
from faithkit.measure.relations import Relation, SameExplanation, fitted, holds_bits
from faithkit.measure.rows import n_rows, take_rows
from faithkit.measure.tally import Count, Tally, count
from faithkit.measure.witnesses import LocalResult, Violation, Witness
from faithkit.run.components import Given, component
from faithkit.run.pipeline import Labels, System, encode_labels
from faithkit.run.provenance import Provenance, describe_data
from faithkit.run.readable import cells_of, readable
from faithkit.run.subgroups import Subgroups, members

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@attrs.define(eq=False, slots=False)
class Evaluation:
    """The faithfulness of one explanation system on one sample; made by `evaluate` and `score`.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"], ["a", "a", "b", "a"])
    >>> result.consistency.value, result.uniqueness, result.singletons
    (0.25, 0.5, 0.25)
    >>> result.sufficiency is None
    True
    """

    sample: Sample
    labels: Labels
    estimator: Given
    confidence: float
    permutations: int
    seed: int
    applies: Relation | None
    why_no_sufficiency: str | None
    provenance: Provenance
    system: System | None = None
    relation_given: bool = False

    def __attrs_post_init__(self) -> None:
        self.consistency = self._estimate(self._grouped)
        self.sufficiency = None if self._applied is None else self._estimate(self._applied)

    @property
    def n(self) -> int:
        """The number of instances."""
        return len(self.sample)

    @property
    def tally(self) -> Tally:
        """The tally of consistency, for those who want to compute more from it.

        Refused where explanations × labels are too many to be held as a whole.
        """
        return self._grouped.tally

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tally of every measure that was taken; refused where it is too large."""
        counted = {"consistency": self._grouped, "sufficiency": self._applied}
        return {name: found.tally for name, found in counted.items() if found is not None}

    @property
    def owned(self) -> dict[str, OwnedCells]:
        """The tally of every measure that was taken, where it has owners: never too large."""
        counted = {"consistency": self._grouped, "sufficiency": self._applied}
        return {name: found.cells for name, found in counted.items() if found is not None}

    @property
    def n_explanations(self) -> int:
        """The number of distinct explanations; each missing one counts as one."""
        return len(self._grouped.explanations)

    @property
    def unexplained(self) -> int:
        """The number of instances without an explanation."""
        return int(self.sample.explanations.missing.sum())

    @property
    def why_unexplained(self) -> dict[str, int]:
        """How many instances have no explanation, by reason, the most frequent first."""
        return self._remarks(self.sample.explanations.missing)

    @property
    def remarks(self) -> dict[str, int]:
        """What explainers remarked on explanations, such as "below the threshold", and how often."""
        return self._remarks(~self.sample.explanations.missing)

    def _remarks(self, rows: NDArray[np.bool_]) -> dict[str, int]:
        told = [str(remark) for remark in self.sample.explanations.remarked[rows] if remark is not None]
        counted = Counter(remark.partition(": ")[0] for remark in told)
        return dict(sorted(counted.items(), key=lambda item: (-item[1], item[0])))

    @property
    def uniqueness(self) -> float:
        """Distinct explanations per instance, as in the paper's tables."""
        return self.n_explanations / self.n

    @property
    def singletons(self) -> float:
        """The share of instances whose explanation nobody else has."""
        return float((self._grouped.cells.sizes == 1).sum() / self.n)

    @property
    def chance(self) -> float | None:
        """What a constant explainer would get; compare a value of leave-one-out with `verified` × chance."""
        return chance(np.bincount(self.labels.codes))

    @cached_property
    def data(self) -> dict[str, Any]:
        """The size and the fingerprint of what was evaluated: computed when asked for, since it reads all."""
        return describe_data(self.sample.explanations.values if self.sample.X is None else self.sample.X)

    def measure(self, relation: Any) -> Estimate:
        """Estimate the measure of any relation: a name, a composed relation, or a function.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1], [[0.1], [0.2], [0.9]])
        >>> result.measure("near-explanation:tau=0.15").verified
        0.6666666666666666
        """
        background = self.sample.X if self.system is None else self.system.job.background
        return self._estimate(self._count(fitted(component("relation", relation).instance, background)))

    def local(self, row: Any) -> LocalResult:
        """Measure one instance: a row of the sample by its index, or a new row (1 × d).

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0, 1], ["a", "a", "a"]).local(0).consistency.value
        0.5
        """
        if isinstance(row, int | np.integer):
            return self._local_of_sample(int(row))
        return self._local_of_new(row)

    def violations(self, k: int = 5) -> list[Violation]:
        """Return the explanations that hold for instances of different predictions, worst first.

        They are those of sufficiency where it was measured, else of consistency; at most `k`.

        Examples
        --------
        >>> import faithkit
        >>> worst = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).violations()[0]
        >>> worst.explanation, worst.predictions, worst.rows
        ('a', {'no': 1, 'yes': 2}, (0, 2))
        """
        most = whole_number(k, "violations", least=0)
        counted = self._applied or self._grouped
        cells = counted.cells
        # every owner of label y meets N − T[y] instances that contradict it
        clashes = cells.by_explanation(cells.owners * (cells.totals[cells.row] - cells.counts))
        worst = np.argsort(-clashes, kind="stable")[:most]
        worst = worst[clashes[worst] > 0]
        parts = spans(len(worst), max(1, asking.DENSE // counted.n_labels))
        return [found for start, stop in parts for found in self._violations(counted, worst[start:stop])]

    def by(self, groups: Any) -> Subgroups:
        """Re-estimate inside each group: both x and x′ come from it.

        The difference to all other rows is that of leave-one-out, the estimate of the measure itself,
        whatever the estimator.

        Parameters
        ----------
        groups : sequence of n values, or the name of a column of X

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1, 0], ["a", "a", "a", "a"])
        >>> {name: part.consistency.value for name, part in result.by(["f", "f", "m", "m"]).items()}
        {'f': 1.0, 'm': 0.0}
        """
        name, rows = members(groups, self.sample.X, self.labels.codes)
        return self._divided(name, rows, self.n)

    def on(self, X: Any) -> "Evaluation":
        """Evaluate the same system on other rows, such as a newer sample, to see whether it has drifted.

        Examples
        --------
        >>> import faithkit
        >>> X = np.arange(8.0).reshape(-1, 1)
        >>> result = faithkit.evaluate(lambda X: X[:, 0] > 3, X, explainer=lambda X: (X > 3).tolist())
        >>> later = result.on(X + 2)
        >>> result.difference(later, paired=False).value
        0.0
        """
        if self.system is None:
            raise InputError("other rows need the model and the explainer, and a score has neither.")
        explanations = self.system.explain_all(X)
        labels = encode_labels(self.system.predictor.predict(X))
        return attrs.evolve(self, sample=Sample(X, explanations), labels=labels)

    def difference(
        self, other: "Evaluation", measure: str = "consistency", paired: bool = True
    ) -> Difference:
        """Return this measure minus the other's, with interval and p-value.

        It is the difference of leave-one-out, the estimate of the measure itself, whatever the estimator.

        Parameters
        ----------
        other : Evaluation
        measure : str
            "consistency" or "sufficiency".
        paired : bool
            Whether both evaluated the same rows; say False for two disjoint samples.

        Examples
        --------
        >>> import faithkit
        >>> labels = ["yes", "no"] * 50
        >>> good, poor = faithkit.score(labels, labels), faithkit.score(labels, ["same"] * 100)
        >>> good.difference(poor).low > 0
        True
        """
        return difference(self._side(measure), other._side(measure), self.confidence, paired)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON values; the same question gives the same bytes."""
        return {
            "n": self.n,
            "n_explanations": self.n_explanations,
            "unexplained": self.unexplained,
            "why_unexplained": self.why_unexplained,
            "remarks": self.remarks,
            "uniqueness": self.uniqueness,
            "singletons": self.singletons,
            "chance": self.chance,
            "measures": {
                "consistency": self.consistency.to_dict(),
                "sufficiency": None if self.sufficiency is None else self.sufficiency.to_dict(),
            },
            "why_no_sufficiency": self.why_no_sufficiency,
            "relation": None if self.applies is None else str(self.applies),
            "estimator": self.estimator.text,
            "permutations": self.permutations,
            "seed": self.seed,
            **self.provenance.to_dict(),
            "data": self.data,
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the result as JSON text, and write it to `path` where one is given.

        The file is written beside its place and renamed, so that it is never half there.
        """
        text = json_text(self.to_dict())
        if path is not None:
            from faithkit.files import write_whole

            write_whole(path, text)
        return text

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0], ["a", "a"]).to_frame()["value"].tolist()
        [1.0]
        """
        measures = {"consistency": self.consistency, "sufficiency": self.sufficiency}
        rows = {name: found.to_row() for name, found in measures.items() if found is not None}
        return pd.DataFrame.from_dict(rows, orient="index")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw each measure with its interval and bracket, and return the Matplotlib axes.

        Without `ax` they are those of a new figure, which a notebook shows as `result.plot().figure`.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"])
        >>> result.plot().figure.savefig("measures.png")  # doctest: +SKIP
        """
        from faithkit.report import plots

        estimates = {"consistency": self.consistency, "sufficiency": self.sufficiency}
        axes = plots.line_axes(len(estimates)) if ax is None else ax
        return plots.measures(axes, estimates)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).to_html().splitlines()[0]
        '<!DOCTYPE html>'
        """
        from faithkit.run.findings import Findings

        return Findings(self).to_html(path)

    def _repr_html_(self) -> str:
        from faithkit.report.html import fragment

        return fragment(self)

    def __repr__(self) -> str:
        from faithkit.report.text import summary

        return summary(self)

    @cached_property
    def _grouped(self) -> Count:
        return self._count(SameExplanation())

    @cached_property
    def _applied(self) -> Count | None:
        if self.applies is None:
            return None
        try:
            return self._count(self.applies)
        except InputError as error:  # such as a log without instances: consistency can still be told
            if self.relation_given:
                raise
            self.why_no_sufficiency, self.applies = str(error).rstrip("."), None
            return None

    def _count(self, relation: Relation) -> Count:
        return count(relation, self.sample, self.labels.codes, len(self.labels.classes))

    def _estimate(self, counted: Count) -> Estimate:
        times, pseudo = self.permutations, pseudo_values(counted)
        p_value = permutation_p_value(counted, times, self.seed) if times else None
        facts = moments(counted.cells, pseudo)
        return estimate(counted, facts, self.estimator.instance, self.confidence, p_value)

    def _local_of_sample(self, row: int) -> LocalResult:
        consistency = local(self._grouped, row, self.confidence)
        sufficiency = None if self._applied is None else local(self._applied, row, self.confidence)
        seen = self._witness(row % self.n)
        same = np.flatnonzero(self._grouped.owned == self._grouped.owned[row])
        return LocalResult(
            prediction=seen.prediction,
            explanation=self._readable(self.sample.explanations, row % self.n),
            consistency=consistency,
            sufficiency=sufficiency,
            shared_by=tuple(same[same != seen.row].tolist()),
            cells=seen.cells,
        )

    def _local_of_new(self, row: Any) -> LocalResult:
        if self.system is None:
            raise InputError(
                "a new row needs the model and the explainer, and a score has neither: give an index."
            )
        if not isinstance(row, list) and getattr(row, "ndim", 0) != 2:
            raise InputError(
                f"the new row is a {type(row).__name__}; expected a sample of one row: give X.iloc[[0]] of a "
                "frame, X[[0]] of an array, a list of one text, or a row's number in the sample."
            )
        if n_rows(row) != 1:
            raise InputError(f"give one row at a time, got {n_rows(row)}.")
        explanations = self.system.explain(row)
        label = self.system.predictor.predict(row).tolist()[0]
        consistency = self._count_new(SameExplanation(), explanations, label)
        sufficiency = None if self.applies is None else self._count_new(self.applies, explanations, label)
        held = unpack_bits(holds_bits(SameExplanation(), self.sample, explanations), self.n)[0]
        return LocalResult(
            prediction=label,
            explanation=self._readable(explanations, 0),
            consistency=consistency,
            sufficiency=sufficiency,
            shared_by=tuple(np.flatnonzero(held).tolist()),
            cells=cells_of(row, 0),
        )

    def _count_new(self, relation: Relation, explanations: Explanations, label: Any) -> Local:
        bits = holds_bits(relation, self.sample, explanations)
        mine = np.array([known == label for known in self.labels.classes])[self.labels.codes]
        N, A = count_labels(bits, pack_bits(np.stack([np.ones(self.n, dtype=bool), mine])))[0].tolist()
        return local_from_counts(N, A, 0, self.confidence)

    def _violations(self, counted: Count, worst: Counts) -> Iterator[Violation]:
        for u, held in zip(worst.tolist(), counted.label_counts(worst), strict=True):
            seen = self._witnesses(counted, u, held)
            predictions = {self.labels.classes[y]: int(held[y]) for y in np.flatnonzero(held)}
            yield Violation.of(self._readable(counted.explanations, u), predictions, seen)

    def _witnesses(self, counted: Count, u: int, held: Counts) -> tuple[Witness, Witness]:
        """Return the first owner of an explanation that is contradicted, and who contradicts it."""
        bits = holds_bits(counted.relation, self.sample, counted.explanations.take([u]))
        labels = self.labels.codes
        rows = np.flatnonzero(unpack_bits(bits, self.n)[0])
        owners = np.flatnonzero(counted.owned == u)
        owner = owners[(held.sum() > held[labels[owners]]).argmax()]
        other = rows[(labels[rows] != labels[owner]).argmax()]
        return self._witness(int(owner)), self._witness(int(other))

    def _readable(self, explanations: Explanations, row: int) -> str:
        return readable(explanations, row, self.provenance.discretizer.instance)

    def _witness(self, row: int) -> Witness:
        label = self.labels.classes[self.labels.codes[row]]
        return Witness(row, label, cells_of(self.sample.X, row))

    def _side(self, measure: str) -> Side:
        counted = {"consistency": self._grouped, "sufficiency": self._applied}.get(measure)
        if counted is None:
            reason = self.why_no_sufficiency if measure == "sufficiency" else "there is no such measure"
            raise InputError(f"{measure} cannot be compared: {reason}.")
        if measure not in self._sides:
            self._sides[measure] = Side.of(counted)
        return self._sides[measure]

    @cached_property
    def _sides(self) -> dict[str, Side]:
        return {}

    def _divided(self, name: str, rows: dict[Any, Any], n: int) -> Subgroups:
        """Evaluate each group, and the rest beside it; `rows` are some of n."""
        everybody = np.arange(n)
        parts = {group: self._part(mine) for group, mine in rows.items()}
        rests = {
            group: self._part(np.setdiff1d(everybody, mine)) for group, mine in rows.items() if len(mine) < n
        }
        return Subgroups(name, parts, rests)

    def _part(self, rows: Any) -> "Evaluation":
        sample = Sample(take_rows(self.sample.X, rows), self.sample.explanations.take(rows))
        labels = encode_labels([self.labels.classes[code] for code in self.labels.codes[rows]])
        return attrs.evolve(self, sample=sample, labels=labels)


def with_ends(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table of estimates with the ends of their brackets in two columns, as files have them."""
    bracket = pd.DataFrame(frame["bracket"].tolist(), columns=["bracket_low", "bracket_high"])
    return pd.concat([frame.drop(columns="bracket"), bracket], axis="columns")
