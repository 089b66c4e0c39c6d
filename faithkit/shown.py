"""How values look to a person: `print` shows lines, a notebook shows HTML, once, and `repr` is one line.

What they look like is known to `faithkit.report`, which knows these values. It is imported when somebody
looks, so that to measure takes no report.
"""

from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any

VERBOSE: ContextVar[bool] = ContextVar("VERBOSE", default=False)
"""Whether all numbers are shown that a result has: on the command line, --verbose."""


class Shown:
    """A value that people look at.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"] * 9, ["a", "a", "b", "a"] * 9)
    >>> result
    <Evaluation of logged explanations: 36 instances, consistency estimate 0.654 (0.511 – 0.835)>
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


class Report(Shown):
    """A result: people look at it, and programs read what its method `to_dict` tells, as JSON.

    A plugin's report says itself what it looks like. `line()` returns a text for `repr`, and `sheet()` a
    `faithkit.Sheet` for `print`, for notebooks and for `to_html`. It may have two methods more: `draw(ax)`,
    which draws on axes of Matplotlib, and `provenance()`.

    Examples
    --------
    >>> import faithkit
    >>> class Overlap(faithkit.Report):
    ...     def to_dict(self):
    ...         return {"rows": 1500, "overlap": 0.61249}
    ...     def line(self):
    ...         return "of 1,500 rows"
    ...     def sheet(self):
    ...         told = self.to_dict().items()
    ...         return faithkit.Sheet.of("shap and lime", faithkit.Table.of(["number", "value"], told))
    >>> print(Overlap())
    shap and lime
    number   value
    ──────────────
    rows     1,500
    overlap  0.612
    >>> Overlap(), Overlap().to_json().split()
    (<Overlap of 1,500 rows>, ['{', '"rows":', '1500,', '"overlap":', '0.61249', '}'])
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is told of it, as JSON values."""
        raise NotImplementedError

    def to_json(self, path: str | Path | None = None) -> str:
        """Return JSON text, and write it to `path` where one is given; the same question, the same bytes.

        The file is written beside its place and renamed, so that it is never half there.
        """
        from faithkit.files import written
        from faithkit.jsonable import json_text

        return written(json_text(self.to_dict()), path)

    def provenance(self) -> dict[str, str]:
        """Return what the numbers depend on, by name, for the end of the page; a plugin may override it."""
        return {}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the report, on new axes unless some are given; return the axes."""
        return _showing().plot(self, ax)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given."""
        from faithkit.files import written

        return written(_showing().page(self), path)


def _showing() -> Any:
    return import_module("faithkit.report.showing")
