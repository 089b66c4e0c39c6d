"""Numbers and names as every report writes them, in a terminal or on a page."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faithkit.run.evaluation import Evaluation


def number(value: float | None) -> str:
    """Return a measure's value, or a dash where there is none.

    >>> number(0.86249), number(None)
    ('0.862', '–')
    """
    return "–" if value is None else f"{value:.3f}"


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


def signed(value: float) -> str:
    """Return a difference, with its sign.

    >>> signed(0.0412), signed(-0.2), signed(-0.0001)
    ('+0.041', '−0.200', '+0.000')
    """
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "−")


def significance(p_value: float) -> str:
    """Return a p-value.

    >>> significance(0.0412), significance(1e-9)
    ('0.041', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def unbroken(text: str) -> str:
    """Keep numbers and their percent signs on one line, on a page that breaks lines where it likes."""
    return text.replace(" %", "\u00a0%")


def writable(text: str) -> str:
    r"""Replace halves of surrogate pairs, which Python has and no file can hold.

    >>> writable("caf\u00e9 \ud800")
    'café ?'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


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
    given = result.provenance.explainer, result.provenance.discretizer
    parts = [part.text for part in given if part is not None and part.text != "original"]
    return " · ".join(parts) or "logged explanations"


def title(result: "Evaluation") -> str:
    """Return which system was evaluated: what explained, and the model that was explained."""
    model = result.provenance.model
    return f"{system(result)} of {model}" if model else system(result)


def facts(result: "Evaluation") -> list[str]:
    """Return what the sample is made of, and what explainers had to say about it."""
    told = [f"{plural(result.n, 'instance')}, {plural(result.n_explanations, 'distinct explanation')}"]
    if result.unexplained:
        told.append(f"{result.unexplained:,} unexplained ({_counted(result.why_unexplained)})")
    if result.remarks:
        told.append(f"of the explanations, {_counted(result.remarks)}")
    return told


def _counted(remarks: dict[str, int]) -> str:
    return "; ".join(f"{remark}: {count:,}" for remark, count in remarks.items())
