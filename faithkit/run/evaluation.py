"""The result of an evaluation, with methods to inspect its rows."""

from collections.abc import Callable
from typing import Any

import attrs
import pandas as pd

from faithkit.arguments import check_integer
from faithkit.errors import InputError
from faithkit.inputs.objects.conversion import as_column
from faithkit.inputs.rows import check_row_order
from faithkit.measure.counting.count import Count
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.instances.contradictions import Contradictions
from faithkit.measure.instances.local_result import LocalResult
from faithkit.measure.mean import Mean
from faithkit.report.base import Report
from faithkit.report.formats import name_system, pluralize
from faithkit.report.sheet import Sheet
from faithkit.run.comparisons.differences import check_design, subtract_results
from faithkit.run.comparisons.subgroups import Subgroups
from faithkit.run.components.resolution import resolve_component
from faithkit.run.components.setup import Setup
from faithkit.run.diagnostics import ExplainedRows, add_needed, diagnose
from faithkit.run.exported_rows import export_rows
from faithkit.run.instances.contradictions import find_worst_contradictions, shown_measure
from faithkit.run.instances.explanation_table import summarise_explanations, tabulate_explanations
from faithkit.run.populations.in_memory import InMemory
from faithkit.run.populations.population import Population
from faithkit.run.populations.sample_inputs import SampleInputs
from faithkit.run.provenance import measure_quality
from faithkit.run.result import Result
from faithkit.run.sheets.results import NOTHING_ASKED, Answers, result_page, result_sheet

