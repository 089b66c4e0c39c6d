"""Results as one self-contained HTML page, and as a fragment for notebooks."""

from typing import Any

from faithkit.report.comparison_view import compared_view, comparison_view
from faithkit.report.findings_view import findings_view
from faithkit.report.views import fragment_view
from faithkit.wording import visible


def page(found: Any) -> str:
    """Return the report as one file: no scripts, no network, the same bytes for the same result.

    Parameters
    ----------
    found : Findings or Comparison

    Examples
    --------
    >>> import faithkit
    >>> from faithkit.run.findings import Findings
    >>> text = page(Findings(faithkit.score(["yes", "no", "no"], ["<b>", "<b>", "c"])))
    >>> "<b>" in text, "&lt;b&gt;" in text
    (False, True)
    """
    if hasattr(found, "results"):  # asked like this because `run` imports `report`, never the other way
        return _rendered("comparison.html.jinja", comparison_view(found))
    return _rendered("findings.html.jinja", findings_view(found))


def fragment(found: Any) -> str:
    """Return what a notebook shows: the tables and sentences, without any style of our own.

    Parameters
    ----------
    found : Evaluation or Comparison

    Examples
    --------
    >>> import faithkit
    >>> fragment(faithkit.score(["yes", "no"], ["a", "a"])).startswith("<div>")
    True
    """
    if hasattr(found, "results"):
        return _rendered("compared.html.jinja", compared_view(found))
    return _rendered("fragment.html.jinja", fragment_view(found))


def _rendered(template: str, view: dict[str, Any]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("faithkit.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return visible(environment.get_template(template).render(view), keep="\n\t")
