"""The experiments by name; each is a module that is imported when it runs.

An experiment's module has ``run(context) -> Findings``. Where the paper has a figure it also has
``draw(findings) -> Figure``, and where its cells are too many for a page ``shown(cells) -> cells``.
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
        """The module, imported when first asked for."""
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


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the experiments of some names, all where there are none.

    Examples
    --------
    >>> [experiment.name for experiment in chosen(["table-text"])]
    ['table-text']
    >>> chosen(["table-txt"])
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: there is no experiment 'table-txt'. Did you mean 'table-text'?
    """
    for name in names:
        if name not in EXPERIMENTS:
            raise faithkit.errors.InputError(f"there is no experiment {name!r}. {_advice(name)}")
    return [EXPERIMENTS[name] for name in dict.fromkeys(names)] if names else list(EXPERIMENTS.values())


def _advice(name: str) -> str:
    near = difflib.get_close_matches(name.casefold(), EXPERIMENTS, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"There is: {', '.join(EXPERIMENTS)}."
