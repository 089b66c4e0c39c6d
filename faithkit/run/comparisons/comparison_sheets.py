"""Show several explanation systems side by side, and the best of them."""

from collections.abc import Mapping

from faithkit.measure import MEASURES
from faithkit.measure.estimate import Estimate
from faithkit.report.formats import (
    CHANCE,
    format_number,
    format_percent,
    join_by_reason,
    name_interval,
    pluralize,
)
from faithkit.report.sheet import Levels, Part, Sheet, Table, provenance_sheet
from faithkit.run.comparisons.ranking import Ranking
from faithkit.run.result import Result
from faithkit.run.sheets.first_screen import describe_sample
from faithkit.run.sheets.measures import (
    CONTROL,
    WORTH,
    describe_permutations,
    glossary_sheet,
    list_sample_facts,
    measure_table,
    note_estimator,
    number_columns,
    remark_on_predictions,
)
from faithkit.run.sheets.results import measure_parts, measuring_facts, system_facts, user_facts

Parts = list[str | Part | Sheet | None]

PAIRED = "The rows are the same, so differences are paired; p is corrected for the number of pairs (Holm)."


def comparison_sheet(ranking: Ranking) -> Sheet:
    """Return the systems of a comparison by each measure; those that may be the best are marked."""
    measures = [measure for measure in MEASURES if ranking.ranked(measure)]
    stars = [_explain_star(ranking, measure) for measure in measures]
    has_common_star = len(set(stars)) == 1  # then one sentence explains all marks
    sections = [
        Sheet.of(None, *_list_systems(ranking, measure, None if has_common_star else star))
        for measure, star in zip(measures, stars, strict=True)
    ]
    sections += [Sheet(None, [stars[0]])] if has_common_star else []
    sections += [Sheet.of(None, *_list_not_comparable(ranking))]
    return Sheet.of(
        _choose_title(ranking), *_list_lead_lines(ranking), *sections, Sheet(None, _list_remarks(ranking))
    )


def comparison_page(ranking: Ranking, addition: Sheet | None = None) -> Sheet:
    """Return the full report of a comparison, with differences, each system, and provenance.

    `addition` has what else is known of the systems.
    """
    systems, first = ranking.results, ranking.first
    versions = sorted(item for system in systems.values() for item in system.setup.versions.items())
    details = [_system_sheet(name, system) for name, system in systems.items()]
    return Sheet.of(
        _choose_title(ranking),
        *_list_lead_lines(ranking),
        *_list_remarks(ranking),
        Sheet(None, [], shows=ranking),
        addition,
        *(_measure_sheet(ranking, measure) for measure in MEASURES),
        _not_comparable_sheet(ranking),
        glossary_sheet(first),
        Sheet("Each system", details),
        provenance_sheet(measuring_facts(first) | user_facts(first), dict(versions)),
    )


def _choose_title(ranking: Ranking) -> str:
    return ranking.first.origin.title or _describe_subject(ranking)


def _list_lead_lines(ranking: Ranking) -> list[str | None]:
    """Return the subject of a comparison with a title of its own, the user's note, and the system to use."""
    origin, recommendation = ranking.first.origin, ranking.recommendation
    system, reason = recommendation.system, recommendation.reason
    return [
        _describe_subject(ranking) if origin.title else None,
        origin.note,
        f"Use {system}: {reason}." if system else reason,
    ]


def _describe_subject(ranking: Ranking) -> str:
    """Return what was compared: the number of systems, the model, the data and their size."""
    first = ranking.first
    model = f" of {first.setup.model}" if first.setup.model else ""
    data = f" on {first.origin.data}" if first.origin.data else ""
    systems = pluralize(len(ranking.results), "explanation system")
    return f"{systems}{model}{data} ({describe_sample(first)})"


def _list_systems(ranking: Ranking, measure: str, star: str | None) -> Parts:
    """Return the table of one measure, the highest estimate first, and which systems may be the best."""
    estimates, worth_columns = ranking.ranked(measure), _worth_columns(ranking, measure)
    first = ranking.first
    table = _system_table(ranking, measure, estimates, worth_columns)
    baseline = next((estimate.chance for estimate in estimates.values() if estimate.chance is not None), None)
    chance = None if baseline is None else f"The {CHANCE} is {format_number(baseline)}."
    meanings = f"{CONTROL} {WORTH}" if worth_columns else None
    return [*table.cut(), chance, meanings, star, describe_permutations(first, estimates)]


