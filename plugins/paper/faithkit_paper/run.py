"""Run an experiment and write its findings."""

from pathlib import Path

import attrs

from faithkit_paper.atomic_writes import write_atomically
from faithkit_paper.context import Context
from faithkit_paper.experiment_catalogue import Experiment
from faithkit_paper.figure_panels import render_svg
from faithkit_paper.findings import Findings
from faithkit_paper.grids import Grid
from faithkit_paper.printed_numbers import with_printed_number
from faithkit_paper.report import ACCURACY, format_csv, format_markdown


def reproduce(experiment: Experiment, context: Context, folder: Path) -> Findings:
    """Run an experiment. Write its CSV, its page and, if the paper has one, its figure."""
    module = experiment.module
    findings = module.run(context)
    findings = attrs.evolve(
        findings, cells=tuple(with_printed_number(experiment.name, cell) for cell in findings.cells)
    )
    figure = ""
    if hasattr(module, "draw"):
        figure = f"{experiment.name}.svg"
        write_atomically(folder / figure, render_svg(module.draw(findings)))
    shown = module.select_shown(findings.cells) if hasattr(module, "select_shown") else findings.cells
    models = [cell for cell in findings.cells if cell.measure == ACCURACY]
    measures = [cell for cell in shown if cell.measure != ACCURACY]
    setting = f"{experiment.summary}\n\nProfile {context.profile}, seed {context.seed}."
    write_atomically(folder / f"{experiment.name}.csv", format_csv(experiment.name, findings.cells))
    for suffix, cells in (("accuracy", models), ("shown", measures)):
        if cells:
            write_atomically(folder / f"{experiment.name}-{suffix}.csv", Grid.of(cells).csv())
    write_atomically(
        folder / f"{experiment.name}.md",
        format_markdown(experiment.name, setting, findings, measures, figure),
    )
    return findings
