"""Show one result: its measures, their meaning, and the answers to other requests."""

from collections.abc import Mapping, Sequence

import attrs

from faithkit.display import VERBOSE
from faithkit.measure.counting.owners import Owners
from faithkit.measure.explanation_losses import Overview
from faithkit.measure.witnesses import Violation
from faithkit.report.formats import (
    Payload,
    format_number,
    pluralize,
)
from faithkit.report.outcome_words import choose_words
from faithkit.report.payloads import read_confidence, read_control, read_estimates
from faithkit.report.sheets.explore import overview_sheet
from faithkit.report.sheets.first_screen import (
    describe_quality,
    describe_sample,
    describe_subject,
    describe_system,
    first_screen,
    headline_table,
    list_objections,
    verdict_lead,
    warning_leads,
)
from faithkit.report.sheets.groups import label_sheets, subgroup_sheets
from faithkit.report.sheets.instances import violations_sheet
from faithkit.report.sheets.measures import (
    describe_permutations,
    estimate_values,
    explain_measures,
    glossary_sheet,
    list_sample_facts,
    measure_table,
    number_columns,
)
from faithkit.report.sheets.sheet import Bullets, Drawing, Part, Sheet, Table

WITNESSES = 3  # on a page, where nobody says how many


def result_sheet(
    payload: Payload,
    violations: Sequence[Violation] | None = None,
    by_label: bool = False,
    is_dominated: bool = False,
    has_diagnoses: bool = False,
) -> Sheet:
    """Return the first screen of a result, then labels, subgroups and contradictions if requested.

    With `VERBOSE`, all numbers, sentences, diagnoses and next steps are shown.

    Parameters
    ----------
    payload : dict
        The output of `to_dict`, so that a result that was read from a file looks the same.
    violations : sequence of Violation, optional
    by_label, is_dominated, has_diagnoses : bool
        Whether each label was asked for, one label has most of the rows, and diagnoses were asked for.

    Examples
    --------
    >>> import faithkit
    >>> sheet = result_sheet(faithkit.score(["yes", "no"], ["a", "a"]).to_dict())
    >>> sheet.title, sheet.parts[0].word
    ('logged explanations (2 rows)', 'Verdict')
    """
    title = payload["origin"]["title"] or describe_subject(payload)
    if not VERBOSE.get():
        diagnoses = diagnosis_parts(payload) if has_diagnoses else []
        is_dominated = is_dominated and not by_label
        further = _further_parts(payload, violations, by_label)
        return Sheet.of(title, *first_screen(payload, is_dominated), *diagnoses, *further)
    return Sheet.of(
        title,
        verdict_lead(payload),
        *warning_leads(payload),
        *list_objections(payload),
        *list_sample_facts(payload),
        *_without_note(measure_parts(payload), violations),
        *_further_parts(payload, violations, by_label or is_dominated),
        _next_steps(payload),
    )


def result_page(
    payload: Payload,
    violations: Sequence[Violation] | None = None,
    owners: Mapping[str, Owners] | None = None,
    overview: Overview | None = None,
) -> Sheet:
    """Return the full report of a result, with plots, glossary and provenance.

    Local scores are drawn from the owners of each measure; `overview` has the explanations to look through.
    """
    measures = read_estimates(payload)
    unchecked = [
        f"Nothing could be checked for {name}, so it has no curve and no local scores."
        for name, estimate in measures.items()
        if estimate is not None and estimate.verified == 0
    ]
    figures = [Drawing("result", (payload, "result", owners or {})), Drawing("spread", (violations or (),))]
    title = payload["origin"]["title"]
    parts = [
        describe_subject(payload) if title else describe_sample(payload),
        payload["origin"]["note"],
        verdict_lead(payload),
        *warning_leads(payload),
        headline_table(payload),
        *list_objections(payload),
        *list_sample_facts(payload),
        Sheet.of(
            "Measures",
            *_without_note(measure_parts(payload), violations),
            Drawing("measures", (measures, "measures")),
        ),
        glossary_sheet(payload),
        Sheet.of("Behind the numbers", *unchecked, *figures),
        *_further_parts(payload, violations, by_label=True, is_page=True),
        None if overview is None else overview_sheet(overview, choose_words(payload)),
        _next_steps(payload),
        provenance_sheet(
            user_facts(payload) | system_facts(payload) | measuring_facts(payload), payload["versions"]
        ),
    ]
    return Sheet.of(title or describe_system(payload), *parts)


