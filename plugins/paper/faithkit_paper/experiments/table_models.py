"""Appendix D: the hyper-parameters of the gradient boosted trees, and their accuracy.

Without `--search` the hyper-parameters are the printed ones; with it they are searched for as in the paper.
"""

import attrs

from faithkit_paper.boosters import NAME
from faithkit_paper.context import Context
from faithkit_paper.findings import Cell, Findings
from faithkit_paper.models import DATASETS, train_model


def run(context: Context) -> Findings:
    """Train the models of all datasets."""
    return context.measure_each("table-models", DATASETS, measure_dataset)


def measure_dataset(context: Context, dataset: str) -> Findings:
    """Return a model's accuracy and its hyper-parameters."""
    model = train_model(context, dataset)
    parameters = attrs.asdict(model.parameters)
    cells = [Cell(dataset, NAME, "", name, float(value)) for name, value in parameters.items()]
    source = "looked for" if context.search else "the printed ones"
    return model.findings(cells, f"The hyper-parameters are {source}.")
