"""What components learn from: rows that they are not judged on, or the sample itself, with a warning."""

from collections.abc import Iterable

import numpy as np

from faithkit.arrays.containers import Rows
from faithkit.errors import FaithkitError, warn
from faithkit.inputs.seeds import row_words
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.resolution import ResolvedComponent

THE_SAMPLE = "the sample itself"  # where a component learnt, which makes results optimistic
_MAX_COMMON = 0.1  # the largest share of rows that may also be in the background without a warning
_MIN_DISTINCT = 0.9  # with fewer distinct rows, equal rows may be different cases


def learns(component: ResolvedComponent) -> bool:
    """Whether a component still has to learn from the background.

    An explainer does unless it says otherwise. Other components do if they have a method `fit`.
    """
    if component.kind == "explainer":
        return bool(get_optional_attribute(component.instance, "learns"))
    return not component.is_fitted and get_optional_attribute(component.instance, "fit") is not None


def find_source_of_learning(
    components: Iterable[ResolvedComponent | None], background: Rows | None, X: Rows
) -> str | None:
    """Return what components learn from, and warn if these are rows of the sample."""
    learners = [component for component in components if component is not None and learns(component)]
    if not learners:
        return None if background is None else "given"
    if background is None:
        warn_about_background(learners[0])
        return THE_SAMPLE
    share = 1.0 if background is X else share_in_background(X, background)
    if share > _MAX_COMMON:
        warn(
            f"{round(100 * share)} % of the rows of the sample are also in the background, so "
            f"{learners[0].text} learns from rows it is judged on, and results are optimistic: give a "
            "background of other rows.",
        )
    return THE_SAMPLE if share == 1 else "given"


def share_in_background(X: Rows, background: Rows) -> float:
    """Return the share of rows that are also in the background.

    If many rows of X are equal, different cases look the same: then it is 0, unless both have the same rows.

    Examples
    --------
    >>> share_in_background(np.arange(8.0).reshape(4, 2), np.arange(4.0).reshape(2, 2))
    0.5
    """
    try:
        rows, background_rows = row_words(X, seed=0), row_words(background, seed=0)
    except (FaithkitError, TypeError, ValueError):  # values without a hash
        return 0.0
    if np.array_equal(np.sort(rows), np.sort(background_rows)):
        return 1.0
    if len(np.unique(rows)) < _MIN_DISTINCT * len(rows):
        return 0.0
    return float(np.isin(rows, background_rows).mean())


def warn_about_background(component: ResolvedComponent, is_log: bool = False) -> None:
    """Warn that a component learns from the rows that it is judged on, so results are optimistic."""
    remedy = "pass background= (CLI: --background)"
    if is_log:
        remedy = "a log has none, `evaluate` can be given one"
    warn(
        f"no background was given, so {component.text} learns from the rows it is judged on, and results are "
        f"optimistic: {remedy}.",
    )
