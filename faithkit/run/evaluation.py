"""The result of an evaluation: what was measured, and everything a person may ask about it next."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from faithkit.arguments import whole_number
from faithkit.arrays.containers import n_rows
from faithkit.errors import InputError
from faithkit.explanations.explanations import Sample
from faithkit.files import written
from faithkit.inputs.models.model_columns import unused
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.alignment import check_order
from faithkit.inputs.objects.conversion import as_column, as_rows
from faithkit.inputs.predictions.labels import Labels
from faithkit.measure.counting.owners import Owners
from faithkit.measure.counting.tally import Count, Tally
from faithkit.measure.difference import Difference, difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.jackknife.summary import JackknifeEstimate
from faithkit.measure.mean import Mean
from faithkit.measure.witnesses import LocalResult, Violations
from faithkit.run.comparisons.row_pairing import check_paired
from faithkit.run.comparisons.subgroups import Subgroups
from faithkit.run.components.resolution import component
from faithkit.run.components.setup import Setup
from faithkit.run.diagnostics import ExplainedRows, diagnose
from faithkit.run.gates import GateResult, given_limits, judged, judged_by_chance
from faithkit.run.instances.violations import violations
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population
from faithkit.run.populations.row_metadata import RowIds
from faithkit.run.populations.sample_design import design_of
from faithkit.run.result import Result


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Evaluation(Result):
    """The faithfulness of one explanation system on one sample; made by `evaluate`, `score` and `load`.

    Attributes
    ----------
    n, n_explanations, unexplained : int
        The number of instances, of distinct explanations (each missing one counts as one), and of instances
        without an explanation.
    why_unexplained, remarks : dict of str to int
        How many instances have no explanation, by reason, and what explainers remarked on explanations, such
        as "below the threshold"; the most frequent first.
    singletons : float
        The share of instances whose explanation nobody else has.
    chance : float or None
        What a constant explainer would get; compare a value of leave-one-out with `verified` × chance.
    uniqueness : float
        Distinct explanations per instance, as in the paper's tables; by weight, the mean of one over the
        number of instances that share an explanation.
    effective : float or None
        How many independent instances of one weight the sample is worth, where it has weights or clusters.
    uninformative : bool or None
        Whether people declared that neither weights nor sizes of clusters go with predictions.
    clusters, pool : int or None
        The number of clusters, and of instances without explanations that were checked against, too.
    tails : float or None
        Where predictions are numbers, the share of what explanations leave of their variance that is due to 1
        % of the instances: above 0.155 it is said that the interval may be too short.
    notes : tuple of str
        What to mind in the input: columns that the model does not use, explanations that name the prediction.
    why_no_sufficiency : str or None

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"], ["a", "a", "b", "a"])
    >>> result.consistency.value, result.uniqueness, result.singletons
    (0.25, 0.5, 0.25)
    >>> result.sufficiency is None
    True
    """

    counts: Mapping[str, Count] = attrs.field(factory=dict)  # none where it was loaded from a file
    _again: "Callable[[Population, Setup], Evaluation] | None" = None

    @property
    def sample(self) -> Sample:
        """The rows and their explanations, with the identities that a discretizer gave them."""
        return self.population.sample

    @property
    def labels(self) -> Labels:
        """The predictions of the rows, as codes and what they stand for."""
        return self.population.coded

    @property
    def tally(self) -> Tally:
        """The tally of consistency, for those who want to compute more from it.

        Refused where explanations × labels are too many to be held as a whole.
        """
        return self._counted("consistency").tally

    @property
    def tallies(self) -> dict[str, Tally]:
        """The tally of every measure that was taken; refused where it is too large."""
        return {name: self._counted(name).tally for name in self.measures}

    @property
    def owners(self) -> dict[str, Owners]:
        """The tally of every measure that was taken, where it has owners: never too large."""
        return {name: counted.settled.owners for name, counted in self.counts.items()}

    def measure(self, relation: Any) -> Estimate:
        """Estimate the measure of any relation: a name, a composed relation, or a function.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1], [[0.1], [0.2], [0.9]])
        >>> result.measure("near-explanation:tau=0.15").verified
        0.6666666666666666
        """
        given = component("relation", relation).instance
        asked = self.population.fitted(given, self.setup.background)
        return self.population.estimate(self.population.count(asked), self.setup)

    def local(self, row: Any) -> LocalResult:
        """Measure one instance: a row of the sample by its index, or by the text of its id, or a new row.

        A new row is a sample of one row (1 × d), of the kind that was evaluated.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0, 1], ["a", "a", "a"]).local(0).consistency.value
        0.5
        """
        return self.population.local(row, self.counts, self.setup)

    def violations(self, k: int = 5) -> Violations:
        """Return the explanations that hold for instances of different predictions, worst first.

        They are those of sufficiency where it was measured, else of consistency; at most `k`. Of numbers and
        scores, the two rows that come with each are those that agree least.

        Examples
        --------
        >>> import faithkit
        >>> worst = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).violations()[0]
        >>> worst.explanation, worst.predictions, worst.rows
        ('a', {'no': 1, 'yes': 2}, (0, 2))
        """
        most = whole_number(k, "violations", least=0)
        counted = self._counted("sufficiency" if "sufficiency" in self.measures else "consistency")
        return violations(self.population, self.setup, counted, most)

    def diagnose(self, diagnostic: Any) -> Any:
        """Ask a further question about the result.

        A result that was loaded from a file has the diagnoses that were saved there, and can ask for no
        others.

        Parameters
        ----------
        diagnostic : str, object or callable
            A name or "name:param=value,…" of an installed diagnostic, an object with the method `diagnose`,
            or a function ``result -> report``.

        Returns
        -------
        Report
            What the diagnostic returns: it has `to_dict`, and can be printed.

        Examples
        --------
        >>> import faithkit, numpy as np
        >>> x = np.random.default_rng(0).normal(size=(300, 2))
        >>> reader = faithkit.score(x[:, 0] > 0, x).diagnose("reader")
        >>> reader.accuracy.value > 0.9, reader.baseline.value < 0.6
        (True, True)
        """
        saved = (diagnosis for diagnosis in self._saved_diagnoses if diagnosis.name == diagnostic)
        return next(saved, None) or diagnose(component("diagnostic", diagnostic), self)

    @property
    def explained_rows(self) -> ExplainedRows:
        """The rows with their explanations and predictions, for diagnostics."""
        return self.population.explained_rows(self.setup.outcome)

    @property
    def predictor(self) -> Predictor:
        """The model that was explained; refused where there is none, as in a log."""
        return self._job.predictor

    @property
    def background(self) -> Any:
        """The rows that the explainer learnt from; refused where there are none, as in a log."""
        return self._job.background

    @property
    def _job(self) -> Any:
        if self.setup.system is None:
            raise InputError(
                "the model is needed, which neither a log nor a result from a file has: evaluate the rows."
            )
        return self.setup.system.job

    def mean(self, scores: Any, least: float = 0.0) -> Mean:
        """Return the mean of one score for each row of the sample, by their weights and clusters.

        Parameters
        ----------
        scores : sequence of n numbers
            From `least` to 1; rows whose score is NaN are left out.
        least : float

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1], ["a", "a", "a"], weights=[1, 1, 2])
        >>> result.mean([1.0, 1.0, 0.0]).value
        0.5
        """
        check_order({"the sample": self.population.index, "the scores": scores})
        if len(scores) != self.n:
            raise InputError(f"{len(scores)} scores for {self.n} rows: give one for each.")
        return Mean.of(scores, self.confidence, self.population.row_names.design, least)

    def by(self, groups: Any) -> Subgroups["Evaluation"]:
        """Re-estimate inside each group: both x and x′ come from it.

        The difference to all other rows is that of leave-one-out, the estimate of the measure itself,
        whatever the estimator. Its p-value is corrected for the number of groups by Holm's method.

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
        check_order({"the sample": self.population.index, "the groups": groups})
        name, *both = self.population.parts(as_column(groups))
        parts, rests = ({group: self._measured(part) for group, part in some.items()} for some in both)
        return Subgroups(name, parts, rests)

    def on(self, X: Any, weights: Any = None, clusters: Any = None, ids: Any = None) -> "Evaluation":
        """Evaluate the same system on other rows, such as a newer sample, to see whether it has drifted.

        All is given as to `evaluate`. Where these rows have weights or clusters, so must those.

        Examples
        --------
        >>> import faithkit, numpy as np
        >>> X = np.arange(8.0).reshape(-1, 1)
        >>> result = faithkit.evaluate(lambda X: X[:, 0] > 3, X, explainer=lambda X: (X > 3).tolist())
        >>> later = result.on(X + 2)
        >>> result.difference(later, paired=False).value
        0.0
        """
        if self.setup.system is None:
            raise InputError(
                "other rows need the model and the explainer, which neither a log nor a result from a file "
                "has: evaluate them."
            )
        if self.effective is not None and weights is None and clusters is None:
            raise InputError(
                "the rows of this result have weights or clusters: give those of the others, too."
            )
        check_order({"X": X, "weights": weights, "clusters": clusters, "ids": ids})
        X, weights, clusters, ids = as_rows(X), as_column(weights), as_column(clusters), as_column(ids)
        design = design_of(weights, clusters, X, n_rows(X), uninformative=bool(self.uninformative))
        names = None if ids is None else RowIds.of(ids, X, n_rows(X))
        later = InMemory.explained(self.setup.system, X, design, self.setup.outcome, names)
        setup = attrs.evolve(self.setup, notes=unused(later.beside.table, later.sample.X))
        return self._measured(later.under(self.setup.discretizer), setup)

    def _measured(self, population: Population, setup: Setup | None = None) -> "Evaluation":
        assert self._again is not None  # populations that can be had were measured by the pipeline
        return self._again(population, self.setup if setup is None else setup)

    def difference(
        self, other: "Evaluation", measure: str = "consistency", paired: bool = True
    ) -> Difference:
        """Return this measure minus the other's, with interval and p-value.

        It is the difference of leave-one-out, the estimate of the measure itself, whatever the estimator.

        Parameters
        ----------
        other : Evaluation
            It may be one that was loaded from a file, if the rows are not paired.
        measure : str
            "consistency" or "sufficiency".
        paired : bool
            Whether both evaluated the same rows; say False for two disjoint samples. Rows are paired by
            their place. That they are the same is checked: by their cells where both have instances, else by
            their predictions. Pandas' index is not looked at, here as everywhere. Weights and clusters must
            be the same, too.

        Examples
        --------
        >>> import faithkit
        >>> labels = ["yes", "no"] * 50
        >>> good, poor = faithkit.score(labels, labels), faithkit.score(labels, ["same"] * 100)
        >>> good.difference(poor).low > 0
        True
        >>> later = faithkit.score(["yes", "yes"] * 50, ["same"] * 100)
        >>> good.difference(later)
        Traceback (most recent call last):
        ...
        faithkit.errors.InputError: the two samples are no pair by their predictions, ...
        >>> good.difference(later, paired=False).value
        0.0
        """
        mine, theirs = self.setup.outcome, other.setup.outcome
        if mine != theirs:
            raise InputError(
                f"predictions are {mine} here and {theirs} there, which are two measures: measure both alike."
            )
        sides = self._side(measure, paired), other._side(measure, paired)
        if paired:
            check_paired(self.population.row_names, other.population.row_names)
        return difference(*sides, self.confidence, paired)

    def judge(
        self,
        consistency: float | None = None,
        sufficiency: float | None = None,
        above_chance: bool = False,
    ) -> list[GateResult]:
        """Compare the lower ends of the measures' intervals with limits, and with chance.

        A measure cannot be checked, which is neither kept nor missed, where it was not taken, nothing could
        be checked, or all predictions are the same. Consistency also cannot where each prediction has one
        explanation, unless sufficiency has a limit, too.

        Parameters
        ----------
        consistency, sufficiency : float, optional
            What the lower end must not be below.
        above_chance : bool
            Whether it must be above chance, too: of the measures that have a limit, or of all that were taken
            if none has.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
        >>> [judgement.kept for judgement in result.judge(consistency=0.9, above_chance=True)]
        [True, True]
        """
        limits = given_limits({"consistency": consistency, "sufficiency": sufficiency})
        return judged(self, limits) + (judged_by_chance(self, limits) if above_chance else [])

    def _side(self, measure: str, paired: bool) -> JackknifeEstimate:
        found = self._measure(measure, "cannot be compared")
        if paired:
            return self.population.side(self.counts.get(measure), self.setup.n_classes)
        assert found.moments is not None  # every measure that was taken has them
        return JackknifeEstimate(found.moments)

    def _measure(self, name: str, trouble: str) -> Estimate:
        """Return a measure that was taken, or say why there is none."""
        if name not in self.measures:
            reason = self.why_no_sufficiency if name == "sufficiency" else "there is no such measure"
            raise InputError(f"{name} {trouble}: {reason}.")
        return self.measures[name]

    def _counted(self, measure: str) -> Count:
        if measure not in self.counts:
            self.population.refuse("a tally cannot be had")
        return self.counts[measure]

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).to_html().splitlines()[0]
        '<!DOCTYPE html>'
        """
        from faithkit.report.html import WITNESSES, page

        shown = self.violations(WITNESSES) if self.counts else None  # one that was loaded has no rows to show
        return written(page(self.to_dict(), shown, self.owners), path)
