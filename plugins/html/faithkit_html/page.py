"""Render a sheet as HTML: a fragment for notebooks, and one self-contained page."""

import base64
import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from faithkit.plugin import RowTable, Sheet, keep_together, shorten, to_printable
from faithkit_html.figures import add_figures
from faithkit_html.row_pictures import draw_row

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_VALUES = 16  # of a contradiction; further ones are folded
MAX_LETTERS = 300  # of an explanation; a longer one is folded
MAX_SENTENCE = 1000  # letters in a notebook


def sheet_html(sheet: Sheet) -> str:
    """Return a sheet as HTML for a notebook, with its own style for any theme.

    Examples
    --------
    >>> print(sheet_html(Sheet("a < b", ["100 % of 3"])), end="")
    <div class="mathjax_ignore tex2jax_ignore">
    <p><strong>a &lt; b</strong></p>
    <p>100\u00a0% of 3</p>
    </div>
    """
    return _render("fragment.html.jinja", sheet)


def page_html(sheet: Sheet) -> str:
    """Return a sheet as one file that loads nothing and is reproducible to the byte.

    Examples
    --------
    >>> text = page_html(Sheet.of("shap & lime", "They agree."))
    >>> "<h1>shap &amp; lime</h1>" in text, "They agree." in text
    (True, True)
    """
    sheet = add_figures(sheet)
    style, script = _source("page.css"), _source("explore.js") if _is_explorable(sheet) else ""
    parts = {"style": Markup(style), "script": Markup(script), "policy": _policy(style, script)}
    return _render("page.html.jinja", sheet, **parts)


def _render(template: str, sheet: Sheet, **parts: str) -> str:
    text = _environment().get_template(template).render(sheet=sheet, **parts)
    return to_printable(text, keep="\n\t")


def _source(name: str) -> str:
    """Return the text of a file in the folder of templates."""
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _is_explorable(sheet: Sheet) -> bool:
    return any(
        _is_explorable(part) if isinstance(part, Sheet) else _kind(part) == "Exploration"
        for part in sheet.parts
    )


def _policy(style: str, script: str) -> str:
    """Return the content security policy of a page: only its own style, script and inline images.

    Examples
    --------
    >>> _policy("", "").split("; ")[:2]
    ["default-src 'none'", "base-uri 'none'"]
    """
    rules = {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "img-src": "data:",
        "style-src": "'unsafe-inline'",  # for browsers that do not know the next two
        "style-src-elem": _fingerprint(style),
        "style-src-attr": "'unsafe-inline'",
        **({"script-src": _fingerprint(script)} if script else {}),
    }
    return "; ".join(f"{name} {source}" for name, source in rules.items())


def _fingerprint(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _kind(part: Any) -> str:
    """Return the class of a part, by which the template knows it."""
    return type(part).__name__


def _draw_rows(rows: RowTable) -> list[str]:
    """Return the addresses of the rows as PNG files; none unless all of them are images."""
    pictures = [draw_row(image, list(rows.outlines), rows.is_swapped) for image in rows.images]
    return [picture for picture in pictures if picture is not None] if all(pictures) else []


def _cut(sentence: str, level: int) -> str:
    """Return a sentence, shortened in a notebook, where it may contain a long explanation."""
    return sentence if level else shorten(sentence, MAX_SENTENCE)


def _fold(explanation: str) -> str | None:
    """Return the start of an explanation that is too long to be read at once."""
    return shorten(explanation, MAX_LETTERS) if len(explanation) > MAX_LETTERS else None


@cache  # with the templates that it has compiled
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("faithkit_html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"kind": _kind, "fold": _fold, "max_values": MAX_VALUES, "cut": _cut}
    environment.globals["draw_rows"] = _draw_rows
    environment.filters["keep_together"] = keep_together
    return environment
