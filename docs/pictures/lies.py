"""An honest model and a liar: LIME explains both alike, and the measured sufficiency differs."""

import matplotlib.pyplot as plt
import numpy as np
from faithkit_attacks import honest, liar, make_applicants

import faithkit

BLUE, RED, SAND, GREY = "#2b6a99", "#b3452c", "#e8e3d3", "#6b6b6b"
MODELS = (
    ("honest model: refuses late payers", honest, BLUE),
    ("liar: refuses women", liar, RED),
)
X, background = make_applicants(400, seed=1000), make_applicants(seed=1)

figure = plt.figure(figsize=(8.6, 3.8), layout="constrained")
explained, measured = figure.subfigures(1, 2, width_ratios=(1.2, 1), wspace=0.04)
explained.suptitle("LIME: the same reason for both", fontsize=11.5)
measured.suptitle("faithkit: do others with the same\nreason get the same answer?", fontsize=11.5)
panels, axes = explained.subplots(2, 1, sharex=True), measured.subplots()
for place, (name, model, colour) in enumerate(MODELS):
    result = faithkit.evaluate(model, X, "lime:samples=500", background=background)
    weights, panel, sufficiency = np.abs(result.rows.explanations.values), panels[place], result.sufficiency
    blamed = (X.columns[weights.argmax(axis=1)] == "arrears").sum()
    columns = X.columns.str.replace("arrears", "paid late")
    panel.bar(columns, weights.mean(axis=0), color=[colour if c == "paid late" else SAND for c in columns])
    panel.set_title(name, fontsize=10, loc="left", color=colour, fontweight="bold")
    caption = f"“because of late payments”\nis LIME's first reason for {blamed} of {len(X)}"
    panel.text(0, 0.5, caption, fontsize=9.5, transform=panel.transAxes, va="center")
    panel.tick_params("x", rotation=35, labelsize=8.5, length=0)
    panel.set(ylim=(0, 1.05), yticks=[])
    panel.spines[["top", "right", "left"]].set_visible(False)
    ends = [[sufficiency.value - sufficiency.low], [sufficiency.high - sufficiency.value]]
    axes.errorbar([place], [sufficiency.value], yerr=ends, fmt="o", color=colour, markersize=9, capsize=8)
    where = {"xytext": (0, 12), "textcoords": "offset points", "ha": "center", "fontsize": 16}
    axes.annotate(
        f"{sufficiency.value:.2f}", (place, sufficiency.value), color=colour, fontweight="bold", **where
    )
axes.axhline(result.chance, color=GREY, linestyle="--", linewidth=1, zorder=0)
axes.text(-0.45, result.chance - 0.012, "chance", color=GREY, fontsize=9.5, va="top")
axes.set(xlim=(-0.5, 1.5), ylim=(0.35, 1.13), yticks=[0.5, 0.75, 1.0])
axes.set_xticks([0, 1], ["honest model", "liar"], fontsize=10.5)
axes.spines[["top", "right"]].set_visible(False)
