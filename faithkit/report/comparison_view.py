"""What the page about several explanation systems shows: each measure's ranking, differences, and details."""

from typing import TYPE_CHECKING

from faithkit.measure import MEASURES
from faithkit.report.figures import figures, lines
from faithkit.report.formats import interval_name, left_out_line, ordering, plural
from faithkit.report.views import (
    View,
    difference_view,
    estimate_view,
    fragment_view,
    measuring_facts,
    system_facts,
)
from faithkit.wording import listing

if TYPE_CHECKING:
    from faithkit.run.comparison import Comparison, Pair


def comparison_view(found: "Comparison") -> View:
    """Return several systems side by side, and each on its own."""
    first = next(iter(found.results.values()))
    versions = [result.to_dict()["versions"] for result in found.results.values()]
    return {
        "headline": plural(len(found.results), "explanation system"),
        "model": first.provenance.model,
        "facts": [plural(first.n, "instance")],
        "interval": interval_name(first),
        "remarks": [line for line in (left_out_line(found), ordering(found)) if line],
        "measures": [_table(found, measure) | _details(found, measure) for measure in MEASURES],
        "systems": [
            {
                **fragment_view(result),
                "name": name,
                "figures": figures(result, name),
                "provenance": system_facts(result),
            }
            for name, result in found.results.items()
        ],
        "provenance": measuring_facts(first),
        "versions": dict(sorted((name, told) for held in versions for name, told in held.items())),
    }


def compared_view(found: "Comparison") -> View:
    """Return the tables of systems that fit between the cells of a notebook."""
    first = next(iter(found.results.values()))
    return {
        "interval": interval_name(first),
        "measures": [_table(found, measure) for measure in MEASURES],
        "remarks": [line for line in (left_out_line(found), ordering(found)) if line],
    }


def _table(found: "Comparison", measure: str) -> View:
    best = found.best(measure)
    mark = "best" if len(best) == 1 else "may be the best"
    rows = [
        {"name": name, "mark": mark if name in best else "", **estimate_view(one)}
        for name, one in found.ranked(measure).items()
    ]
    return {"name": measure, "rows": rows, "sentence": _best_sentence(best)}


def _details(found: "Comparison", measure: str) -> View:
    first, ranked = next(iter(found.results.values())), found.ranked(measure)
    pairs = sorted(found.pairs(measure), key=lambda pair: pair.adjusted)
    return {
        "plot": lines(ranked, measure, found.best(measure)) if ranked else None,
        "pairs": [_pair(pair, 1 - first.confidence) for pair in pairs],
        "absent": _reasons(found, [name for name in found.results if name not in ranked]),
    }


def _best_sentence(best: list[str]) -> str:
    if len(best) > 1:
        return f"{len(best)} systems may be the best: the sample cannot tell them apart."
    return f"The best is {best[0]}." if best else "No system has a value."


def _reasons(found: "Comparison", absent: list[str]) -> dict[str, str]:
    """Return the systems without sufficiency, by reason."""
    names: dict[str, list[str]] = {}
    for name in absent:
        names.setdefault(str(found.results[name].why_no_sufficiency), []).append(name)
    return {reason: listing(those) for reason, those in names.items()}


def _pair(pair: "Pair", alpha: float) -> View:
    change = pair.difference
    numbers = difference_view(change.value, change.low, change.high, pair.adjusted, alpha)
    return {"first": pair.first, "second": pair.second, **numbers}