def _system_table(
    ranking: Ranking, measure: str, estimates: Mapping[str, Estimate], worth_columns: Mapping[str, str]
) -> Table:
    """Return a row for each system; those that may be the best are marked."""
    best, words = ranking.best(measure), ranking.first.setup.outcome.words
    columns = {**_columns(ranking), **worth_columns, "explanations": "distinct explanations"}
    rows = [
        (
            ("*" if name in best else "", name),
            estimate.texts(words) | _system_values(ranking.results[name]),
        )
        for name, estimate in estimates.items()
    ]
    return measure_table(("", measure), columns, rows)


def _list_not_comparable(ranking: Ranking) -> Parts:
    """Return the consistency of the systems that have no sufficiency where another has it."""
    systems = {name: ranking.results[name] for name in ranking.not_comparable}
    if not systems:
        return []
    estimates = {name: system.consistency for name, system in systems.items()}
    reasons = {name: system.why_no_sufficiency for name, system in systems.items()}
    lines = [f"{names}: {reason}." for reason, names in join_by_reason(reasons).items()]
    return [
        "Not comparable with the systems above, because sufficiency was not measured:",
        *_system_table(ranking, "consistency", estimates, {}).cut(),
        *lines,
    ]


def _not_comparable_sheet(ranking: Ranking) -> Sheet | None:
    parts = _list_not_comparable(ranking)
    return Sheet.of("Not comparable", *parts) if parts else None


def _explain_star(ranking: Ranking, measure: str) -> str:
    """Explain the mark; a system that could not be checked has none."""
    best = ranking.best(measure)
    if not best:
        return "None is marked: hardly any explanation could be checked against another instance."
    rank = "the best" if len(best) == 1 else "the best, or not shown to be worse than the best,"
    return f"*: {rank} of the systems that could be checked (paired differences, Holm's correction)."


def _worth_columns(ranking: Ranking, measure: str) -> dict[str, str]:
    has_control = any(system.control for system in ranking.results.values())
    return {"control": "control", "worth": "worth"} if has_control and measure == "sufficiency" else {}


def _system_values(system: Result) -> dict[str, str]:
    """Return the number of explanations of a system, and its control and worth if it has them."""
    control = system.control
    values = {"explanations": f"{system.n_explanations - system.unexplained:,}"}
    if control is not None:
        values["control"] = format_number(control.estimate)
        values["worth"] = "–" if control.worth is None else format_percent(control.worth.value)
    return values


def _columns(ranking: Ranking) -> dict[str, str]:
    """Return the headings of the numbers of systems; different estimators share one."""
    first, *others = (number_columns(system) for system in ranking.results.values())
    columns = first if all(columns == first for columns in others) else {**first, "value": "value"}
    return {key: head for key, head in columns.items() if key not in ("agree", "chance")}


def _measure_sheet(ranking: Ranking, measure: str) -> Sheet:
    estimates = ranking.ranked(measure)
    if not estimates:  # then no system has it
        absent = {name: system.why_no_sufficiency for name, system in ranking.results.items()}
        reasons = (f"Not measured for {names}: {reason}." for reason, names in join_by_reason(absent).items())
        return Sheet.of(measure.capitalize(), *reasons)
    return Sheet.of(
        measure.capitalize(),
        *_list_systems(ranking, measure, _explain_star(ranking, measure)),
        _difference_sheet(ranking, measure),
        shows=Levels(estimates, ranking.best(measure)),
    )


def _difference_sheet(ranking: Ranking, measure: str) -> Sheet | None:
    pairs = sorted(ranking.pairs(measure), key=lambda pair: pair.adjusted)
    if not pairs:
        return None
    rows = [(f"{pair.first} minus {pair.second}", *pair.difference.texts(pair.adjusted)) for pair in pairs]
    heads = ("systems", "difference", name_interval(ranking.first.confidence), "p", "")
    is_sure = any(row[-1] for row in rows)
    caption = f"*: the difference is not 0. {PAIRED}" if is_sure else PAIRED
    return Sheet.of("Differences", Table(heads, rows), caption)


def _system_sheet(name: str, system: Result) -> Sheet:
    facts = Table.of_pairs(system_facts(system))
    parts = [part for part in (*list_sample_facts(system), *measure_parts(system), facts) if part]
    return Sheet(name, parts, is_folded=True, shows=system)


def _list_remarks(ranking: Ranking) -> list[str]:
    """Say what a comparison left out, and return remarks on predictions and estimators."""
    lines = [f"Left out: {'; '.join(ranking.left_out)}."] if ranking.left_out else []
    lines += remark_on_predictions(ranking.first.setup.outcome)
    systems = ranking.results.values()
    notes = (note_estimator(system, "Order, intervals, differences and p") for system in systems)
    return lines + [line for line in notes if line][:1]
