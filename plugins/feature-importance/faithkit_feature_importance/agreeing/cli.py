"""`faithkit agreement`: whether explainers say the same of a prediction."""

from typing import TYPE_CHECKING

import click

import faithkit

if TYPE_CHECKING:
    from faithkit_feature_importance.agreeing.result import Agreements


@faithkit.plugin.comparing
@click.option(
    "--k",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compare the N features of largest importance.  [default: 5, or half of fewer than ten]",
)
@click.option(
    "--among",
    metavar="NAME[,NAME]",
    help="Compare the order of these features only, in the two measures that look at all.",
)
def agreement(compared: faithkit.results.Comparison, k: int | None, among: str | None) -> "Agreements":
    """Say how far explainers agree on which features matter, beside how faithful each of them is.

    The importances of every two explainers are compared as they are, row by row: which features are the
    largest, with which sign and in which order. Beside each mean stands what chance would give.
    """
    from faithkit_feature_importance.agreeing.comparing import agreements

    return agreements(compared, k, among=None if among is None else among.split(","))
