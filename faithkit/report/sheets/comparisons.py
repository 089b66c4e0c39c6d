"""Show several explanation systems side by side, and the best of them."""

from collections.abc import Mapping

from faithkit.measure import MEASURES
from faithkit.measure.counting.owners import Owners
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    CHANCE,
    Payload,
    format_number,
    format_percent,
    name_interval,
    pluralize,
)
from faithkit.report.outcome_words import choose_words, remark_on_predictions
from faithkit.report.payloads import (
    join_by_reason,
    note_estimator,
    rank_systems,
    read_confidence,
    read_control,
    read_estimates,
)
from faithkit.report.sheets.first_screen import describe_sample
from faithkit.report.sheets.measures import (
    CONTROL,
    WORTH,
    describe_permutations,
    difference_values,
    estimate_values,
    glossary_sheet,
    list_sample_facts,
    measure_table,
    number_columns,
)
from faithkit.report.sheets.results import (
    measure_parts,
    measuring_facts,
    provenance_sheet,
    system_facts,
    user_facts,
)
from faithkit.report.sheets.sheet import Drawing, Part, Sheet, Table

PAIRED = "The rows are the same, so differences are paired; p is corrected for the number of pairs (Holm)."


def comparison_sheet(payload: Payload) -> Sheet:
    """Return the systems of a comparison by each measure; those that may be the best are marked."""
    measures = [measure for measure in MEASURES if payload["ranked"][measure]]
    stars = [_explain_star(payload, measure) for measure in measures]
    has_common_star = len(set(stars)) == 1  # then one sentence explains all marks
    sections = [
        Sheet.of(None, *_list_systems(payload, measure, None if has_common_star else star))
        for measure, star in zip(measures, stars, strict=True)
    ]
    sections += [Sheet(None, [stars[0]])] if has_common_star else []
    sections += [Sheet.of(None, *_list_not_comparable(payload))]
    return Sheet.of(
        _choose_title(payload), *_list_lead_lines(payload), *sections, Sheet(None, _list_remarks(payload))
    )


def comparison_page(
    payload: Payload,
    owners: Mapping[str, Mapping[str, Owners]] | None = None,
    addition: Sheet | None = None,
) -> Sheet:
    """Return the full report of a comparison, with plots, differences, each system, and provenance.

    Local scores are drawn from the owners of each system. `addition` has what else is known of the systems.
    """
    systems = payload["systems"]
    first = _first_system(payload)
    versions = dict(sorted(version for system in systems.values() for version in system["versions"].items()))
    details = [_system_sheet(name, system, (owners or {}).get(name, {})) for name, system in systems.items()]
    return Sheet.of(
        _choose_title(payload),
        *_list_lead_lines(payload),
        *_list_remarks(payload),
        _worth_figure(payload),
        addition,
        *(_measure_sheet(payload, measure) for measure in MEASURES),
        _not_comparable_sheet(payload),
        glossary_sheet(first),
        Sheet("Each system", details),
        provenance_sheet(measuring_facts(first) | user_facts(first), versions),
    )


def _choose_title(payload: Payload) -> str:
    return _first_system(payload)["origin"]["title"] or _describe_subject(payload)


def _list_lead_lines(payload: Payload) -> list[str | None]:
    """Return the subject of a comparison with a title of its own, the user's note, and the system to use."""
    origin, recommendation = _first_system(payload)["origin"], payload["recommendation"]
    system, reason = recommendation["system"], recommendation["reason"]
    return [
        _describe_subject(payload) if origin["title"] else None,
        origin["note"],
        f"Use {system}: {reason}." if system else reason,
    ]


def _describe_subject(payload: Payload) -> str:
    """Return what was compared: the number of systems, the model, the data and their size."""
    first = _first_system(payload)
    model = f" of {first['model']}" if first["model"] else ""
    data = f" on {first['origin']['data']}" if first["origin"]["data"] else ""
    systems = pluralize(len(payload["systems"]), "explanation system")
    return f"{systems}{model}{data} ({describe_sample(first)})"


def _worth_figure(payload: Payload) -> Part | None:
    """Return the plot of worth against simplicity, if two systems could be checked and have a worth."""
    points = worth_points(payload)
    return Drawing("worth", (points, payload["best"]["sufficiency"])) if len(points) > 1 else None


def worth_points(payload: Payload) -> dict[str, tuple[int, float, float, float]]:
    """Return the number of explanations, the worth and its interval of each system that could be checked."""
    controls = {
        name: read_control(payload["systems"][name])
        for name, estimate in rank_systems(payload, "sufficiency").items()
        if estimate.checkability != "unverifiable"
    }
    worths = {name: control.worth for name, control in controls.items() if control and control.worth}
    return {
        name: (payload["systems"][name]["n_explanations"], worth.value, worth.low, worth.high)
        for name, worth in worths.items()
    }


def _list_systems(payload: Payload, measure: str, star: str | None) -> list[Part | None]:
    """Return the table of one measure, the highest estimate first, and which systems may be the best."""
    estimates, worth_columns = rank_systems(payload, measure), _worth_columns(payload, measure)
    first = _first_system(payload)
    table = _system_table(payload, measure, estimates, worth_columns)
    baseline = next((estimate.chance for estimate in estimates.values() if estimate.chance is not None), None)
    chance = None if baseline is None else f"The {CHANCE} is {format_number(baseline)}."
    meanings = f"{CONTROL} {WORTH}" if worth_columns else None
    return [*table.cut(), chance, meanings, star, describe_permutations(first, estimates)]


