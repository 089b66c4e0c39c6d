"""A diagnostic that counts how often predictions occur."""

from collections import Counter
from typing import Any

import attrs

import faithkit


@attrs.frozen
class Frequencies(faithkit.plugin.Report):
    """How many rows have each prediction."""

    rows: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return {"rows": self.rows}

    def line(self) -> str:
        """Return the text for `repr`."""
        return f"of {len(self.rows)} predictions"

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return the table that people see."""
        return faithkit.plugin.Sheet.of(
            "Predictions", faithkit.plugin.Table.of(["prediction", "rows"], self.rows.items())
        )


class Starter:
    """Count how often the most frequent predictions occur.

    Parameters
    ----------
    n_listed : int
        How many predictions are listed.

    Examples
    --------
    >>> print(faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).diagnose(Starter()))
    Predictions
    prediction  rows
    ────────────────
    yes            2
    no             1
    """

    name = "starter"

    def __init__(self, n_listed: int = 10) -> None:
        self.n_listed = faithkit.plugin.check_integer(
            n_listed, "starter: n_listed", minimum=1, error=faithkit.errors.ParameterError
        )

    def diagnose(self, result: faithkit.Evaluation) -> Frequencies:
        """Count the predictions of a result; equally frequent ones are sorted by name."""
        rows = result.rows
        counts = Counter(str(rows.predictions[code]) for code in rows.codes)
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return Frequencies(dict(ordered[: self.n_listed]))
