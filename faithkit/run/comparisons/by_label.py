"""The measures of each predicted label, whose rows are compared with all rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import pandas as pd

from faithkit.jsonable import to_json_value, unique_keys
from faithkit.measure.by_label import LabelEstimate, frequent_labels, measure_labels
from faithkit.measure.counting.count import Count
from faithkit.measure.estimate import Estimate
from faithkit.measure.finding import NAMES_THE_LABEL, ONE_LABEL
from faithkit.report.base import Displayable
from faithkit.report.formats import format_number, join_by_reason, name_groups, pluralize
from faithkit.report.sheet import Levels, Sheet, Table
from faithkit.wording import join_few

BY_LABEL = "p compares a label with its own chance, and is corrected for the number of labels (Holm)."


@attrs.frozen(eq=False, repr=False)
class ByLabel(Displayable, Mapping[str, Mapping[Any, LabelEstimate]]):
    """The estimates of each measure by predicted label, the most frequent label first.

    Attributes
    ----------
    measures : dict of str to dict
        By measure, then by label.
    left_out : int
        The number of rarer labels that were left out.

    Examples
    --------
    >>> import faithkit
    >>> labels = faithkit.score(["ok"] * 4 + ["fraud"] * 2, ["a", "a", "a", "b", "b", "b"]).by_label()
    >>> {label: round(part.estimate, 3) for label, part in labels["consistency"].items()}
    {'ok': 0.75, 'fraud': 0.5}
    """

    measures: dict[str, dict[Any, LabelEstimate]]
    left_out: int = 0

    @classmethod
    def of(
        cls,
        counts: Mapping[str, Count],
        estimates: Mapping[str, Estimate],
        *,
        names: Sequence[Any],
        k: int,
        control: Mapping[int, float] | None = None,
    ) -> "ByLabel":
        """Measure the k most frequent labels.

        `names` has the label of each code, and `control` the mean of sufficiency's control by code.
        """
        codes, left_out = frequent_labels(counts["consistency"], k)
        measures = {}
        for measure, count in counts.items():
            finding = estimates[measure].finding
            untested = finding if finding in (ONE_LABEL, NAMES_THE_LABEL) else None
            means = control if measure == "sufficiency" else None
            parts = measure_labels(count, codes, estimates[measure].confidence, untested, means)
            measures[measure] = {names[code]: part for code, part in zip(codes, parts, strict=True)}
        return cls(measures, left_out)

    def __getitem__(self, measure: str) -> Mapping[Any, LabelEstimate]:
        return self.measures[measure]

    def __iter__(self) -> Iterator[str]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def line(self) -> str:
        """Return the estimate of each label, by measure."""
        lines = []
        for measure, parts in self.items():
            names = zip(unique_keys(parts), parts.values(), strict=True)
            estimates = join_few(f"{name} {format_number(part.estimate)}" for name, part in names)
            lines.append(f"{measure} estimates: {estimates}")
        return "; ".join(lines)

    def sheet(self) -> Sheet:
        """Return a section for each measure."""
        return Sheet(None, self.sections())

    def sections(self) -> list[Sheet]:
        """Return for each measure the numbers of every label."""
        return list(map(self._section, self.measures))

    def _section(self, measure: str) -> Sheet:
        parts = self.measures[measure]
        named = name_groups(dict(zip(unique_keys(parts), parts.values(), strict=True)))
        has_control = any(part.control is not None for part in named.values())
        texts = {name: part.texts(has_control) for name, part in named.items()}
        heads = ("prediction", *next(iter(texts.values())), "finding")
        rows = [(name, *values.values(), named[name].finding) for name, values in texts.items()]
        reasons = join_by_reason({name: part.why_not for name, part in named.items()})
        estimates = {name: None if part.estimate is None else part for name, part in named.items()}
        return Sheet.of(
            f"{measure} by predicted label",
            Table(heads, rows, wide=("finding",)),
            *(f"{names}: no estimate, since {why}." for why, names in reasons.items()),
            f"{pluralize(self.left_out, 'rarer label')} left out." if self.left_out else None,
            BY_LABEL,
            shows=Levels(estimates, sizes=[part.n for part in named.values()]),
        )

    def to_frame(self, measure: str = "consistency") -> pd.DataFrame:
        """Return one row per label.

        Examples
        --------
        >>> import faithkit
        >>> labels = faithkit.score(["ok"] * 4 + ["fraud"] * 2, ["a", "a", "a", "b", "b", "b"]).by_label()
        >>> labels.to_frame()["n"].to_dict()
        {'ok': 4, 'fraud': 2}
        """
        parts = self.measures[measure]
        index = pd.Index(list(parts), name="prediction", tupleize_cols=False)
        return pd.DataFrame([part.to_dict() for part in parts.values()], index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values by measure and label."""
        measures = {
            measure: {
                key: {"label": to_json_value(label), **part.to_dict()}
                for key, (label, part) in zip(unique_keys(parts), parts.items(), strict=True)
            }
            for measure, parts in self.measures.items()
        }
        return {"measures": measures, "left_out": self.left_out}

    @classmethod
    def from_dict(cls, payload: Mapping[str, Any]) -> "ByLabel":
        """Rebuild from the output of `to_dict`."""
        measures = {
            measure: {part["label"]: LabelEstimate.from_dict(part) for part in parts.values()}
            for measure, parts in payload["measures"].items()
        }
        return cls(measures, payload["left_out"])
