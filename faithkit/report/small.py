"""Small values as a person reads them: an estimate, a difference, an instance, a plan."""

from collections.abc import Sequence

from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.local_estimate import LocalEstimate
from faithkit.measure.planning.plans import Plan
from faithkit.measure.witnesses import LocalResult, Violation, Witness
from faithkit.report.agreeing import Shares, Words
from faithkit.report.formats import (
    between,
    held,
    predictions,
    signed,
    significance,
)
from faithkit.report.instances import (
    local_cells,
    local_facts,
    local_table,
    no_violation,
    sharers,
    witness_lines,
)
from faithkit.report.plans import advice, promises
from faithkit.report.sheets import Sheet, Table, cut, pairs
from faithkit.report.views import estimate_view
from faithkit.wording import cell_text

WORST_FIRST = "Explanations that hold for instances of different predictions, worst first:"
LETTERS = 300  # of an explanation


def estimate_sheet(found: Estimate) -> Sheet:
    """Return the numbers of one estimate.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "no", "no"] * 9, ["a", "b", "a"] * 9).consistency)
    estimate                   0.647
    95 % interval              0.524 – 0.829
    by chance                  0.538
    checked                    100 %
    agree among those checked  65 % of 27
    bracket                    0.647 – 0.648
    finding                    not above chance
    """
    words = Words() if found.moments is None or found.moments.span is None else Shares()
    shown = estimate_view(found, words)
    named = {
        "estimate": shown["estimate"],
        f"{100 * found.confidence:g} % interval": shown["interval"],
        "by chance": shown["chance"],
        "checked": shown["checked"],
        words.agree: shown["agree"],
        "bracket": shown["bracket"],
        "p (permutations)": shown["p"],
        "finding": shown["finding"],
    }
    return Sheet.of(None, pairs(named))


def difference_sheet(found: Difference, names: Sequence[str] = (), adjusted: float | None = None) -> Sheet:
    """Return the numbers of a difference, and of which two, where that is known."""
    p = significance(found.p_value) if adjusted is None else significance(adjusted)
    named = {
        "difference": signed(found.value),
        f"{100 * found.confidence:g} % interval": between(found.low, found.high),
        "p" if adjusted is None else "p, adjusted": p,
    }
    return Sheet.of(" minus ".join(names) or None, pairs(named))


def local_sheet(found: LocalEstimate) -> Sheet:
    """Return one measure of one instance."""
    return Sheet.of(None, pairs(local_cells(found)))


def instance_sheet(found: LocalResult) -> Sheet:
    """Return both measures of one instance, its explanation, and who shares it."""
    return Sheet.of(None, *map(shortened, local_facts(found)), Table(*local_table(found)), sharers(found))


def witness_sheet(found: Witness) -> Sheet:
    """Return one row."""
    table = pairs({name: cell_text(cell) for name, cell in (found.cells or {}).items()})
    cells = cut(table, "cells") if table.rows else ()
    return Sheet.of(f"{found.place} → {predictions(found.prediction)[0]}", *cells)


def violation_sheet(found: Violation) -> Sheet:
    """Return an explanation that misleads, and two rows that show it."""
    return Sheet.of(shortened(found.explanation), f"holds for {held(found)}", *witness_lines(found))


def violations_sheet(found: Sequence[Violation]) -> Sheet:
    """Return the explanations that mislead most, each with two rows."""
    if not found:
        return Sheet.of(None, no_violation(found))
    rows = [(shortened(one.explanation), held(one), *witness_lines(one)) for one in found]
    heads = ("explanation", "holds for", "a row", "another that contradicts it")
    notes = filter(None, [getattr(found, "note", None)])
    return Sheet.of(None, *notes, WORST_FIRST, Table(heads, rows, is_numeric=False))


def plan_sheet(plan: Plan) -> Sheet:
    """Return what each number of rows promises, and which one to use."""
    tables = [Table(("", ""), told, is_numeric=False, name=source) for source, told in promises(plan).items()]
    return Sheet.of(None, *tables, *advice(plan))


def shortened(text: str) -> str:
    """Cut what is too long to be read in a notebook.

    Examples
    --------
    >>> shortened("age ≤ 37"), len(shortened("a" * 1000))
    ('age ≤ 37', 301)
    """
    return text if len(text) <= LETTERS else f"{text[:LETTERS]}…"
