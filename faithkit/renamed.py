"""The one table of names that moved: whoever writes an old one is told the new one.

Nothing here is an alias. An old option or name is an error, whose message ends with the new spelling.
"""

from collections.abc import Callable, Mapping
from typing import Any

OPTIONS: Mapping[str, str] = {
    "--json": "--out FILE.json, or --out - --format json for stdout",
    "--csv": "--out FILE.csv, or --out - --format csv for stdout",
    "--html": "--out FILE.html, or --out - --format html for stdout",
    "--title": "faithkit report result.json page.html --title TEXT",
    "--note": "faithkit report result.json page.html --note TEXT",
    "--author": "faithkit report result.json page.html --author TEXT",
    "--date": "faithkit report result.json page.html --date TEXT",
}
"""What to write instead of an option that a verb of the kernel no longer has."""

NAMES: Mapping[str, str] = {
    "faithkit.plots": "faithkit_html.plots, which faithkit-html has",
    "Result.plot": "faithkit_html.plots.measures(result), which faithkit-html has",
    "Comparison.plot": "faithkit_html.plots.systems(comparison), which faithkit-html has",
    "Report.plot": "faithkit_html.plots.draw(report), which faithkit-html has",
    "Report.to_json": 'write("result.json"); to_dict() returns the values',
    "Report.to_html": 'write("result.html"), which needs faithkit-html',
}
"""What to write instead of a name, by where it was: ``faithkit.plots``, or ``Evaluation.to_html``."""


def new_spelling(old: str) -> str | None:
    """Return the sentence that says what to write instead of an option or a dotted name.

    >>> new_spelling("--discretize") is None
    True
    """
    new = OPTIONS.get(old) or NAMES.get(old)
    return None if new is None else f"{old} is now {new}"


def with_new_spellings(module: str, import_name: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, whose error says where a name went."""

    def get_name(name: str) -> Any:
        try:
            return import_name(name)
        except AttributeError:
            new = new_spelling(f"{module}.{name}")
            if new is None:
                raise
        raise AttributeError(new)

    return get_name
