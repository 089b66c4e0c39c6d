"""`Displayable`: values that print as a table, show as HTML in a notebook, and have a one-line `repr`.

`faithkit.report.value_display` renders them; `faithkit.report.base` registers it here.
"""

from contextvars import ContextVar
from typing import Any, Protocol

VERBOSE: ContextVar[bool] = ContextVar("VERBOSE", default=False)
"""Whether all of a result is shown, and not only its first screen; on the command line, --verbose."""


class Renderer(Protocol):
    """An object that renders values."""

    def line(self, value: Any) -> str:
        """Return one line, for `repr`."""

    def text(self, value: Any) -> str:
        """Return lines, for `print`."""

    def html(self, value: Any) -> str | None:
        """Return HTML, for a notebook; None if it shows the text."""


_renderer: Renderer | None = None


def set_renderer(renderer: Renderer) -> None:
    """Register the renderer of all values."""
    global _renderer
    _renderer = renderer


class Displayable:
    """A value that people look at.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"] * 9, ["a", "a", "b", "a"] * 9)
    >>> result
    <Evaluation of logged explanations: 36 instances, consistency estimate 0.654 (0.511 – 0.835)>
    >>> print(result.local(3))
    prediction: no
    explanation: a
    <BLANKLINE>
    measure      value       interval  holds for  agree
    ───────────────────────────────────────────────────
    consistency  0.308  0.143 – 0.518         27      9
    26 other rows of the sample share it: 0, 1, 4, 5, 7, 8, 9, 11, 12, 13 and 16
    more.
    <BLANKLINE>
    Rows that contradict it:
      - row 0 → yes
      - row 1 → yes
      - row 4 → yes
    """

    __slots__ = ()

    def __str__(self) -> str:
        return _class_name(self) if _renderer is None else _renderer.text(self)

    def __repr__(self) -> str:
        return _class_name(self) if _renderer is None else _renderer.line(self)

    def _repr_html_(self) -> str | None:
        return None if _renderer is None else _renderer.html(self)


def _class_name(value: Any) -> str:
    return f"<{type(value).__name__}>"
