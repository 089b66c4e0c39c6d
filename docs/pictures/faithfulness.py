"""One refusal, two explanations of it: who else they apply to, and what those got."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

rng = np.random.default_rng(4)
debt, income = rng.uniform(0, 1, 90), rng.uniform(10, 80, 90)
refused = debt - income / 100 > 0.15
debt, income, refused = np.append(debt, 0.66), np.append(income, 30), np.append(refused, True)

explanations = {
    "“your debt is above 0.60\nand your income below 40”": (debt > 0.6) & (income < 40),
    "“your debt is above 0.40”": debt > 0.4,
}
regions = [(0.6, 10, 0.4, 30), (0.4, 10, 0.6, 70)]

figure, panels = plt.subplots(1, 2, figsize=(7.4, 3.4), sharey=True)
for axes, (words, applies), (x, y, width, height) in zip(panels, explanations.items(), regions, strict=True):
    axes.add_patch(Rectangle((x, y), width, height, color="#e8e3d3", zorder=0))
    for label, colour, mark in ((True, "#b3452c", "s"), (False, "#2b6a99", "o")):
        inside, outside = applies & (refused == label), ~applies & (refused == label)
        axes.scatter(debt[inside], income[inside], c=colour, marker=mark, s=26)
        axes.scatter(debt[outside], income[outside], c=colour, marker=mark, s=26, alpha=0.18)
    axes.scatter(debt[-1], income[-1], s=150, facecolors="none", edgecolors="black", linewidths=1.4)
    others = applies.sum() - 1
    agree = (applies & refused).sum() - 1
    axes.set_title(f"{words}\napplies to {others} others: {agree} refused", fontsize=9.5)
    axes.set(xlabel="debt", xlim=(0, 1), ylim=(10, 80))
panels[0].set_ylabel("income")
