"""What is told of two explainers, or of all in a comparison: how far they agree, and who is faithful."""

from collections.abc import Iterator
from typing import Any

import attrs
import pandas as pd

import faithkit

NOT_FAITHFUL = "That two explainers agree does not make either faithful: both may mislead alike."


@attrs.frozen
class MeanAgreement(faithkit.plugin.Mean):
    """The mean of one measure of agreement over rows, and what chance would give."""

    by_chance: float | None = None

    @property
    def finding(self) -> str | None:
        """Whether the interval lies above what chance would give, or below; None where there is none."""
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
    """How far two explainers agree on the same rows; made by `agreement`.

    Attributes
    ----------
    names : tuple of str
        The first and the second explainer.
    k : int
        How many of the largest importances were compared.
    features : int
        How many there are.
    among : tuple of str or None
        The features whose order was compared; None for all.
    n : int
        The number of rows that both explain; means are over these.
    unexplained : dict of str to int
        How many rows were left out since either explainer, by its name, has no explanation of them.
    measures : dict of str to MeanAgreement
    differences : dict of str to Difference
        How much more faithful the first is than the second, by measure; where both are results.
    rows : DataFrame
        The same measures of every row, NaN in those that were left out.
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
        """Return JSON values; not those of every row."""
        names = ("k", "features", "n", "unexplained", "confidence")
        return {
            "first": self.names[0],
            "second": self.names[1],
            **{name: getattr(self, name) for name in names},
            "among": None if self.among is None else list(self.among),
            "measures": {name: found.to_dict() for name, found in self.measures.items()},
            "differences": {name: attrs.asdict(found) for name, found in self.differences.items()},
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per measure."""
        pair = {"first": self.names[0], "second": self.names[1], "k": self.k}
        return pd.DataFrame(
            [{**pair, "measure": name, **found.to_dict()} for name, found in self.measures.items()]
        )

    def line(self) -> str:
        """Return what `repr` shows."""
        found = self.measures["feature agreement"].value
        told = "unknown" if found is None else f"{found:.3f}"
        return f"of {' and '.join(self.names)}: {self.n:,} rows, feature agreement of the top {self.k} {told}"

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return what `print` shows."""
        return faithkit.plugin.Sheet.of(" and ".join(self.names), *self.parts(), NOT_FAITHFUL)

    def parts(self) -> Iterator[faithkit.plugin.Table | str]:
        """Yield the numbers, and what is to be known of them."""
        yield f"{_counted(self.n, 'instance')}, the top {self.k} of {_counted(self.features, 'feature')}"
        interval = f"{100 * self.confidence:g} % interval"
        rows = [
            (name, one.value, (one.low, one.high), one.by_chance, one.finding)
            for name, one in self.measures.items()
        ]
        yield faithkit.plugin.Table.of(("agreement", "mean", interval, "by chance", "finding"), rows)
        yield from self._remarks()
        if self.differences:
            of = f"{self.names[0]} minus {self.names[1]}"
            told = [(f"{measure}: {of}", one) for measure, one in self.differences.items()]
            yield faithkit.plugin.Table.of(("faithfulness", f"difference and {interval}"), told)

    def _remarks(self) -> Iterator[str]:
        for name, count in self.unexplained.items():
            if count:
                yield f"{_counted(count, 'instance')} left out: {name} does not explain them."
        equal = self.n - self.measures["rank correlation"].n
        if equal:
            why = "all importances of one explanation are of one size"
            yield f"{_counted(equal, 'instance')} without rank correlation: {why}."
        if self.among is not None:
            yield f"Rank correlation and pairwise rank agreement are among {', '.join(self.among)}."


@attrs.frozen(eq=False, repr=False)
class Agreements(faithkit.plugin.Report):
    """How far every two explainers of a comparison agree, beside how faithful they are; made by `agreements`.

    It is printed and written with the comparison: JSON is what the comparison tells, with `agreements` added.
    """

    pairs: tuple[Agreement, ...]
    comparison: faithkit.results.Comparison

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {**self.comparison.to_dict(), "agreements": [pair.to_dict() for pair in self.pairs]}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per pair and measure."""
        return pd.concat([pair.to_frame() for pair in self.pairs], ignore_index=True)

    def to_html(self, path: Any = None) -> str:
        """Return the comparison's page with a section about agreement, and write it where a path is given."""
        return self.comparison.to_html(path, more=self.sheet())

    def line(self) -> str:
        """Return what `repr` shows."""
        return "; ".join(pair.line() for pair in self.pairs)

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return the agreement of all pairs; the comparison has a sheet of its own."""
        parts: list[faithkit.plugin.Table | str] = []
        for pair in self.pairs:
            first, *rest = pair.parts()
            parts += [f"{' and '.join(pair.names)}: {first}", *rest]
        return faithkit.plugin.Sheet.of("Agreement of explainers", *parts, NOT_FAITHFUL)

    def __str__(self) -> str:
        return f"{super().__str__()}\n\n{self.comparison}"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.comparison._repr_html_()


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
