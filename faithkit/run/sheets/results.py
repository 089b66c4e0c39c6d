"""The sheets of one result: what `print` shows, all of it with --verbose, and a page."""

from collections.abc import Sequence
from typing import Any

import attrs

from faithkit.measure.explanation_losses import Overview
from faithkit.measure.instances.contradictions import Contradictions
from faithkit.report import VERBOSE
from faithkit.report.formats import format_number, pluralize
from faithkit.report.sheet import Bullets, Levels, Part, Sheet, provenance_sheet
from faithkit.run.comparisons.subgroups import Subgroups
from faithkit.run.result import Result
from faithkit.run.sheets.first_screen import (
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
from faithkit.run.sheets.measures import (
    describe_permutations,
    estimate_texts,
    explain_measures,
    glossary_sheet,
    list_sample_facts,
    measure_table,
    number_columns,
)

Parts = Sequence[str | Part | Sheet | None]


@attrs.frozen(eq=False, kw_only=True)
class Answers:
    """What else was asked of a result.

    `by_label` says whether
    texts show each predicted label, even if none has most of the rows.
    """

    by_label: bool = False
    subgroups: Subgroups[Any] | None = None
    contradictions: Contradictions | None = None
    drift: Sheet | None = None

    def sections(self, result: Result, by_label: bool) -> list[Sheet]:
        """Return the requested sections: drift, labels, subgroups, contradictions."""
        sheets = [] if self.drift is None else [self.drift]
        if by_label and result.has_labels_measured:
            sheets += result.by_label().sections()
        if self.subgroups is not None:
            sheets += self.subgroups.sections()
        if self.contradictions is not None:
            sheets.append(self.contradictions.sheet())
        return sheets


NOTHING_ASKED = Answers()


def result_sheet(result: Result, answers: Answers = NOTHING_ASKED) -> Sheet:
    """Return the first screen of a result, then drift, labels, subgroups and contradictions if requested.

    With `VERBOSE`, all numbers, sentences, diagnoses and next steps are shown.

    Examples
    --------
    >>> import faithkit
    >>> sheet = result_sheet(faithkit.score(["yes", "no"], ["a", "a"]))
    >>> sheet.title, sheet.parts[0].word
    ('logged explanations (2 rows)', 'Verdict')
    """
    title, is_dominated = result.origin.title or describe_subject(result), result.has_dominant_label
    if not VERBOSE.get():
        diagnoses = diagnosis_parts(result, printed=True)
        lead = first_screen(result, is_dominated and not answers.by_label)
        return Sheet.of(title, *lead, *diagnoses, *answers.sections(result, answers.by_label))
    return Sheet.of(
        title,
        verdict_lead(result),
        *warning_leads(result),
        *list_objections(result),
        *list_sample_facts(result),
        *_measure_parts(result, answers),
        *answers.sections(result, answers.by_label or is_dominated),
        _next_steps(result),
    )


def result_page(result: Result, answers: Answers = NOTHING_ASKED, overview: Overview | None = None) -> Sheet:
    """Return the full report of a result, with glossary and provenance.

    `overview` has the explanations to look through.
    """
    title, words = result.origin.title, result.setup.outcome.words
    unchecked = [
        f"Nothing could be checked for {name}, so it has no curve and no local scores."
        for name, estimate in result.measures.items()
        if estimate.verified == 0
    ]
    measures = Sheet.of("Measures", *_measure_parts(result, answers), shows=Levels(result.both_measures))
    return Sheet.of(
        title or describe_system(result),
        describe_subject(result) if title else describe_sample(result),
        result.origin.note,
        verdict_lead(result),
        *warning_leads(result),
        headline_table(result),
        *list_objections(result),
        *list_sample_facts(result),
        measures,
        glossary_sheet(result),
        Sheet.of("Behind the numbers", *unchecked, shows=result),
        *_page_sections(result, answers),
        None if overview is None else overview.sheet(words.local),
        _next_steps(result),
        provenance_sheet(
            user_facts(result) | system_facts(result) | measuring_facts(result), result.setup.versions
        ),
    )


def _page_sections(result: Result, answers: Answers) -> list[Sheet]:
    sections = answers.sections(result, by_label=True)
    if answers.contradictions is None:
        return sections
    return [*sections[:-1], attrs.evolve(sections[-1], title="Contradictions")]


def measure_parts(result: Result) -> Parts:
    """Return both measures: their numbers and their meaning."""
    words, control = result.setup.outcome.words, result.control
    rows = {name: estimate_texts(estimate, words) for name, estimate in result.both_measures.items()}
    if control is not None:
        rows["sufficiency"]["control"] = format_number(control.estimate)
    columns = number_columns(result, has_control=control is not None)
    table = measure_table(("measure",), columns, [((name,), texts) for name, texts in rows.items()])
    return [table, describe_permutations(result, result.both_measures), *explain_measures(result)]


def diagnosis_parts(result: Result, printed: bool = False) -> Parts:
    """Return the reports of diagnostics, or of those that are `printed`."""
    sheets = [diagnosis.sheet() for diagnosis in result.diagnoses if diagnosis.printed or not printed]
    return [part for sheet in sheets for part in (sheet.title, *sheet.parts)]


def _measure_parts(result: Result, answers: Answers) -> Parts:
    """Return the measures and the diagnoses, without the note that is shown with the contradictions."""
    note = answers.contradictions.note if answers.contradictions else None
    return [*(part for part in measure_parts(result) if part != note), *diagnosis_parts(result)]


def _next_steps(result: Result) -> Sheet | None:
    steps = result.next_steps
    return Sheet("Next steps:", [Bullets(steps)]) if steps else None


def system_facts(result: Result) -> dict[str, str | None]:
    """Return facts about the explanation system."""
    setup = result.setup
    algorithm = ", ".join(f"{name} {value}" for name, value in setup.explained_by.items())
    return {
        "explainer": setup.explainer_text or "none: the explanations were logged",
        "explained by": algorithm or None,
        "discretizer": setup.discretizer.text,
        "relation of sufficiency": result.relation or "none",
        "relation learnt from": result.relation_learnt_from or "nothing",
        "background": setup.learnt_from or "none",
    }


def measuring_facts(result: Result) -> dict[str, str | None]:
    """Return facts about the measurement; all rows are read for the checksum of the data."""
    setup, origin, data = result.setup, result.origin, result.evidence.population.data()
    columns = "" if data["columns"] is None else f", {pluralize(data['columns'], 'column')}"
    rows = f"{pluralize(data['rows'], 'row')}{columns}"
    return {
        "model": setup.model or "none: the predictions were logged",
        "model file": origin.model_file,
        "model checksum": origin.model_fingerprint,
        "accuracy": describe_quality(result),
        "estimator": setup.estimator.text,
        "confidence": f"{100 * result.confidence:g} %",
        "permutations": f"{setup.permutations:,}" if setup.permutations else "none",
        "seed": str(setup.seed),
        "data": f"{origin.data}: {rows}" if origin.data else rows,
        "data checksum": data["fingerprint"] or "none: not all values have one",
    }


def user_facts(result: Result) -> dict[str, str | None]:
    """Return what the user wrote about the result, and the command."""
    origin = result.origin
    return {"author": origin.author or None, "date": origin.date or None, "command": origin.command or None}
