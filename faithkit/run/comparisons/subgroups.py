"""The measures of each subgroup: faithfulness depends on the data, as the paper shows."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import attrs
import pandas as pd

from faithkit.jsonable import unique_keys
from faithkit.measure.difference import Difference, adjust_by_holm
from faithkit.measure.estimate import Estimate
from faithkit.report.base import Displayable
from faithkit.report.formats import format_number, name_groups, name_interval
from faithkit.report.sheet import Levels, Sheet, Table
from faithkit.run.comparisons.differences import subtract_results
from faithkit.run.sheets.measures import estimate_texts, measure_table, note_estimator, number_columns
from faithkit.wording import join_few, join_words

Result = TypeVar("Result", bound=Any)  # Evaluation, which imports this module

OF_GROUPS = "p is corrected for the number of groups (Holm)."
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

    def differences(self, measure: str = "consistency") -> dict[Any, tuple[Difference, float]]:
        """Return by group its difference to all other rows with an adjusted p-value, where there is one."""
        by_group = {group: self.difference(group, measure) for group in self}
        differences = {group: value for group, value in by_group.items() if value is not None}
        p_values = adjust_by_holm([difference.p_value for difference in differences.values()])
        return dict(zip(differences, zip(differences.values(), p_values, strict=True), strict=True))

    @property
    def measured(self) -> list[str]:
        """The measures that some group has."""
        has_sufficiency = any(part.sufficiency is not None for part in self.values())
        return ["consistency", "sufficiency"] if has_sufficiency else ["consistency"]

    def line(self) -> str:
        """Return the consistency of each group."""
        parts = name_groups(dict(zip(unique_keys(self), self.values(), strict=True)))
        estimates = join_few(
            f"{name} {'unknown' if part.consistency.is_unknown else format_number(part.consistency.estimate)}"
            for name, part in parts.items()
        )
        return f"by {self.name}; consistency estimates: {estimates}"

    def sheet(self) -> Sheet:
        """Return a section for each measure."""
        return Sheet(None, self.sections())

    def sections(self) -> list[Sheet]:
        """Return for each measure the numbers of every group, and its difference to the rest."""
        return [self._section(measure) for measure in self.measured]

    def _section(self, measure: str) -> Sheet:
        result = next(iter(self.values()))
        parts = name_groups(dict(zip(unique_keys(self), self.values(), strict=True)))
        estimates = {name: part.measures.get(measure) for name, part in parts.items()}
        words = result.setup.outcome.words
        rows = [
            ((name, f"{parts[name].n:,}"), estimate_texts(estimate, words))
            for name, estimate in estimates.items()
        ]
        return Sheet.of(
            f"{measure} by {self.name}",
            measure_table((self.name, "n"), number_columns(result), rows),
            *self._compare_with_rest(measure, estimates, result.confidence),
            _untested_groups(estimates),
            note_estimator(result),
            shows=Levels(estimates, sizes=[part.n for part in parts.values()]),
        )

    def _compare_with_rest(
        self, measure: str, estimates: Mapping[str, Estimate | None], confidence: float
    ) -> list[Sheet | str]:
        """Return the differences to the rest and what a star means, if a group has two rows and a rest."""
        differences, rows = self.differences(measure), []
        if not differences:
            return []
        for group, (name, estimate) in zip(self, estimates.items(), strict=True):
            # the group may be everybody, or one against one
            is_known = group in differences and estimate is not None and estimate.is_compared
            difference, p_value = differences[group] if is_known else (None, 1.0)
            rows.append((name, *(("–", "–", "–", "") if difference is None else difference.texts(p_value))))
        heads = (self.name, "minus the rest", name_interval(confidence), "p", "")
        star = "*: the difference is not 0; " if any(row[-1] for row in rows) else ""
        return [Sheet(None, [Table(heads, rows)]), star + OF_GROUPS]

    def to_frame(self, measure: str = "consistency") -> pd.DataFrame:
        """Return one row per group: its measure, and its difference to all other rows."""
        rows = {group: _row(part, measure) for group, part in self.items()}
        for group, (difference, p_value) in self.differences(measure).items():
            interval = {"from": difference.low, "to": difference.high}
            rows[group] |= {"difference": difference.value, **interval, "p_value": p_value}
        index = pd.Index(list(rows), name=self.name, tupleize_cols=False)
        return pd.DataFrame(list(rows.values()), index=index)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values by measure and group."""
        frames = {measure: self.to_frame(measure).astype(object) for measure in self.measured}
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


def _untested_groups(estimates: Mapping[str, Estimate | None]) -> str | None:
    """Name the groups of one independent instance, for which chance is unknown."""
    names = [name for name, estimate in estimates.items() if estimate is not None and estimate.chance is None]
    if not names:
        return None
    return f"One instance alone has nothing to be checked against, nor to be compared: {join_words(names)}."
