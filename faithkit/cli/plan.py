"""`faithkit plan`: how many rows an evaluation needs."""

import json
from functools import partial
from typing import TYPE_CHECKING

import click

from faithkit.cli.shared.delivery import every, put
from faithkit.cli.shared.options import debug, option
from faithkit.cli.shared.paths import check_paths, placed
from faithkit.cli.shared.streams import Verb, say
from faithkit.measure import MEASURES

if TYPE_CHECKING:
    from faithkit.measure.planning.forecast import Pilot


@click.command(cls=Verb)
@option(
    "--range K",
    "n_explanations",
    type=click.IntRange(min=1),
    help="Plan for an explainer that can give K different explanations.",
)
@option(
    "--pilot FILE",
    callback=placed,
    help="Plan from a first, small result, as evaluate and score write it with --json.",
)
@option(
    "--epsilon SHARE",
    default=0.1,
    help="Let at most this share be unverified, and the interval be at most ± this.",
)
@option("--measure", type=click.Choice(MEASURES), default="consistency", help="Plan for this measure.")
@option(
    "--pool N",
    type=click.IntRange(min=0),
    default=0,
    help="Let sufficiency be checked against N more rows, which are predicted and not explained.",
)
@option("--json FILE", "json_path", help="Write the plan to this file as JSON; - means stdout.")
@debug
def command(
    n_explanations: int | None,
    pilot: str | None,
    epsilon: float,
    measure: str,
    pool: int,
    json_path: str | None,
) -> None:
    """Say how many rows to explain, from what an explainer can say, or from a pilot."""
    from faithkit.measure.planning.plans import plan_samples
    from faithkit.report.plans import plan_text

    if n_explanations is None and pilot is None:
        raise click.UsageError("nothing to plan from: give --range K, --pilot FILE, or both.")
    paths = check_paths({"json_path": json_path})
    found = plan_samples(epsilon, n_explanations, _pilot(pilot, measure) if pilot else None, measure, pool)
    text = json.dumps(found.to_dict(), indent=2) + "\n"
    steps = [partial(put, name, path, text) for name, path in paths.items()]
    every(steps if "-" in paths.values() else [partial(say, plan_text(found), end=""), *steps])


def _pilot(path: str, measure: str) -> "Pilot":
    from faithkit.run.pilot import pilot_of
    from faithkit.run.saved_results import load

    return pilot_of(load(path), measure)
