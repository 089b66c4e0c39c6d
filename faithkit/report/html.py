"""Render a sheet as HTML: a fragment for notebooks, and one self-contained page."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from faithkit.measure.counting.owners import Owners
from faithkit.measure.witnesses import Violation
from faithkit.report.formats import Payload, keep_together
from faithkit.report.sheets import comparisons, results
from faithkit.report.sheets.sheet import (
    Bullets,
    Contradiction,
    Figure,
    Lead,
    RowTable,
    Sheet,
    ShownExplanation,
    Table,
)
from faithkit.wording import to_printable

if TYPE_CHECKING:
    from jinja2 import Environment

WITNESSES = 3  # on a page, where nobody says how many
MAX_CELLS = 16  # of a contradiction; further ones are folded
MAX_LETTERS = 300  # of an explanation; a longer one is folded
MAX_SENTENCE = 1000  # letters in a notebook

KINDS = {
    Table: "table",
    Figure: "figure",
    Bullets: "bullets",
    Lead: "lead",
    ShownExplanation: "explanation",
    RowTable: "rows",
    Contradiction: "contradiction",
    Sheet: "sheet",
}


def page(
    payload: Payload,
    violations: Sequence[Violation] | None = None,
    owners: Mapping[str, Owners] | None = None,
) -> str:
    """Return the report on one system as one file: no scripts, no network, the same bytes every time.

    Parameters
    ----------
    payload : dict
        The output of `to_dict` of an evaluation, with its subgroups and its reference where it has some.
    violations : sequence of Violation, optional
        Without them, the page has no section about contradictions.
    owners : mapping of measures to Owners, optional
        What local scores are drawn from.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "no", "no"], ["<b>", "<b>", "c"])
    >>> text = page(result.to_dict(), result.violations())
    >>> "<b>" in text, "&lt;b&gt;" in text
    (False, True)
    """
    return render_page(results.result_page(payload, violations, owners or {}))


def comparison_page(
    payload: Payload,
    owners: Mapping[str, Mapping[str, Owners]] | None = None,
    addition: Sheet | None = None,
) -> str:
    """Return the report on several systems as one file.

    Parameters
    ----------
    payload : dict
        The output of `to_dict` of a comparison.
    owners : mapping of systems to mapping of measures to Owners, optional
    addition : Sheet, optional
        What else is known of the systems; it comes first.

    Examples
    --------
    >>> import faithkit
    >>> labels = ["yes", "no"] * 50
    >>> comparison = faithkit.results.Comparison({"good": faithkit.score(labels, labels)})
    >>> "*: the best" in comparison_page(comparison.to_dict())
    True
    """
    return render_page(comparisons.comparison_page(payload, owners or {}, addition))


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
    return _render("fragment.html.jinja", sheet)


def render_page(sheet: Sheet) -> str:
    """Return a sheet as one file.

    Examples
    --------
    >>> text = render_page(Sheet.of("shap & lime", "They agree."))
    >>> "<h1>shap &amp; lime</h1>" in text, "They agree." in text
    (True, True)
    """
    return _render("page.html.jinja", sheet)


def _render(template: str, sheet: Sheet) -> str:
    return to_printable(_environment().get_template(template).render(sheet=sheet), keep="\n\t")


def _kind(part: Any) -> str:
    return KINDS.get(type(part), "sentence")


def _cut(sentence: str, level: int) -> str:
    """Return a sentence whole on a page, and its start in a notebook, where it may hold an explanation."""
    return sentence if level or len(sentence) <= MAX_SENTENCE else f"{sentence[:MAX_SENTENCE]}…"


def _fold(explanation: str) -> str | None:
    """Return the start of an explanation that is too long to be read at once."""
    return f"{explanation[:MAX_LETTERS]}…" if len(explanation) > MAX_LETTERS else None


@cache  # with the templates that it has compiled
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("faithkit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"kind": _kind, "fold": _fold, "max_cells": MAX_CELLS, "cut": _cut}
    environment.filters["keep_together"] = keep_together
    return environment