def measure_parts(payload: Payload) -> list[Part | None]:
    """Return both measures: their numbers, their meaning, and the reports of diagnostics."""
    measures, words, control = read_estimates(payload), choose_words(payload), read_control(payload)
    rows = {name: estimate_values(estimate, words) for name, estimate in measures.items()}
    if control is not None:
        rows["sufficiency"]["control"] = format_number(control.estimate)
    columns = number_columns(payload, has_control=control is not None)
    table = measure_table(("measure",), columns, [((name,), values) for name, values in rows.items()])
    sentences = [describe_permutations(payload, measures), *explain_measures(payload)]
    return [table, *sentences, *diagnosis_parts(payload)]


def diagnosis_parts(payload: Payload) -> list[Part | None]:
    """Return the reports of diagnostics."""
    sheets = [Sheet.from_dict(diagnosis["sheet"]) for diagnosis in payload.get("diagnostics") or ()]
    return [part for sheet in sheets for part in (sheet.title, *sheet.parts)]


def _without_note(parts: list[Part | None], violations: Sequence[Violation] | None) -> list[Part | None]:
    """Remove the note that is shown with the contradictions."""
    note = getattr(violations, "note", None) if violations else None
    return [part for part in parts if part != note]


def _further_parts(
    payload: Payload, violations: Sequence[Violation] | None, by_label: bool, is_page: bool = False
) -> list[Sheet]:
    """Return the requested sections: labels, subgroups, contradictions."""
    sheets: list[Sheet] = []
    if "by_label" in payload and by_label:
        sheets += label_sheets(payload["by_label"], has_figures=is_page)
    if "subgroups" in payload:
        sheets += subgroup_sheets(payload, payload["subgroups"], has_figures=is_page)
    if violations is not None:
        pairs = violations_sheet(violations)
        sheets.append(attrs.evolve(pairs, title="Contradictions") if is_page else pairs)
    return sheets


def _next_steps(payload: Payload) -> Sheet | None:
    steps = payload.get("next_steps")
    return Sheet("Next steps:", [Bullets(steps)]) if steps else None


def provenance_sheet(facts: Mapping[str, str | None], versions: Mapping[str, str]) -> Sheet:
    """Return everything that the numbers depend on; unknown facts are left out."""
    sentence = "The same question, asked with these, gives the same page."
    libraries = Table.of_pairs(versions) if versions else None
    return Sheet.of("Provenance", sentence, Table.of_pairs(facts), libraries)


def system_facts(payload: Payload) -> dict[str, str | None]:
    """Return facts about the explanation system."""
    algorithm = ", ".join(f"{name} {value}" for name, value in payload.get("explained_by", {}).items())
    return {
        "explainer": payload["explainer"] or "none: the explanations were logged",
        "explained by": algorithm or None,
        "discretizer": payload["discretizer"],
        "relation of sufficiency": payload["relation"] or "none",
        "relation learnt from": payload["relation_learnt_from"] or "nothing",
        "background": payload["background"] or "none",
    }


def measuring_facts(payload: Payload) -> dict[str, str | None]:
    """Return facts about the measurement."""
    data, origin = payload["data"], payload["origin"]
    columns = "" if data["columns"] is None else f", {pluralize(data['columns'], 'column')}"
    rows = f"{pluralize(data['rows'], 'row')}{columns}"
    return {
        "model": payload["model"] or "none: the predictions were logged",
        "model file": origin["model_file"],
        "model checksum": origin["model_fingerprint"],
        "accuracy": describe_quality(payload),
        "estimator": payload["estimator"],
        "confidence": f"{100 * read_confidence(payload):g} %",
        "permutations": f"{payload['permutations']:,}" if payload["permutations"] else "none",
        "seed": str(payload["seed"]),
        "data": f"{origin['data']}: {rows}" if origin["data"] else rows,
        "data checksum": data["fingerprint"] or "none: not all values have one",
    }


def user_facts(payload: Payload) -> dict[str, str | None]:
    """Return what the user wrote about the result, and the command."""
    return {name: payload["origin"][name] or None for name in ("author", "date", "command")}
