"""How values look to a person: `print` shows lines, a notebook shows HTML, once, and `repr` is one line.

What they look like is known to `faithkit.report`, which knows these values. It is imported when somebody
looks, so that to measure takes no report.
"""

from importlib import import_module
from typing import Any


class Shown:
    """A value that people look at.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"] * 9, ["a", "a", "b", "a"] * 9)
    >>> result
    <Evaluation of logged explanations: 36 instances, consistency at least 0.654 (0.523 – 0.831)>
    >>> result._repr_html_().startswith("<div ")
    True
    >>> print(result.local(3))
    prediction: no
    explanation: a
    <BLANKLINE>
    measure      value       interval  holds for  agree
    ───────────────────────────────────────────────────
    consistency  0.308  0.143 – 0.518         27      9
    26 other rows of the sample share it: 0, 1, 4, 5, 7, 8, 9, 11, 12, 13 and 16
    more.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return _showing().text(self)

    def __repr__(self) -> str:
        return _showing().line(self)

    def _repr_html_(self) -> str:
        return _showing().html(self)


def _showing() -> Any:
    return import_module("faithkit.report.showing")
