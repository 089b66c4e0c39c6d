"""p-values of many questions at once: adjusted, so that the most striking of many is no finding by itself."""

from collections.abc import Callable, Mapping, Sequence

from faithkit.errors import InputError


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's step-down method: with 1 − α, not one of the findings is wrong.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        worst = max(worst, min(1.0, p_values[i] * (len(p_values) - rank)))
        adjusted[i] = worst
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Benjamini and Hochberg's step-up method: on average, α of the findings are wrong.

    Or fewer; that holds for questions that are independent, or depend on each other positively.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03])
    [0.03, 0.04, 0.04]
    """
    adjusted = [0.0] * len(p_values)
    best = 1.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank in range(len(p_values), 0, -1):
        i = ascending[rank - 1]
        best = min(best, p_values[i] * len(p_values) / rank)
        adjusted[i] = best
    return adjusted


ADJUSTMENTS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
}


def adjustment(given: str) -> str:
    """Return the name of an adjustment, or refuse what is none."""
    if not isinstance(given, str) or given not in ADJUSTMENTS:
        raise InputError(f"there is no adjustment {given!r}; expected {' or '.join(ADJUSTMENTS)}.")
    return given
