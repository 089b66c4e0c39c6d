"""The experiments by name. Each is a module that is imported when it runs.

The module of an experiment has ``run(context) -> Findings``. If the paper has a figure, it also has
``draw(findings) -> Figure``. If a page cannot show all cells, it has ``select_shown(cells) -> cells``.
"""

import difflib
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import attrs

import faithkit


@attrs.frozen
class Experiment:
    """A table, a figure or a section of the paper, and the module that repeats it."""

    name: str
    summary: str

    @property
    def module(self) -> ModuleType:
        """The module of the experiment, imported on first use."""
        return import_module(f"faithkit_paper.experiments.{self.name.replace('-', '_')}")


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment("table-text", "Highlighted text on rt-polarity: four explainers (table 1)."),
        Experiment("figure-trees", "Decision trees as model and explainer: estimate against sample size."),
        Experiment("figure-knn", "Nearest neighbours as model and explainer: estimate against sample size."),
        Experiment("figure-anchors", "Anchors on boosted trees: what the threshold does (figures 3 and 6)."),
        Experiment(
            "figure-anchor-example", "A record of Adult, its anchors at two thresholds, and their counts."
        ),
        Experiment("table-shap", "SHAP under six discretizations, six datasets (table 2)."),
        Experiment("table-lime", "LIME under six discretizations, six datasets (appendix D)."),
        Experiment("table-counterfactuals", "DiCE under four discretizations, six datasets (appendix D)."),
        Experiment("figure-populations", "Two populations of Adult, four explainers (section 5.3)."),
        Experiment("figure-lime-xor", "Two labels, one explanation: LIME on XOR (appendix B)."),
        Experiment("table-models", "Gradient boosted trees: hyper-parameters and accuracy (appendix D)."),
        Experiment("claims", "The theorems and claims against simulation."),
    )
}


def select_experiments(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments with these names, by default all.

    Examples
    --------
    >>> [experiment.name for experiment in select_experiments(["table-text"])]
    ['table-text']
    >>> select_experiments(["table-txt"])
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: there is no experiment 'table-txt'. Did you mean 'table-text'?
    """
    for name in names:
        if name not in EXPERIMENTS:
            raise faithkit.errors.InputError(f"there is no experiment {name!r}. {_advice(name)}")
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)] if names else list(EXPERIMENTS.values())


def _advice(name: str) -> str:
    matches = difflib.get_close_matches(name.casefold(), EXPERIMENTS, n=1)
    return f"Did you mean {matches[0]!r}?" if matches else f"There is: {', '.join(EXPERIMENTS)}."
