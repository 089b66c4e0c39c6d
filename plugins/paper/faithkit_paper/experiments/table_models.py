"""Appendix D: the hyper-parameters of the gradient boosted trees, and their accuracy.

Without `--search` the hyper-parameters are the printed ones; with it they are looked for as the paper did.
"""

import attrs

from faithkit_paper.boosters import NAME
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.models import DATASETS, boosted


def run(context: Context) -> Findings:
    """Train the models of all datasets."""
    return context.each("table-models", DATASETS, measured)


def measured(context: Context, dataset: str) -> Findings:
    """Return a model's accuracy and its hyper-parameters."""
    trained = boosted(context, dataset)
    given = attrs.asdict(trained.parameters)
    cells = [Cell(dataset, NAME, "", name, float(value)) for name, value in given.items()]
    found = "looked for" if context.search else "the printed ones"
    return trained.findings(cells, f"The hyper-parameters are {found}.")
