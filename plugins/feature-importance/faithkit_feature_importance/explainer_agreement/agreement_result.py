"""Results of `agreement` and `agreements`."""

from collections.abc import Iterator
from typing import Any

import attrs
import pandas as pd

import faithkit

NOT_FAITHFUL = "That two explainers agree does not make either faithful: both may mislead alike."


@attrs.frozen
class MeanAgreement(faithkit.plugin.Mean):
    """The mean of one measure of agreement over rows, with its value expected by chance."""

    by_chance: float | None = None

    @property
    def finding(self) -> str | None:
        """Whether the interval lies above or below chance; None if there is no interval."""
        if self.low is None or self.high is None or self.by_chance is None:
            return None
        if self.low > self.by_chance:
            return "above chance"
        return "below chance" if self.high < self.by_chance else "not above chance"

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {**attrs.asdict(self), "finding": self.finding}


@attrs.frozen(eq=False, repr=False, kw_only=True)
class Agreement(faithkit.plugin.Report):
    """The agreement of two explainers on the same rows, as returned by `agreement`.

    Attributes
    ----------
    names : tuple of str
        The first and the second explainer.
    k : int
        How many of the largest importances were compared.
    features : int
        The number of features.
    among : tuple of str or None
        The features whose order was compared; None for all.
    n : int
        The number of rows that both explain. Means are over these rows.
    unexplained : dict of str to int
        How many rows each explainer leaves unexplained; these rows are left out.
    measures : dict of str to MeanAgreement
    differences : dict of str to Difference
        How much more faithful the first is than the second, by measure. Empty unless both are results.
    rows : DataFrame
        The measures of every row, NaN in rows that were left out.
    """

    names: tuple[str, str]
    k: int
    features: int
    among: tuple[str, ...] | None
    n: int
    unexplained: dict[str, int]
    measures: dict[str, MeanAgreement]
    differences: dict[str, faithkit.results.Difference]
    confidence: float
    rows: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, without those of single rows."""
        names = ("k", "features", "n", "unexplained", "confidence")
        return {
            "first": self.names[0],
            "second": self.names[1],
            **{name: getattr(self, name) for name in names},
            "among": None if self.among is None else list(self.among),
            "measures": {name: value.to_dict() for name, value in self.measures.items()},
            "differences": {name: attrs.asdict(value) for name, value in self.differences.items()},
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure."""
        pair = {"first": self.names[0], "second": self.names[1], "k": self.k}
        return pd.DataFrame(
            [{**pair, "measure": name, **mean.to_dict()} for name, mean in self.measures.items()]
        )

    def line(self) -> str:
        """Return the text of `repr`."""
        mean = self.measures["feature agreement"].value
        formatted = "unknown" if mean is None else f"{mean:.3f}"
        pair = " and ".join(self.names)
        return f"of {pair}: {self.n:,} rows, feature agreement of the top {self.k} {formatted}"

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return the printed tables and sentences."""
        return faithkit.plugin.Sheet.of(" and ".join(self.names), *self.parts(), NOT_FAITHFUL)

    def parts(self) -> Iterator[faithkit.plugin.Table | str]:
        """Yield the tables and the remarks about them."""
        n_features = _count_noun(self.features, "feature")
        yield f"{_count_noun(self.n, 'instance')}, the top {self.k} of {n_features}"
        interval = f"{100 * self.confidence:g} % interval"
        rows = [
            (name, mean.value, (mean.low, mean.high), mean.by_chance, mean.finding)
            for name, mean in self.measures.items()
        ]
        yield faithkit.plugin.Table.of(("agreement", "mean", interval, "by chance", "finding"), rows)
        yield from self._remarks()
        if self.differences:
            contrast = f"{self.names[0]} minus {self.names[1]}"
            difference_rows = [
                (f"{measure}: {contrast}", difference) for measure, difference in self.differences.items()
            ]
            yield faithkit.plugin.Table.of(("faithfulness", f"difference and {interval}"), difference_rows)

    def _remarks(self) -> Iterator[str]:
        for name, count in self.unexplained.items():
            if count:
                yield f"{_count_noun(count, 'instance')} left out: {name} does not explain them."
        n_constant = self.n - self.measures["rank correlation"].n
        if n_constant:
            reason = "all importances of one explanation are of one size"
            yield f"{_count_noun(n_constant, 'instance')} without rank correlation: {reason}."
        if self.among is not None:
            yield f"Rank correlation and pairwise rank agreement are among {', '.join(self.among)}."


@attrs.frozen(eq=False, repr=False)
class Agreements(faithkit.plugin.Report):
    """The agreement of every two explainers of a comparison, as returned by `agreements`.

    The comparison is printed and saved with it: the JSON is that of the comparison, with `agreements` added.
    """

    pairs: tuple[Agreement, ...]
    comparison: faithkit.results.Comparison

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {**self.comparison.to_dict(), "agreements": [pair.to_dict() for pair in self.pairs]}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair and measure."""
        return pd.concat([pair.to_frame() for pair in self.pairs], ignore_index=True)

    def page(self) -> faithkit.plugin.Sheet:
        """Return the page of the comparison, with a section about agreement."""
        return self.comparison.page(addition=self.sheet())

    def line(self) -> str:
        """Return the text of `repr`."""
        return "; ".join(pair.line() for pair in self.pairs)

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return the agreement of all pairs. The comparison has its own sheet."""
        parts: list[faithkit.plugin.Table | str] = []
        for pair in self.pairs:
            heading, *tables = pair.parts()
            parts += [f"{' and '.join(pair.names)}: {heading}", *tables]
        return faithkit.plugin.Sheet.of("Agreement of explainers", *parts, NOT_FAITHFUL)

    def __str__(self) -> str:
        return f"{super().__str__()}\n\n{self.comparison}"

    def _repr_html_(self) -> str | None:
        fragments = (super()._repr_html_(), self.comparison._repr_html_())
        return "".join(filter(None, fragments)) or None


def _count_noun(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
