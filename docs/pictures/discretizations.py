"""The same explanations under finer and finer discretizations: the value, and the unchecked share."""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier

import faithkit


def everything(explanations):
    """Call all explanations the same."""
    return [0] * len(explanations)


tumours = faithkit.load_dataset("breast-cancer")
X = tumours.X[["mean radius", "mean texture", "mean smoothness", "mean symmetry"]]
background, sample = X[::3], X.drop(index=X.index[::3])
model = RandomForestClassifier(random_state=0).fit(background, tumours.y[::3])
result = faithkit.evaluate(model, sample, explainer="shap", background=background)
coarse = [everything, "fp:digits=0,how=round", "sign-of-top:k=1", "sign", "rank"]
tried = faithkit.try_discretizers(result, [*coarse, "quantile:bins=3", "1fp", "2fp"])
tried = tried.sort_values("n_explanations", ignore_index=True)

figure, axes = plt.subplots(figsize=(7.2, 3.4))
value, unchecked = tried["consistency"], tried["up_to"] - tried["consistency"]
axes.bar(tried.index, unchecked, bottom=value, width=0.3, color="#e8e3d3")
axes.plot(tried.index, value, "o", color="#2b6a99")
axes.plot(tried.index, tried["by_chance"], "_", color="#b3452c", markersize=14, markeredgewidth=2)
names = tried["discretizer"].replace("fp:digits=0,how=round", "to whole\nnumbers").str.replace(":", "\n")
axes.set_xticks(tried.index, names + "\n" + tried["n_explanations"].astype(str), fontsize=8)
axes.set(xlabel="discretization, and how many distinct explanations it leaves")
axes.set(ylabel="consistency", ylim=(-0.03, 1.03))
