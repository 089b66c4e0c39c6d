"""What the page about several explanation systems shows: each measure's ranking, differences, and details."""

from collections.abc import Mapping

from faithkit.measure import MEASURES
from faithkit.measure.slots import Slots
from faithkit.report.figures import figures, lines
from faithkit.report.formats import Told, confidence, interval_name, plural, ranked, remarks
from faithkit.report.views import (
    View,
    difference_view,
    estimate_view,
    fragment_view,
    measuring_facts,
    system_facts,
)
from faithkit.wording import listing


def comparison_view(told: Told, slots: Mapping[str, Mapping[str, Slots]]) -> View:
    """Return several systems side by side, and each on its own."""
    shown, systems = compared_view(told), told["systems"]
    first = next(iter(systems.values()))
    return {
        **shown,
        "headline": plural(len(systems), "explanation system"),
        "model": first["model"],
        "facts": [plural(first["n"], "instance")],
        "measures": [table | _details(told, table["name"]) for table in shown["measures"]],
        "systems": [
            {
                **fragment_view(one),
                "name": name,
                "figures": figures(one, name, slots.get(name, {})),
                "provenance": system_facts(one),
            }
            for name, one in systems.items()
        ],
        "provenance": measuring_facts(first),
        "versions": dict(sorted(known for one in systems.values() for known in one["versions"].items())),
    }


def compared_view(told: Told) -> View:
    """Return the tables of systems that fit between the cells of a notebook."""
    return {
        "interval": interval_name(next(iter(told["systems"].values()))),
        "measures": [_table(told, measure) for measure in MEASURES],
        "remarks": remarks(told),
    }


def _table(told: Told, measure: str) -> View:
    best = told["best"][measure]
    mark = "best" if len(best) == 1 else "may be the best"
    rows = [
        {"name": name, "mark": mark if name in best else "", **estimate_view(one)}
        for name, one in ranked(told, measure).items()
    ]
    return {"name": measure, "rows": rows, "sentence": _best_sentence(best)}


def _details(told: Told, measure: str) -> View:
    found = ranked(told, measure)
    alpha = 1 - confidence(next(iter(told["systems"].values())))
    pairs = sorted(told["differences"][measure], key=lambda pair: pair["adjusted_p_value"])
    absent = {name: one for name, one in told["systems"].items() if name not in found}
    return {
        "plot": lines(found, measure, told["best"][measure]) if found else None,
        "pairs": [_pair(pair, alpha) for pair in pairs],
        "absent": _reasons(absent),
    }


def _best_sentence(best: list[str]) -> str:
    if len(best) > 1:
        return f"{len(best)} systems may be the best: the sample cannot tell them apart."
    return f"The best is {best[0]}." if best else "No system has a value."


def _reasons(absent: Told) -> dict[str, str]:
    """Return the systems without sufficiency, by reason."""
    names: dict[str, list[str]] = {}
    for name, one in absent.items():
        names.setdefault(str(one["why_no_sufficiency"]), []).append(name)
    return {reason: listing(those) for reason, those in names.items()}


def _pair(pair: Told, alpha: float) -> View:
    numbers = difference_view(pair["value"], pair["low"], pair["high"], pair["adjusted_p_value"], alpha)
    return {"first": pair["first"], "second": pair["second"], **numbers}
