"""Appendix B: two instances with different labels and the same explanation by LIME.

The model predicts 1 if both features have the same sign. The printed result needs a standard normal
background, columns that are not discretized, perturbations around the instance, and explanations of the
predicted label.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from faithkit_paper.context import Context
from faithkit_paper.figures import COLOURS, create_panels
from faithkit_paper.findings import Cell, Findings, cell_of_runs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "figure-lime-xor"
EXPLAINER = "lime:discretize_continuous=false,sample_around_instance=true,target=predicted"
INSTANCES = {"(2.5, 0.5)": (2.5, 0.5), "(-2.5, 0.5)": (-2.5, 0.5)}
FEATURES = ("first feature", "second feature")
LABEL = "label"


class Xor:
    """A model that predicts 1 if the two features have the same sign."""

    classes_ = np.array([0, 1])

    def predict(self, X: Any) -> np.ndarray:
        """Return the label of each row."""
        return (X[:, 0] * X[:, 1] > 0).astype(int)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return a probability of 1 for the label."""
        return np.eye(2)[self.predict(X)]


def run(context: Context) -> Findings:
    """Explain the two instances, several times with different perturbations."""
    return context.load_or_compute(NAME, "", lambda: measure_dataset(context))


def measure_dataset(context: Context) -> Findings:
    """Return the label and the two importances of each instance."""
    X = np.array(list(INSTANCES.values()))
    background = context.rng(NAME, "background").normal(size=(5_000, 2))
    runs = [
        context.evaluate(Xor(), X, EXPLAINER, background=background, seed=context.seed_of(NAME, run))
        for run in range(context.pick(tiny=2, quick=5, full=50))
    ]
    weights = np.array([result.rows.explanations.values for result in runs])
    cells = []
    for i, name in enumerate(INSTANCES):
        cells.append(Cell("xor", "lime", name, LABEL, float(Xor().predict(X)[i])))
        cells += [
            cell_of_runs("xor", "lime", name, feature, weights[:, i, j].tolist())
            for j, feature in enumerate(FEATURES)
        ]
    return Findings(tuple(cells), (f"`{EXPLAINER}`, background: 5,000 standard normal rows.",))


def draw(findings: Findings) -> "Figure":
    """Draw the model with its two instances, and the importances of each."""
    figure, axes = create_panels(["XOR", *INSTANCES])
    _draw_plane(axes["XOR"])
    for name in INSTANCES:
        cells = {cell.measure: cell for cell in findings.cells if cell.setting == name}
        ax = axes[name]
        values = [cells[feature].ours or 0.0 for feature in FEATURES]
        ax.barh(FEATURES, values, height=0.4, color=COLOURS[0])
        ax.set(xlim=(-0.6, 0.6), xlabel=f"importance for label {cells[LABEL].ours:.0f}")
    return figure


def _draw_plane(ax: "Axes") -> None:
    axis = np.linspace(-4, 4, 161)
    points = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T
    labels = Xor().predict(points).reshape(len(axis), -1)
    ax.contourf(axis, axis, labels, levels=[-0.5, 0.5, 1.5], colors=["#f3d9c9", "#c5ddf3"])
    ax.plot(*np.array(list(INSTANCES.values())).T, "o", color="#c92a2a")
    ax.set(xlabel="first feature", ylabel="second feature")
