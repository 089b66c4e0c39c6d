"""A reporter: results as a table for a wiki."""

from typing import Any

import faithkit
from faithkit.plugin import format_number


class Markdown:
    """Write the measures as a table in Markdown.

    Examples
    --------
    >>> print(Markdown().write(faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]), title="May"))
    # May
    <BLANKLINE>
    | measure | value |
    | --- | --- |
    | consistency | 0.667 |
    <BLANKLINE>
    """

    def write(self, report: Any, *, title: str = "Faithfulness") -> str:
        """Return the content of the file."""
        measures = report.to_dict().get("measures")
        if measures is None:
            raise faithkit.errors.InputError(f"markdown: a {type(report).__name__} has no measures.")
        taken = {name: estimate for name, estimate in measures.items() if estimate is not None}
        rows = [f"| {name} | {format_number(estimate['value'])} |" for name, estimate in taken.items()]
        return "\n".join([f"# {title}", "", "| measure | value |", "| --- | --- |", *rows, ""])
