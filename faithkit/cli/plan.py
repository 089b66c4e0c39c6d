"""`faithkit plan`: how many instances an evaluation needs."""

import json
from functools import partial

import click

from faithkit.cli.delivery import every, put
from faithkit.cli.options import debug, option
from faithkit.cli.places import check_paths
from faithkit.cli.streams import Verb, say


@click.command(cls=Verb)
@option(
    "--range K",
    "n_explanations",
    required=True,
    type=click.IntRange(min=1),
    help="Plan for an explainer that can give K different explanations.",
)
@option("--epsilon SHARE", default=0.1, help="Plan for an error of at most this.")
@option("--json FILE", "json_path", help="Write the plan to this file as JSON; - means stdout.")
@debug
def command(n_explanations: int, epsilon: float, json_path: str | None) -> None:
    """Say how many instances an evaluation needs.

    A pilot says more than a range: in Python, faithkit.plan(epsilon, pilot=result).
    """
    from faithkit.measure.planning import plan_samples

    paths = check_paths({"json_path": json_path})
    found = plan_samples(epsilon, n_explanations)
    facts = {
        "epsilon": epsilon,
        "n_explanations": n_explanations,
        "bias": found.from_range,
        "mean_squared_error": found.corollary,
    }
    told = (
        f"{found.from_range:,} instances make the bias at most {epsilon:g}: n ≥ K / (e·ε), for any\n"
        f"explainer with {n_explanations:,} explanations.\n"
        f"{found.corollary:,} instances make the mean-squared error at most {epsilon:g}, by the paper's\n"
        "corollary, n ≥ K·(12/ε)·log(3/ε).\n"
    )
    text = json.dumps(facts, indent=2) + "\n"
    steps = [partial(put, name, path, text) for name, path in paths.items()]
    every(steps if "-" in paths.values() else [partial(say, told, end=""), *steps])