def _system_table(
    payload: Payload, measure: str, estimates: Mapping[str, Estimate], worth_columns: Mapping[str, str]
) -> Table:
    """Return a row for each system; those that may be the best are marked."""
    best, outcome = payload["best"][measure], choose_words(_first_system(payload))
    columns = {**_columns(payload), **worth_columns, "explanations": "distinct explanations"}
    rows = [
        (
            ("*" if name in best else "", name),
            estimate_values(estimate, outcome) | _system_values(payload["systems"][name]),
        )
        for name, estimate in estimates.items()
    ]
    return measure_table(("", measure), columns, rows)


def _list_not_comparable(payload: Payload) -> list[Part | None]:
    """Return the consistency of the systems that have no sufficiency where another has it."""
    systems = {name: payload["systems"][name] for name in payload["not_comparable"]}
    if not systems:
        return []
    estimates = {name: read_estimates(system)["consistency"] for name, system in systems.items()}
    measured = {name: estimate for name, estimate in estimates.items() if estimate is not None}
    reasons = {name: str(system["why_no_sufficiency"]) for name, system in systems.items()}
    lines = [f"{names}: {reason}." for reason, names in join_by_reason(reasons).items()]
    return [
        "Not comparable with the systems above, because sufficiency was not measured:",
        *_system_table(payload, "consistency", measured, {}).cut(),
        *lines,
    ]


def _not_comparable_sheet(payload: Payload) -> Sheet | None:
    parts = _list_not_comparable(payload)
    return Sheet.of("Not comparable", *parts) if parts else None


def _explain_star(payload: Payload, measure: str) -> str:
    """Explain the mark; a system that could not be checked has none."""
    best = payload["best"][measure]
    if not best:
        return "None is marked: hardly any explanation could be checked against another instance."
    rank = "the best" if len(best) == 1 else "the best, or not shown to be worse than the best,"
    return f"*: {rank} of the systems that could be checked (paired differences, Holm's correction)."


def _worth_columns(payload: Payload, measure: str) -> dict[str, str]:
    has_control = any(read_control(system) for system in payload["systems"].values())
    return {"control": "control", "worth": "worth"} if has_control and measure == "sufficiency" else {}


def _system_values(system: Payload) -> dict[str, str]:
    """Return the number of explanations of a system, and its control and worth if it has them."""
    control = read_control(system)
    values = {"explanations": f"{system['n_explanations'] - system['unexplained']:,}"}
    if control is not None:
        values["control"] = format_number(control.estimate)
        values["worth"] = "–" if control.worth is None else format_percent(control.worth.value)
    return values


def _columns(payload: Payload) -> dict[str, str]:
    """Return the headings of the numbers of systems; different estimators share one."""
    first, *others = (number_columns(system) for system in payload["systems"].values())
    columns = first if all(columns == first for columns in others) else {**first, "value": "value"}
    return {key: head for key, head in columns.items() if key not in ("agree", "chance")}


def _measure_sheet(payload: Payload, measure: str) -> Sheet:
    estimates = rank_systems(payload, measure)
    if not estimates:  # then no system has it
        absent = {name: str(system["why_no_sufficiency"]) for name, system in payload["systems"].items()}
        reasons = (f"Not measured for {names}: {reason}." for reason, names in join_by_reason(absent).items())
        return Sheet.of(measure.capitalize(), *reasons)
    return Sheet.of(
        measure.capitalize(),
        *_list_systems(payload, measure, _explain_star(payload, measure)),
        Drawing("measures", (estimates, measure, payload["best"][measure])),
        _difference_sheet(payload, measure),
    )


def _difference_sheet(payload: Payload, measure: str) -> Sheet | None:
    pairs = sorted(payload["differences"][measure], key=lambda pair: pair["adjusted_p_value"])
    if not pairs:
        return None
    first = _first_system(payload)
    alpha = 1 - read_confidence(first)
    rows = [
        (
            f"{pair['first']} minus {pair['second']}",
            *difference_values(pair["value"], pair["low"], pair["high"], pair["adjusted_p_value"], alpha),
        )
        for pair in pairs
    ]
    heads = ("systems", "difference", name_interval(read_confidence(first)), "p", "")
    is_sure = any(row[-1] for row in rows)
    caption = f"*: the difference is not 0. {PAIRED}" if is_sure else PAIRED
    return Sheet.of("Differences", Table(heads, rows), caption)


def _system_sheet(name: str, system: Payload, owners: Mapping[str, Owners]) -> Sheet:
    figures = Drawing("result", (system, name, owners))
    facts = Table.of_pairs(system_facts(system))
    parts = [part for part in (*list_sample_facts(system), *measure_parts(system), figures, facts) if part]
    return Sheet(name, parts, is_folded=True)


def _first_system(payload: Payload) -> Payload:
    """Return one system of a comparison: all have the same predictions."""
    first: Payload = next(iter(payload["systems"].values()))
    return first


def _list_remarks(payload: Payload) -> list[str]:
    """Say what a comparison left out, and return remarks on predictions and estimators."""
    lines = [f"Left out: {'; '.join(payload['left_out'])}."] if payload["left_out"] else []
    lines += remark_on_predictions(_first_system(payload), {})
    systems = payload["systems"].values()
    notes = (note_estimator(system, "Order, intervals, differences and p") for system in systems)
    return lines + [line for line in notes if line][:1]
