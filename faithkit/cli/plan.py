"""`faithkit plan`: how many instances an evaluation needs."""

import json

import click

from faithkit.cli.options import debug


@click.command()
@click.option(
    "--range",
    "n_explanations",
    required=True,
    type=click.IntRange(min=1),
    metavar="K",
    help="How many different explanations the explainer can give.",
)
@click.option("--epsilon", default=0.1, show_default=True, metavar="SHARE", help="The error to stay under.")
@click.option("--json", "json_path", metavar="FILE", help="Write it as JSON; - for stdout.")
@debug
def command(n_explanations: int, epsilon: float, json_path: str | None) -> None:
    """Say how many instances an evaluation needs.

    A pilot says more than a range: in Python, faithkit.plan(epsilon, pilot=result).
    """
    from faithkit.files import write_whole
    from faithkit.measure.planning import plan_samples

    found = plan_samples(epsilon, n_explanations)
    facts = {
        "epsilon": epsilon,
        "n_explanations": n_explanations,
        "bias": found.from_range,
        "mean_squared_error": found.corollary,
    }
    text = json.dumps(facts, indent=2) + "\n"
    if json_path == "-":
        click.echo(text, nl=False)
        return
    click.echo(
        f"{found.from_range:,} instances make the bias at most {epsilon:g}: n ≥ K / (e·ε), for any\n"
        f"explainer with {n_explanations:,} explanations."
    )
    click.echo(
        f"{found.corollary:,} instances make the mean-squared error at most {epsilon:g}, by the paper's\n"
        "corollary, n ≥ K·(12/ε)·log(3/ε)."
    )
    if json_path:
        write_whole(json_path, text)
