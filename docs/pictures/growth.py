"""What grows with rows (consistency), rules (sufficiency), and both kinds of rows (SHAP): time and memory."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

COLOURS = {"seconds": "#2b6a99", "megabytes": "#b3452c"}
FIRST = 100_000  # below, what does not depend on the rows is a part of the time


def slope(points):
    """Return the exponent of the growth: the slope of log time against log size."""
    return np.polyfit(np.log(points["size"]), np.log(points["seconds"]), 1)[0]


# the build runs a picture in its own folder
growth = pd.read_csv(Path("..", "benchmarks", "growth.csv"))
curves = list(growth.groupby("curve", sort=True))
size = 3.6 * len(curves), 5.0
figure, panels = plt.subplots(2, len(curves), figsize=size, sharex="col", layout="constrained")
for axes, what in zip(panels[:, 0], COLOURS, strict=True):
    axes.set_ylabel(what)
for column, (curve, points) in zip(panels.T, curves, strict=True):
    of = points["of"].iloc[0]
    for axes, what in zip(column, ("seconds", "megabytes"), strict=True):
        axes.loglog(points["size"], points[what], "o-", color=COLOURS[what], markersize=4)
        axes.grid(alpha=0.3)
    large = points[points["size"] >= FIRST] if of == "rows" else points
    column[0].set_title(f"{curve}: time ∝ size$^{{{slope(large):.2f}}}$", fontsize=10)
    column[1].set_xlabel(of)