PAIRS_SHOWN = 3  # on a page, where nobody says how many


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Evaluation(Result, Report):
    """The faithfulness of one explanation system on one sample; `evaluate`, `score` and `load` return it.

    Attributes
    ----------
    measures : mapping of str to Estimate
        The estimates by measure: "consistency" and, if it was measured, "sufficiency".
    n, n_explanations, unexplained : int
        The number of instances, of distinct explanations (each missing one counts as one), and of instances
        without an explanation.
    unexplained_share : float
        The share of the instances, by their weight, that have no explanation.
    why_unexplained, remarks : dict of str to int
        How many instances have no explanation, by reason, and how often explainers made a remark on an
        explanation, such as "below the threshold"; the most frequent first.
    singletons : float
        The share of instances whose explanation no other instance has.
    chance : float or None
        The value of a constant explainer; compare a value of leave-one-out with `verified` × chance.
    uniqueness : float
        Distinct explanations per instance, as in the paper's tables. With weights, the weighted mean of one
        over the number of instances that share an explanation.
    design : DesignSummary
        Weights, clusters, blocks and the pool: how the rows were drawn.
    tails : float or None
        For numbers, the share of the variance that explanations leave open that is due to 1 % of the
        instances. Above 0.155, the report warns that the interval may be too short.
    notes : tuple of str
        What to know about the input, such as columns that the model does not use, or explanations that name
        the prediction.
    relation, why_no_sufficiency : str or None
        The relation of sufficiency, or the reason why there is no sufficiency.
    relation_phrase : str or None
        What explanations apply to by this relation, in words.
    relation_learnt_from : str or None
        What the relation learnt from: "the background", or "the rows themselves" where that is smaller or
        absent; None if it learns nothing.
    kind : str
        The kind of the explanations, such as "vector", "rule" or "value".
    discretizer_learnt_from : str or None
        The same for the discretizer.
    origin : Origin
        What the report says about where the result comes from: title, author, names of data and model.
    setup : Setup
        How it was measured: the components, the seed, the confidence, and what predictions are.
    evidence : Evidence
        What the numbers were computed from: the population and the counts.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"], ["a", "a", "b", "a"])
    >>> result.consistency.value, result.uniqueness, result.singletons
    (0.25, 0.5, 0.25)
    >>> result.sufficiency is None
    True
    """

    # the pipeline's, which imports this module
    _measure_population: "Callable[[Population, Setup], Evaluation] | None" = None

    @property
    def rows(self) -> ExplainedRows:
        """The rows with their explanations and predictions, and the model; a saved result has none.

        Rows of a log that was read in pieces are not in the order of the log.

        Examples
        --------
        >>> import faithkit
        >>> rows = faithkit.score(["yes", "no", "yes"], ["a", "b", "a"]).rows
        >>> rows.explanations.values.tolist(), rows.row_predictions
        (['a', 'b', 'a'], ['yes', 'no', 'yes'])
        """
        rows = self.evidence.population.explained_rows(self.setup.outcome)
        return rows if self.setup.system is None else attrs.evolve(rows, job=self.setup.system.job)

    def to_frame(self, rows: str = "measures") -> pd.DataFrame:
        """Return a table with one row per measure, per instance or per distinct explanation.

        Parameters
        ----------
        rows : {"measures", "explanations", "losses"}
            "explanations" gives a table that `score` reads as a log, with the same result: the columns of the
            instances, `prediction`, `explanation` (or one column for each feature, with the prefix
            ``explanation_``), and `group`, the number of the explanation after discretizing. "losses" gives
            one row per distinct explanation, worst first: how many rows have it, their share of all rows, to
            how many it applies (`scope`, if it was sufficiency that was measured), how far others agree with
            them, and the part of the measure that is lost because they do not.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", None])
        >>> result.to_frame()["value"].round(3).tolist()
        [0.667]
        >>> result.to_frame("explanations")["group"].tolist()
        [0, 0, <NA>]
        >>> result.to_frame("losses")["rows"].tolist()
        [2, 1]
        """
        if rows == "measures":
            return super().to_frame()
        if rows == "losses":
            return tabulate_explanations(self.setup, self._count(shown_measure(self.measures)))
        if rows != "explanations":
            raise InputError(
                f"a result has no table {rows!r}: ask for 'measures', 'explanations' or 'losses'."
            )
        if not isinstance(self.evidence.population, InMemory):
            raise InputError(
                "the rows are not in memory: the log or the saved result has what is known of them."
            )
        return export_rows(self.evidence.population)

    def measure(self, relation: Any) -> Estimate:
        """Estimate the measure of any relation: a name, a composed relation, or a function.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1], [[0.1], [0.2], [0.9]])
        >>> result.measure("near-explanation:tau=0.15").verified
        0.6666666666666666
        """
        resolved = resolve_component("relation", relation).instance
        fitted = self.evidence.population.fit_relation(resolved, self.setup.relation_rows)
        return self.evidence.population.estimate(self.evidence.population.count(fitted), self.setup)

    def local(self, row: Any) -> LocalResult:
        """Measure one instance: a row of the sample, by its index or the text of its id, or a new row.

        A new row is a sample of one row (1 × d), of the same kind as X.

        Examples
        --------
        >>> import faithkit
        >>> faithkit.score([0, 0, 1], ["a", "a", "a"]).local(0).consistency.value
        0.5
        """
        return self.evidence.population.local(row, self.evidence.counts, self.setup)

    def contradictions(self, k: int = 5) -> Contradictions:
        """Return the explanations that hold for instances of different predictions, worst first.

        They are contradictions of sufficiency if that was measured, else of consistency; at most `k`. Each
        comes with the nearest two rows that contradict each other: of a log in pieces with the first two, and
        for numbers and scores with the two that agree least.

        Examples
        --------
        >>> import faithkit
        >>> worst = faithkit.score(["yes", "yes", "no"], ["a", "a", "a"]).contradictions()[0]
        >>> worst.explanation, worst.predictions, worst.rows
        ('a', {'no': 1, 'yes': 2}, (0, 2))
        """
        limit = check_integer(k, "contradictions", minimum=0)
        count = self._count(shown_measure(self.measures))
        return find_worst_contradictions(self.evidence.population, self.setup, count, limit)

    def diagnose(self, diagnostic: Any) -> Any:
        """Run a diagnostic, which answers an additional question about the result.

        A result that was loaded from a file has the diagnoses that were saved with it, and no others.

        Parameters
        ----------
        diagnostic : str, object or callable
            A name or "name:param=value,…" of an installed diagnostic, an object with the method `diagnose`,
            or a function ``result -> report``.

        Returns
        -------
        Report
            The diagnostic's answer: it has `to_dict`, and can be printed.

        Examples
        --------
        >>> import faithkit, numpy as np
        >>> x = np.random.default_rng(0).normal(size=(300, 2))
        >>> reader = faithkit.score(x[:, 0] > 0, x).diagnose("reader")
        >>> reader.accuracy.value > 0.9, reader.baseline.value < 0.6
        (True, True)
        """
        saved = (diagnosis for diagnosis in self.diagnoses if diagnosis.name == diagnostic)
        return next(saved, None) or diagnose(resolve_component("diagnostic", diagnostic), self)

    def mean(self, scores: Any, *, minimum: float = 0.0) -> Mean:
        """Return the weighted mean of one score per row, with an interval that respects clusters and blocks.

        Parameters
        ----------
        scores : sequence of n numbers
            From `minimum` to 1; rows whose score is NaN are left out.
        minimum : float
            The smallest possible score.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score([0, 0, 1], ["a", "a", "a"], weights=[1, 1, 2])
        >>> result.mean([1.0, 1.0, 0.0]).value
        0.5
        """
        check_row_order({"the sample": self.evidence.population.index, "the scores": scores})
        if len(scores) != self.n:
            raise InputError(f"{len(scores)} scores for {self.n} rows: give one for each.")
        design = self.evidence.population.row_content.design
        return Mean.of(scores, confidence=self.confidence, design=design, minimum=minimum)

    def by(self, groups: Any) -> Subgroups["Evaluation"]:
        """Estimate the measures inside each group; rows are compared only within their group.

        The difference to all other rows comes from leave-one-out, which estimates the measure itself,
        whatever the estimator. Its p-value is adjusted for the number of groups by Holm's method.

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
        check_row_order({"the sample": self.evidence.population.index, "the groups": groups})
        name, parts, rests, follow_predictions = self.evidence.population.split_by(as_column(groups))
        return Subgroups(
            name,
            {group: self._evaluate(part) for group, part in parts.items()},
            {group: self._evaluate(rest) for group, rest in rests.items()},
            follow_predictions,
        )

    def with_target(self, target: Any) -> "Evaluation":
        """Return the result with the model's accuracy on its rows, or R² for numbers, for the report.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no", "no", "no"], ["a", "b", "b", "b"])
        >>> result.with_target(["yes", "no", "no", "yes"]).origin.accuracy
        0.75
        """
        if len(target) != self.n:
            raise InputError(f"{len(target)} targets for {self.n} rows: give one for each.")
        check_row_order({"the sample": self.evidence.population.index, "the target": target})
        labels = self.evidence.population.encoded_labels  # refused for a log in pieces, which has no order
        predictions = [labels.classes[code] for code in labels.codes]
        quality = measure_quality(predictions, list(as_column(target)), self.setup.outcome.kind)
        return self.with_origin(**quality)

    def on(
        self, X: Any, *, weights: Any = None, clusters: Any = None, blocks: Any = None, ids: Any = None
    ) -> "Evaluation":
        """Evaluate the same system on other rows, such as a newer sample, to see whether it has drifted.

        All parameters are as in `evaluate`. If the rows of this result have weights, clusters or blocks, the
        new rows must have them.

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
        names_cases = self.evidence.population.cases is None
        if self.design.effective is not None and names_cases and weights is None and clusters is None:
            raise InputError(
                "the rows of this result have weights or clusters: also give those of the other rows."
            )
        if self.design.blocks is not None and blocks is None:
            raise InputError("the rows of this result have blocks: also give those of the other rows.")
        columns = {"weights": weights, "clusters": clusters, "blocks": blocks, "ids": ids}
        check_row_order({"X": X, **columns})
        setup, system, job = self.setup, self.setup.system, self.setup.system.job
        is_uninformative = bool(self.design.uninformative)
        inputs = SampleInputs.of_model(
            job.predictor, X, job.background, **columns, uninformative=is_uninformative
        )
        predictions = job.predictor.answers(inputs.X, setup.outcome)
        explanations = system.explain(inputs.X)
        population = inputs.build_population(predictions, explanations, setup.applicability, setup.outcome)
        learnt_from = None if setup.learnt_from is None else "given"  # not from the new rows
        setup = attrs.evolve(setup, notes=inputs.notes, learnt_from=learnt_from)
        return self._evaluate(population.with_discretizer(setup.discretizer), setup)

    def _evaluate(self, population: Population, setup: Setup | None = None) -> "Evaluation":
        assert self._measure_population is not None  # only a result from a file has none, and no population
        return self._measure_population(population, self.setup if setup is None else setup)

    def difference(
        self, other: "Evaluation", measure: str = "consistency", paired: bool = True
    ) -> Difference:
        """Return this measure minus the other's, with interval and p-value.

        The difference comes from leave-one-out, which estimates the measure itself, whatever the estimator.

        Parameters
        ----------
        other : Evaluation
            If it was loaded from a file, say paired=False.
        measure : str
            "consistency" or "sufficiency".
        paired : bool
            Whether both evaluated the same rows; say False for two disjoint samples. Rows are paired by
            position, and must be the same: in their values if both results have instances, else in their
            predictions. Weights, clusters and blocks must also be the same. Pandas' index is ignored, as
            everywhere. Of two disjoint samples, both have weights, both have clusters and both have blocks,
            or neither has.

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
        if not paired:  # of pairs, weights, clusters and blocks are compared row by row
            check_design(self, other)
        return subtract_results(self, other, measure, paired)

    def _count(self, measure: str) -> Count:
        if measure not in self.evidence.counts:
            self.evidence.population.refuse("a tally is not available")
        return self.evidence.counts[measure]

    def with_needed(self, needs: tuple[str, ...]) -> "Evaluation":
        """Return the result with the diagnoses that a reporter needs, or sentences that say why not."""
        return add_needed(self, needs)

    def line(self) -> str:
        """Return the system, its size and its measures, without computing anything."""
        name = name_system(self.setup.explainer_text, self.setup.discretizer.text)
        levels = [f"{measure} {estimate.level}" for measure, estimate in self.measures.items()]
        return f"of {name}: {', '.join([pluralize(self.n, 'instance'), *levels])}"

    def sheet(self) -> Sheet:
        """Return the first screen, or with --verbose all numbers and sentences."""
        return result_sheet(self)

    def page(self) -> Sheet:
        """Return the full report, with the worst contradictions."""
        return self.page_with(NOTHING_ASKED)

    def page_with(self, answers: Answers) -> Sheet:
        """Return the full report with what else was asked, by default with the worst contradictions."""
        counts = self.evidence.counts
        if not counts:  # a loaded result has no rows
            return result_page(self, answers)
        if answers.contradictions is None:
            answers = attrs.evolve(answers, contradictions=self.contradictions(PAIRS_SHOWN))
        measure = shown_measure(self.measures)
        overview = summarise_explanations(self.evidence.population, self.setup, counts[measure], measure)
        return result_page(self, answers, overview)
