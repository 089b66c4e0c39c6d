"""Results as one self-contained HTML page, and as a fragment for notebooks."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from faithkit.measure.counting.owners import Owners
from faithkit.measure.witnesses import Violation
from faithkit.report.formats import Payload, unbroken
from faithkit.report.pages import comparison_view, findings_view
from faithkit.report.plots import chart, chart_axes
from faithkit.report.sheets import Sheet, Table, diagnostic_sheets
from faithkit.report.svg import drawn
from faithkit.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.axes import Axes

WITNESSES = 3  # on a page, where nobody says how many


def page(
    told: Payload, violations: Sequence[Violation] | None = None, owners: Mapping[str, Owners] | None = None
) -> str:
    """Return the report on one system as one file: no scripts, no network, the same bytes every time.

    Parameters
    ----------
    told : dict
        What `to_dict` tells of an evaluation, with its subgroups and its reference where it has some.
    violations : sequence of Violation, optional
        Without them, nothing is said about witnesses.
    owners : mapping of measures to Owners, optional
        What the local scores are drawn from.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no", "no"], ["<b>", "<b>", "c"])
    >>> text = page(result.to_dict(), result.violations())
    >>> "<b>" in text, "&lt;b&gt;" in text
    (False, True)
    """
    more = {"diagnostics": diagnostic_sheets(told), "is_table": _is_table}
    return _rendered("findings.html.jinja", findings_view(told, violations, owners or {}) | more)


def comparison_page(
    told: Payload, owners: Mapping[str, Mapping[str, Owners]] | None = None, more: Sheet | None = None
) -> str:
    """Return the report on several systems, of what `to_dict` tells of them and of the owners of each.

    What else is known of them may come first, as a sheet.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 50
    >>> found = faithkit.results.Comparison({"good": faithkit.score(labels, labels)})
    >>> "The best is good." in comparison_page(found.to_dict())
    True
    """
    view = comparison_view(told, owners or {}) | {"more": more, "is_table": _is_table}
    return _rendered("comparison.html.jinja", view)


def sheet_html(sheet: Sheet) -> str:
    """Return a sheet as a notebook shows it: in its own style, whatever its theme.

    Examples
    --------
    >>> print(sheet_html(Sheet("a < b", ["100 % of 3"])), end="")
    <div class="mathjax_ignore tex2jax_ignore">
    <p><strong>a &lt; b</strong></p>
    <p>100\u00a0% of 3</p>
    </div>
    """
    return _rendered("sheet.html.jinja", {"sheet": sheet, "unbroken": unbroken, "is_table": _is_table})


def _is_table(part: Table | str) -> bool:
    return isinstance(part, Table)


def report_page(
    sheet: Sheet, draw: "Callable[[Axes], object] | None" = None, provenance: Mapping[str, str] | None = None
) -> str:
    """Return a plugin's report as one file: its sheet, its plot if it has one, and its provenance.

    Examples
    --------
    >>> text = report_page(Sheet.of("shap & lime", "They agree."), provenance={"seed": "0"})
    >>> "<h1>shap &amp; lime</h1>" in text, "They agree." in text, "Provenance" in text
    (True, True, True)
    """
    title = sheet.title or "report"
    plot = None if draw is None else drawn(partial(chart, draw), chart_axes, title, "plot")
    view: dict[str, Any] = {
        "headline": title,
        "model": None,
        "facts": [],
        "sheet": Sheet(None, sheet.parts),
        "is_table": _is_table,
        "plot": plot,
        "provenance": dict(provenance or {}),
        "versions": {},
    }
    return _rendered("report.html.jinja", view)


def _rendered(template: str, view: dict[str, Any]) -> str:
    return visible(_environment().get_template(template).render(view), keep="\n\t")


@cache  # with the templates that it has compiled
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("faithkit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
