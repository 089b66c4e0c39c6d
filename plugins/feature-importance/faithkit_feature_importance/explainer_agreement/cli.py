"""The command `faithkit agreement`: how far explainers agree on which features matter."""

from typing import TYPE_CHECKING

import click

import faithkit

if TYPE_CHECKING:
    from faithkit_feature_importance.explainer_agreement.agreement_result import Agreements


@faithkit.plugin.comparison_command
@click.option(
    "--k",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compare the N features of largest importance.  [default: 5, or half of fewer than ten]",
)
@click.option(
    "--among",
    metavar="NAME[,NAME]",
    help="Compare only the order of these features, in the two measures that use all features.",
)
def agreement(comparison: faithkit.results.Comparison, k: int | None, among: str | None) -> "Agreements":
    """Measure how far explainers agree on which features matter, and how faithful each of them is.

    The importances of every two explainers are compared row by row, before discretization: which features are
    the largest, with which sign and in which order. Each mean is shown with the value expected by chance.
    """
    from faithkit_feature_importance.explainer_agreement.pairwise_agreement import agreements

    return agreements(comparison, k, among=None if among is None else among.split(","))
