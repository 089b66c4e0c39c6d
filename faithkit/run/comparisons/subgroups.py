"""The measures of each subgroup: faithfulness depends on the data, as the paper shows."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import attrs
import pandas as pd

from faithkit.display import Displayable
from faithkit.jsonable import unique_keys
from faithkit.measure.difference import Difference, adjust_by_holm
from faithkit.run.comparisons.differences import subtract_results

Result = TypeVar("Result", bound=Any)  # Evaluation, which imports this module

# columns of the table of groups
_LEVEL = ("estimate", "merging", "low", "high", "floor", "chance")
COLUMNS = (*_LEVEL, "verified", "checked", "agree", "finding", "value", "by_chance", "bracket")


@attrs.frozen(eq=False, repr=False)
class Subgroups(Displayable, Mapping[Any, Result]):
    """One evaluation per subgroup, and one of all other rows to compare it with.

    Both x and x′ come from the group: averaging local scores would answer another question. Differences come
    from leave-one-out, which estimates the measure itself, whatever the estimator. Their p-values are
    adjusted for the number of groups by Holm's method. If groups `follow_predictions`, the rows of a group
    agree whatever was explained.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score([0, 0, 1, 0], ["a", "a", "a", "a"])
    >>> parts = result.by(["f", "f", "m", "m"])
    >>> {name: part.consistency.value for name, part in parts.items()}
    {'f': 1.0, 'm': 0.0}
    >>> parts.difference("f").value
    1.0
    """

    name: str
    parts: dict[Any, Result]
    rests: dict[Any, Result]
    follow_predictions: bool = False

    def __getitem__(self, group: Any) -> Result:
        return self.parts[group]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def difference(self, group: Any, measure: str = "consistency") -> Difference | None:
        """Return a group's measure minus that of all other rows.

        Return None if there are no other rows, or if either side is a single independent instance, which
        cannot be checked against anything.
        """
        if group not in self.rests or any(map(_is_single, (self.parts[group], self.rests[group]))):
            return None
        return subtract_results(self.parts[group], self.rests[group], measure, paired=False)

    def to_frame(self, measure: str = "consistency") -> pd.DataFrame:
        """Return one row per group: its measure, and its difference to all other rows."""
        rows = {group: _row(part, measure) for group, part in self.items()}
        by_group = {group: self.difference(group, measure) for group in self}
        differences = {group: value for group, value in by_group.items() if value is not None}
        p_values = adjust_by_holm([difference.p_value for difference in differences.values()])
        for (group, difference), p_value in zip(differences.items(), p_values, strict=True):
            interval = {"from": difference.low, "to": difference.high}
            rows[group] |= {"difference": difference.value, **interval, "p_value": p_value}
        index = pd.Index(list(rows), name=self.name, tupleize_cols=False)
        return pd.DataFrame(list(rows.values()), index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values by measure and group."""
        measures = ["consistency"]
        if any(part.sufficiency is not None for part in self.values()):
            measures.append("sufficiency")
        frames = {measure: self.to_frame(measure).astype(object) for measure in measures}
        return {
            "by": self.name,
            "groups": {
                measure: dict(zip(unique_keys(self), map(_jsonable, frame.to_dict("records")), strict=True))
                for measure, frame in frames.items()
            },
        }


def _is_single(part: Any) -> bool:
    n_units: int = part.n if part.design.clusters is None else part.design.clusters
    return n_units == 1


def _row(part: Any, measure: str) -> dict[str, Any]:
    estimate = getattr(part, measure)
    if estimate is None:
        return {"n": part.n}
    row = estimate.to_row()
    return {"n": part.n, **{name: row[name] for name in COLUMNS}}


def _jsonable(row: dict[Any, Any]) -> dict[str, Any]:
    return {str(name): None if value != value else value for name, value in row.items()}  # NaN
