"""Show several explanation systems side by side, and the best of them."""

from collections.abc import Mapping

from faithkit.measure import MEASURES
from faithkit.measure.counting.owners import Owners
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    Payload,
    format_difference,
    format_difference_interval,
    format_number,
    format_p_value,
    pluralize,
)
from faithkit.report.outcome_words import remarks
from faithkit.report.payloads import confidence, interval_name, note, ranked
from faithkit.report.pictures.figures import measure_figure, result_figures
from faithkit.report.sheets.controls import payload_control
from faithkit.report.sheets.glossary import glossary_sheet
from faithkit.report.sheets.measures import measure_table, number_columns, permutation_line, sample_lines
from faithkit.report.sheets.results import measure_parts, measuring_facts, provenance_sheet, system_facts
from faithkit.report.sheets.sheet import Part, Sheet, Table
from faithkit.wording import join_words

PAIRED = "The rows are the same, so differences are paired; p is corrected for the number of pairs (Holm)."


def comparison_sheet(payload: Payload) -> Sheet:
    """Return the systems of a comparison by each measure; those that may be the best are marked."""
    sections = [
        Sheet.of(None, *_systems(payload, measure)) for measure in MEASURES if payload["best"][measure]
    ]
    return Sheet.of(None, *sections, Sheet(None, _remarks(payload)))


def comparison_page(
    payload: Payload, owners: Mapping[str, Mapping[str, Owners]], addition: Sheet | None = None
) -> Sheet:
    """Return all of a comparison: also plots, differences, each system, and the provenance.

    Parameters
    ----------
    payload : dict
    owners : mapping of systems to mapping of measures to Owners
        What local scores are drawn from.
    addition : Sheet, optional
        What else is known of the systems; it comes first.
    """
    systems = payload["systems"]
    first = _first(payload)
    model = f" of {first['model']}" if first["model"] else ""
    versions = dict(sorted(version for system in systems.values() for version in system["versions"].items()))
    details = [_system_sheet(name, system, owners.get(name, {})) for name, system in systems.items()]
    return Sheet.of(
        f"{pluralize(len(systems), 'explanation system')}{model}",
        pluralize(first["n"], "instance"),
        *_remarks(payload),
        addition,
        *(_measure_sheet(payload, measure) for measure in MEASURES),
        glossary_sheet(first),
        Sheet("Each system", details),
        provenance_sheet(measuring_facts(first), versions),
    )


def _systems(payload: Payload, measure: str) -> list[Part | None]:
    """Return the table of one measure, the highest estimate first, and which systems may be the best."""
    best, estimates = payload["best"][measure], ranked(payload, measure)
    rows = [(["*" if name in best else "", name], estimate) for name, estimate in estimates.items()]
    first = _first(payload)
    controls = _controls(payload) if measure == "sufficiency" else None
    table = measure_table(("", measure), rows, first, _columns(payload), controls=controls)
    claim = "the best" if len(best) == 1 else f"these may all be the best: {_tie(payload, measure)}"
    star = f"*: {claim} (paired differences, Holm's correction)." if best else None
    return [*table.cut(), star, permutation_line(first, estimates)]


def _controls(payload: Payload) -> dict[str, str]:
    """Return what the control of each system gets, where it has one."""
    controls = {name: payload_control(system) for name, system in payload["systems"].items()}
    return {
        name: format_number(control.estimate) for name, control in controls.items() if control is not None
    }


def _columns(payload: Payload) -> dict[str, str]:
    """Return the heads of numbers; those of several estimators share one."""
    first, *others = (number_columns(system) for system in payload["systems"].values())
    return first if all(columns == first for columns in others) else {**first, "value": "value"}


def _measure_sheet(payload: Payload, measure: str) -> Sheet:
    estimates = ranked(payload, measure)
    absent = {name: system for name, system in payload["systems"].items() if name not in estimates}
    reasons = [f"Not measured for {names}: {reason}." for reason, names in _reasons(absent).items()]
    if not estimates:
        return Sheet.of(measure.capitalize(), *reasons)
    figure = measure_figure(estimates, measure, payload["best"][measure])
    parts = [*_systems(payload, measure), figure, *reasons, *_differences(payload, measure)]
    return Sheet.of(measure.capitalize(), *parts)


def _differences(payload: Payload, measure: str) -> list[Sheet]:
    pairs = sorted(payload["differences"][measure], key=lambda pair: pair["adjusted_p_value"])
    if not pairs:
        return []
    first = _first(payload)
    rows = [_pair_cells(pair, 1 - confidence(first)) for pair in pairs]
    heads = ("systems", "difference", interval_name(first), "p", "")
    is_sure = any(row[-1] for row in rows)
    caption = f"*: the difference is not 0. {PAIRED}" if is_sure else PAIRED
    return [Sheet.of("Differences", Table(heads, rows), caption)]


def _pair_cells(pair: Payload, alpha: float) -> tuple[str, ...]:
    p_value = pair["adjusted_p_value"]
    interval, star = format_difference_interval(pair["low"], pair["high"]), "*" if p_value < alpha else ""
    names = f"{pair['first']} minus {pair['second']}"
    value = format_difference(pair["value"], pair["low"], pair["high"])
    return names, value, interval, format_p_value(p_value), star


def _reasons(absent: Payload) -> dict[str, str]:
    """Return the systems without sufficiency, by reason."""
    names: dict[str, list[str]] = {}
    for name, system in absent.items():
        names.setdefault(str(system["why_no_sufficiency"]), []).append(name)
    return {reason: join_words(systems) for reason, systems in names.items()}


def _system_sheet(name: str, system: Payload, owners: Mapping[str, Owners]) -> Sheet:
    figures = result_figures(system, name, owners)
    facts = Table.of_pairs(system_facts(system))
    parts = [part for part in (*sample_lines(system), *measure_parts(system), *figures, facts) if part]
    return Sheet(name, parts, is_folded=True)


def _first(payload: Payload) -> Payload:
    """Return one system of a comparison: all have the same predictions."""
    first: Payload = next(iter(payload["systems"].values()))
    return first


def _tie(payload: Payload, measure: str) -> str:
    """Return why several systems may be the best; with most care where next to nothing was checked."""
    estimates = ranked(payload, measure)
    best: dict[str, Estimate] = {name: estimates[name] for name in payload["best"][measure]}
    unchecked = [name for name, estimate in best.items() if estimate.checkability == "unverifiable"]
    if not unchecked:
        return "the sample cannot tell them apart"
    count = "none" if all(best[name].verified == 0 for name in unchecked) else "hardly any"
    if len(unchecked) == len(best):
        return (
            f"which of them is better is not known, since {count} of their explanations could be checked "
            "against another instance"
        )
    return (
        f"the sample cannot tell them apart; of {join_words(unchecked)}, {count} of the explanations could "
        "be checked against another instance"
    )


def _remarks(payload: Payload) -> list[str]:
    """Return what a comparison left out, and what is to be known of predictions and estimators."""
    lines = [f"Left out: {'; '.join(payload['left_out'])}."] if payload["left_out"] else []
    lines += remarks(_first(payload), {})
    systems = payload["systems"].values()
    notes = (note(system, "Order, intervals, differences and p") for system in systems)
    return lines + [line for line in notes if line][:1]
