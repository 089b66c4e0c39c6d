"""`faithkit plan`: compute how many rows an evaluation needs."""

from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver
from faithkit.cli.shared.options import debug_option, file_options
from faithkit.cli.shared.paths import resolve_path
from faithkit.cli.shared.verb import DATA, EXPLAINER, MEASURE, Verb, option
from faithkit.measure import MEASURES

if TYPE_CHECKING:
    from faithkit.measure.planning.forecast import Pilot

EXAMPLES = """\b
Examples:
  faithkit plan --range 30 --epsilon 0.05
  faithkit plan --pilot pilot.json --measure consistency"""


@click.command(cls=Verb, epilog=EXAMPLES)
@option(
    "--range K",
    EXPLAINER,
    "Plan for an explainer with at most K different explanations.",
    "n_explanations",
    type=click.IntRange(min=1),
)
@option(
    "--pilot FILE",
    DATA,
    "Plan from a small first result that evaluate or score wrote with --out.",
    callback=resolve_path,
)
@option(
    "--epsilon SHARE",
    MEASURE,
    "Allow this share of unchecked rows, and this half-width of the interval.",
    default=0.1,
)
@option("--measure", MEASURE, "Plan for this measure.", type=click.Choice(MEASURES), default="consistency")
@option(
    "--pool N",
    DATA,
    "Check sufficiency also against N more rows, which are predicted but not explained.",
    type=click.IntRange(min=0),
    default=0,
)
@file_options
@debug_option
def command(
    n_explanations: int | None,
    pilot: str | None,
    epsilon: float,
    measure: str,
    pool: int,
    output: dict[str, Any],
) -> None:
    """Plan how many rows to explain, for an explainer's number of explanations or from a pilot."""
    import faithkit.report.base  # noqa: F401  shows plans
    from faithkit.measure.planning.plans import plan_samples

    if n_explanations is None and pilot is None:
        raise click.UsageError("nothing to plan from: give --range K, --pilot FILE, or both.")
    outputs = check_outputs(**output)
    pilot_result = _load_pilot(pilot, measure) if pilot else None
    deliver(plan_samples(epsilon, n_explanations, pilot_result, measure, pool), outputs)


def _load_pilot(path: str, measure: str) -> "Pilot":
    from faithkit.run.planning import extract_pilot
    from faithkit.run.saved_results import load

    return extract_pilot(load(path), measure)
