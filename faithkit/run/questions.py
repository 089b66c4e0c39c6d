"""What else can be asked about a result than its measures: by its counts, or by its rows."""

from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.inputs.objects.alignment import check_order
from faithkit.measure.encoding_gap import EncodingGap
from faithkit.measure.estimate import Estimate
from faithkit.measure.exceedance import Exceedance, checked_level, exceedance
from faithkit.measure.mean import Mean
from faithkit.measure.tally import Count
from faithkit.run.components import component
from faithkit.run.further import gap_of
from faithkit.run.reading import ReaderResult, reader
from faithkit.run.result import Result


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Questions(Result):
    """A result with the counts that it was made of, of which one that was loaded from a file has none."""

    counts: Mapping[str, Count] = attrs.field(factory=dict)

    def reader(self, classifier: Any = None, seed: int | None = None) -> ReaderResult:
        """Let a classifier guess the predictions from the explanations, having learnt from other rows.

        This works where no two explanations are equal: what a reader can guess, the explanations tell. A
        result that was loaded from a file has the reader that was saved there, if any, and can ask no other.

        Parameters
        ----------
        classifier : str or classifier, optional
            "auto", the default, lets every reader choose between "logistic" regression and boosted "trees"
            by the rows it learns from. Or any scikit-learn classifier that has `predict_proba`; it is copied.
            Numbers and scores are read by "linear" regression, "trees", or any scikit-learn regressor.
        seed : int, optional
            Decides which rows are read by whom; by default that of the result.

        Examples
        --------
        >>> import faithkit, numpy as np
        >>> x = np.random.default_rng(0).normal(size=(300, 2))
        >>> found = faithkit.score(x[:, 0] > 0, x).reader()
        >>> found.accuracy.value > 0.9, found.baseline.value < 0.6, found.low > 0.8
        (True, True, True)
        """
        if "reader" in self._kept and classifier is None and seed is None:
            found: ReaderResult = self._kept["reader"]
            return found
        return reader(self.population, self.setup, classifier, seed)

    def exceedance(self, level: float, measure: str = "consistency") -> Exceedance:
        """Count the instances whose local value is under a level, and those of them that surely are.

        The mean may hide them: nine tenths of the instances have perfect explanations, and one tenth has
        useless ones. A result that was loaded from a file has the level that was saved there, if any.

        Parameters
        ----------
        level : float
            Above 0 and at most 1.
        measure : str
            "consistency" or "sufficiency".

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no"] * 10 + ["yes"] * 80, ["a"] * 20 + ["b"] * 80)
        >>> found = result.exceedance(0.7)
        >>> found.share, found.surely
        (0.2, 0.2)
        """
        level = checked_level(level)
        self._measure(measure, "has no exceedance")
        found: Exceedance | None = self._kept.get("exceedance", {}).get(measure)
        if found is not None and found.level == level:
            return found
        return exceedance(self._counted(measure), level, self.confidence, measure)

    def encoding_gap(self, relation: Any = None) -> EncodingGap:
        """Compare those who have an explanation with others to whom it applies, too.

        A large gap means that the prediction is told by which explanation was chosen, not by what it says:
        then it misleads whoever applies it. A result that was loaded from a file has the gap that was saved
        there, if any.

        Parameters
        ----------
        relation : relation, optional
            Says where an explanation applies; by default that of sufficiency.

        Examples
        --------
        >>> import faithkit, numpy as np
        >>> X, y = np.zeros((200, 1)), np.arange(200) % 2
        >>> whispered = faithkit.score(y, [f"word {label}" for label in y], X=X)
        >>> whispered.encoding_gap(lambda x, explanation: True).value
        1.0
        """
        if relation is not None:
            given = component("relation", relation)
            asked = self.population.fitted(given.instance, self.setup.background)
            return gap_of(self.population, asked, given.text, self.confidence)
        if "encoding_gap" in self._kept:
            found: EncodingGap = self._kept["encoding_gap"]
            return found
        if "sufficiency" not in self.measures:
            raise InputError(f"consistency alone has no encoding gap: {self.why_no_sufficiency}.")
        applies = self._counted("sufficiency").relation
        return gap_of(self.population, applies, str(self.relation), self.confidence)

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
