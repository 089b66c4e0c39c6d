"""A reporter: results as a table for a wiki."""

from typing import Any


class Markdown:
    """Write the measures as a table in Markdown.

    Examples
    --------
    >>> import faithkit
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
        rows = [f"| {name} | {value:.3f} |" for name, value in report.to_frame()["value"].items()]
        return "\n".join([f"# {title}", "", "| measure | value |", "| --- | --- |", *rows, ""])
