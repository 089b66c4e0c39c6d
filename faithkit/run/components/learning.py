"""What components learn from: rows that they are not judged on, or the sample itself, with a warning."""

from collections.abc import Iterable

from faithkit.arrays.containers import Rows
from faithkit.errors import warn
from faithkit.inputs.copies import MAX_COPIES, share_of_copies
from faithkit.inputs.pools import PoolRows
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.resolution import ResolvedComponent

THE_SAMPLE = "the sample itself"  # where a component learnt, which makes results optimistic


def learns(component: ResolvedComponent) -> bool:
    """Whether a component still has to learn from the background.

    An explainer does unless it says otherwise. Other components do if they have a method `fit`.
    """
    if component.kind == "explainer":
        return bool(get_optional_attribute(component.instance, "learns"))
    return get_optional_attribute(component.instance, "fit") is not None


def find_source_of_learning(
    components: Iterable[ResolvedComponent | None],
    background: Rows | None,
    X: Rows,
    pool: PoolRows | None = None,
) -> str | None:
    """Return what components learn from, and warn if these are rows of the sample or of the pool."""
    learners = [component for component in components if component is not None and learns(component)]
    if not learners:
        return None if background is None else "given"
    if background is None:
        warn_about_background(learners[0])
        return THE_SAMPLE
    share = 1.0 if background is X else share_of_copies([X], [background])
    pool_share = 0.0 if pool is None else share_of_copies(pool.pieces(), [background])
    for table, copies in (("sample", share), ("pool", pool_share)):
        if copies > MAX_COPIES:
            warn(
                f"{round(100 * copies)} % of the rows of the {table} are also in the background, so "
                f"{learners[0].text} learns from rows it is judged on, and results are optimistic: give a "
                "background of other rows."
            )
    return THE_SAMPLE if share == 1 else "given"


def warn_about_background(component: ResolvedComponent, is_log: bool = False) -> None:
    """Warn that a component learns from the rows that it is judged on, so results are optimistic."""
    remedy = "pass background= (CLI: --background)"
    if is_log:
        remedy = "a log has none, `evaluate` can be given one"
    warn(
        f"no background was given, so {component.text} learns from the rows it is judged on, and results are "
        f"optimistic: {remedy}.",
    )
