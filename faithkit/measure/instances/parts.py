"""The parts of sheets that show explanations and rows: in words, and on a page as bars and tables."""

from collections.abc import Sequence
from typing import Any

import attrs

from faithkit.measure.instances.explanation_view import Box
from faithkit.report.text import wrap

TEXT = "text"  # the only value of a row that is a text


@attrs.frozen
class WeightBar:
    """A weight: its name and number, and where its bar starts and how long it is, as shares."""

    name: str
    number: str
    start: float
    length: float
    is_for: bool


@attrs.frozen
class ShownExplanation:
    """An explanation as reports show it.

    Parameters
    ----------
    sentence : str
        In words, for a terminal and a notebook.
    title : str
        What stands over the bars on a page.
    bars : sequence of WeightBar
        The largest weights.
    ends : tuple of str
        What bars to the left and to the right mean.
    scope : str or None
        Where it applies, if it is not a rule itself.
    full : str or None
        All of it, if the rest does not say all.
    is_swapped : bool
        Whether it speaks for the prediction of the second row, whose colour it then has.
    """

    sentence: str
    title: str
    bars: Sequence[WeightBar] = ()
    ends: tuple[str, str] = ("", "")
    scope: str | None = None
    full: str | None = None
    is_swapped: bool = False

    def text(self) -> str:
        """Return the explanation in words."""
        return f"{wrap(self.sentence)}\n"


Pieces = Sequence[tuple[str, str]]
"""A text in pieces, each with its marks: "named", "differs", "for" and "against", or none."""


@attrs.frozen
class RowTable:
    """Rows side by side, with marks on what an explanation names and on what differs.

    Parameters
    ----------
    heads : sequence of str
        Each row and its prediction.
    values : sequence of (str, bool, sequence of Pieces)
        The name of each column, or its condition; whether the explanation names it; and its values.
    images : sequence of arrays
        The rows themselves, if they have several axes: a page draws those that are images.
    outlines : sequence of (Box, bool)
        The patches that an explanation names, and whether they speak for the class.
    caption : str
        What the marks mean.
    is_swapped : bool
        As for `ShownExplanation`.
    """

    heads: Sequence[str]
    values: Sequence[tuple[str, bool, Sequence[Pieces]]] = ()
    images: Sequence[Any] = ()
    outlines: Sequence[tuple[Box, bool]] = ()
    caption: str = ""
    is_swapped: bool = False

    def text(self) -> str:
        """Return nothing: rows do not fit side by side into a terminal, so sentences name them."""
        return ""

    @property
    def has_names(self) -> bool:
        """Whether values have meaningful names; a row that is a text or an image has none."""
        return bool(self.values) and [name for name, *_ in self.values] != [TEXT]


@attrs.frozen
class ShownContradiction:
    """An explanation that misleads, and two rows side by side that show it.

    Parameters
    ----------
    explanation : ShownExplanation
    scope : str
        How many instances the explanation holds for, and their predictions.
    lines : sequence of str
        Both rows, one in a line, for a terminal.
    rows : RowTable
    bar : tuple of float or None
        Where the bar of the first prediction starts and how long it is, as shares.
    """

    explanation: ShownExplanation
    scope: str
    lines: Sequence[str]
    rows: RowTable
    bar: tuple[float, float] | None = None

    def text(self) -> str:
        """Return the explanation, and below it where it holds and the two rows, after a blank line."""
        lines = [wrap(self.explanation.sentence, "   ")]
        lines += [wrap(f"   {line}", "     ") for line in (self.scope, *self.lines)]
        return "\n".join(["", *lines, ""])
