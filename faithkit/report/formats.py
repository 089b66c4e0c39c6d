"""Numbers and names as every report writes them, in a terminal or on a page."""

from typing import TYPE_CHECKING

from faithkit.measure import MEASURES
from faithkit.wording import listing

if TYPE_CHECKING:
    from faithkit.measure.estimate import Estimate
    from faithkit.measure.witnesses import Violation
    from faithkit.run.comparison import Comparison
    from faithkit.run.evaluation import Evaluation


MOST_LABELS = 10  # in a line


def number(value: float | None) -> str:
    """Return a measure's value, or a dash where there is none.

    >>> number(0.86249), number(None)
    ('0.862', '–')
    """
    return "–" if value is None else f"{value:.3f}"


def value_text(found: "Estimate") -> str:
    """Return a measure's value; where nothing could be checked a dash, for a 0 would look unfaithful."""
    return "–" if found.verified == 0 else number(found.value)


def luck_text(found: "Estimate") -> str:
    """Return what chance would give, or a dash where nobody can say."""
    return "–" if found.verified == 0 else number(found.by_chance)


def ends(low: float | None, high: float | None) -> str:
    """Return an interval, or a dash where there is none.

    >>> ends(0.8, 0.9)
    '0.800 – 0.900'
    """
    return "–" if low is None or high is None else f"{low:.3f} – {high:.3f}"


def percent(share: float) -> str:
    """Return a whole percentage that says 0 or 100 only where nothing or everything is meant.

    >>> percent(0.999), percent(1)
    ('99 %', '100 %')
    """
    rounded = round(100 * share)
    if 0 < share < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def signed(value: float | None) -> str:
    """Return a difference with its sign, or a dash where there is none.

    >>> signed(0.0412), signed(-0.2), signed(-0.0001), signed(None)
    ('+0.041', '−0.200', '+0.000', '–')
    """
    return "–" if value is None else f"{round(value, 3) + 0.0:+.3f}".replace("-", "−")


def significance(p_value: float) -> str:
    """Return a p-value.

    >>> significance(0.0412), significance(1e-9)
    ('0.041', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def unbroken(text: str) -> str:
    """Keep numbers and their percent signs on one line, on a page that breaks lines where it likes."""
    return text.replace(" %", "\u00a0%")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def interval_name(result: "Evaluation") -> str:
    """Return what the column of intervals is called."""
    return f"{100 * result.confidence:g} % interval"


def system(result: "Evaluation") -> str:
    """Return what explained: the explainer and the discretizer."""
    explainer, discretizer = result.provenance.explainer, result.provenance.discretizer
    return system_name(None if explainer is None else explainer.text, discretizer.text)


def system_name(explainer: str | None, discretizer: str) -> str:
    """Return what an explainer and a discretizer are called together.

    >>> system_name("shap", "1fp"), system_name("tree", "original")
    ('shap · 1fp', 'tree')
    """
    parts = [part for part in (explainer, discretizer) if part is not None and part != "original"]
    return " · ".join(parts) or "logged explanations"


def title(result: "Evaluation") -> str:
    """Return which system was evaluated: what explained, and the model that was explained."""
    model = result.provenance.model
    return f"{system(result)} of {model}" if model else system(result)


def facts(result: "Evaluation") -> list[str]:
    """Return what the sample is made of, and what explainers had to say about it."""
    given = result.n_explanations - result.unexplained  # each unexplained instance counts as one
    told = [f"{plural(result.n, 'instance')}, {plural(given, 'distinct explanation')}"]
    if result.unexplained:
        told[0] += f", {result.unexplained:,} unexplained"
    if set(result.why_unexplained) - {"no explanation"}:
        told.append(f"of the unexplained, {_counted(result.why_unexplained)}")
    if result.remarks:
        told.append(f"of the explanations, {_counted(result.remarks)}")
    return told


def _counted(remarks: dict[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())


def note(result: "Evaluation", what: str = "Differences, intervals and p") -> str | None:
    """Return which estimator the differences are of, where values beside them are those of another."""
    if getattr(result.estimator.instance, "name", None) == "leave-one-out":
        return None
    return f"{what} are of leave-one-out, which estimates the measure."


def permuted(result: "Evaluation") -> str | None:
    """Return the p-values in a line, where they were asked for."""
    found = {name: getattr(result, name) for name in MEASURES}
    told = [
        f"{name} {significance(one.p_value)}"
        for name, one in found.items()
        if one is not None and one.p_value is not None
    ]
    return f"p ({plural(result.permutations, 'permutation')}): {', '.join(told)}" if told else None


def held(violation: "Violation") -> str:
    """Return how many instances an explanation holds for and what they get, the first witness's first."""
    first, known = violation.witnesses[0].prediction, violation.predictions
    many = len(known) > MOST_LABELS or violation.unlisted > 0
    order = sorted(filter(known.get, known), key=lambda label: (label != first, -known[label] if many else 0))
    shown = order[: MOST_LABELS - 1] if many else order
    told = [f"{known[label]:,} get {label}" for label in shown]
    if many:
        told.append(f"{violation.holds_for - sum(known[label] for label in shown):,} get something else")
    return f"{plural(violation.holds_for, 'instance')}: {listing(told)}"


def left_out_line(found: "Comparison") -> str | None:
    """Return which discretizers were left out for which explainers, and why."""
    return f"Left out: {'; '.join(found.left_out)}." if found.left_out else None


def ordering(found: "Comparison") -> str | None:
    """Return by which estimator systems are compared, where the values are those of another."""
    told = (note(result, "Order, differences, intervals and p") for result in found.results.values())
    return next((line for line in told if line), None)
