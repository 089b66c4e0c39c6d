"""Run an experiment and write what it found."""

from pathlib import Path

import attrs

from faithkit_paper.catalogue import Experiment
from faithkit_paper.context import Context
from faithkit_paper.figures import as_svg
from faithkit_paper.files import write_whole
from faithkit_paper.findings import Findings
from faithkit_paper.grids import Grid
from faithkit_paper.printed import beside_printed
from faithkit_paper.report import ACCURACY, as_csv, as_markdown


def reproduce(experiment: Experiment, context: Context, folder: Path) -> Findings:
    """Run an experiment; write its CSV, its page and, where the paper has one, its figure."""
    module = experiment.module
    found = module.run(context)
    found = attrs.evolve(found, cells=tuple(beside_printed(experiment.name, cell) for cell in found.cells))
    figure = ""
    if hasattr(module, "draw"):
        figure = f"{experiment.name}.svg"
        write_whole(folder / figure, as_svg(module.draw(found)))
    shown = module.shown(found.cells) if hasattr(module, "shown") else found.cells
    models = [cell for cell in found.cells if cell.measure == ACCURACY]
    measures = [cell for cell in shown if cell.measure != ACCURACY]
    said = f"{experiment.summary}\n\nProfile {context.profile}, seed {context.seed}."
    write_whole(folder / f"{experiment.name}.csv", as_csv(experiment.name, found.cells))
    for part, cells in (("accuracy", models), ("shown", measures)):
        if cells:
            write_whole(folder / f"{experiment.name}-{part}.csv", Grid.of(cells).csv())
    write_whole(folder / f"{experiment.name}.md", as_markdown(experiment.name, said, found, measures, figure))
    return found
