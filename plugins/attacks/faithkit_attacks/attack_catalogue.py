"""The attacks: for each lie its model, its explainer, and an honest twin to compare with."""

from typing import Any

import attrs

import faithkit
from faithkit_attacks.explainers.true_reason import TrueReason

LIME = "lime:samples=500"
SHAP = "shap:algorithm=kernel,background=sample:20"  # exact: all subsets of nine columns
TRUE_REASON = "true-reason"  # no component: it asks the model


@attrs.frozen
class ModelAndExplainer:
    """An explainer, as users name it, and the name of the scenario's model that it explains."""

    model: str
    explainer: str

    def create_explainer(self, model: Any) -> Any:
        """Return the explainer of a model, in a form that `evaluate` accepts."""
        create = faithkit.plugin.registry().create
        if self.explainer == TRUE_REASON:
            return TrueReason(model)
        if self.explainer == "cherry-picker":
            lime = create("explainer", "lime", {"samples": 500})
            return create("explainer", "cherry-picker", {"explainers": ["shap", lime]})
        if self.explainer.endswith("-signs"):
            shap = create("explainer", "shap", {"algorithm": "kernel", "background": "sample:20"})
            return create("explainer", self.explainer, {"explainer": shap})
        return self.explainer


@attrs.frozen
class Attack:
    """A lie, its honest twin, and a summary in one line.

    `sample` names the rows of the scenario that are explained, and `rows` limits how many, because anchors
    are slow. `needs` is an explainer of a plugin that this one does not require.
    """

    name: str
    lie: ModelAndExplainer
    twin: ModelAndExplainer
    summary: str
    sample: str = "people"
    rows: int | None = None
    needs: str | None = None

    def why_not(self) -> str | None:
        """Return why the attack cannot be measured: what it needs is not installed. None if it can."""
        if self.needs is None:
            return None
        return why_not_installed("explainer", self.needs)


def why_not_installed(kind: str, name: str) -> str | None:
    """Return what to install for a component; None if it is installed.

    Examples
    --------
    >>> why_not_installed("explainer", "parrot") is None
    True
    """
    try:
        faithkit.plugin.registry().find(kind, name)
    except faithkit.errors.UnknownComponentError as error:
        return str(error)
    return None


def _scaffold(target: str, explainer: str, rows: int | None = None, needs: str | None = None) -> Attack:
    summary = f"a model that decides by one reason, and shows {target} another"
    lie, twin = ModelAndExplainer("liar", explainer), ModelAndExplainer("honest", explainer)
    return Attack(f"scaffold-{target}", lie, twin, summary, rows=rows, needs=needs)


def _lying_explainer(name: str, summary: str, twin: str = TRUE_REASON, sample: str = "people") -> Attack:
    return Attack(name, ModelAndExplainer("honest", name), ModelAndExplainer("honest", twin), summary, sample)


ATTACKS = (
    _scaffold("lime", LIME),
    _scaffold("shap", SHAP),
    _scaffold("anchors", "anchors", rows=100, needs="anchors"),
    _lying_explainer("encoder", "the named column reveals the prediction"),
    _lying_explainer("flatterer", "rules that cover one row each"),
    _lying_explainer("parrot", "the prediction as its own explanation"),
    _lying_explainer("label-codes", "codes of the prediction, five for each"),
    _lying_explainer("same-for-all", "one explanation for all rows"),
    _lying_explainer("cut-rules", "rules cut to the sample: each covers one other row", sample="own-rows"),
    _lying_explainer("false-rules", "rules that are false of two rows in three"),
    _lying_explainer("random-signs", "exact importances with random signs", SHAP),
    _lying_explainer("inverted-signs", "exact importances with all signs inverted", SHAP),
    Attack(
        "topic-word",
        ModelAndExplainer("by-word", "topic-word"),
        ModelAndExplainer("by-word", TRUE_REASON),
        "a word of the topic, where another word decides",
        sample="notes",
    ),
    Attack(
        "repeated-cases",
        ModelAndExplainer("honest", "flatterer:leave_out=['time']"),
        ModelAndExplainer("honest", TRUE_REASON),
        "30 people, repeated with a time stamp, and rules that cover one of them each",
        sample="repeats",
    ),
    Attack(
        "cherry-picker",
        ModelAndExplainer("mixed", "cherry-picker"),
        ModelAndExplainer("mixed", "shap"),
        "SHAP or LIME, for each row whichever looks clearer",
    ),
    Attack(
        "out-of-reach",
        ModelAndExplainer("biased", "out-of-reach:columns=['sex']"),
        ModelAndExplainer("biased", "nearest-counterfactual"),
        "counterfactuals that change sex",
        needs="nearest-counterfactual",
    ),
)


def select_attacks(names: tuple[str, ...]) -> list[Attack]:
    """Return the attacks with these names, or whose names start with one of these words; all by default.

    Examples
    --------
    >>> [attack.name for attack in select_attacks(("scaffold", "parrot"))]
    ['scaffold-lime', 'scaffold-shap', 'scaffold-anchors', 'parrot']
    """
    attack_names = [attack.name for attack in ATTACKS]
    for name in names:
        if not any(_matches_name(attack_name, name) for attack_name in attack_names):
            raise faithkit.errors.InputError(
                f"there is no attack {name!r}: choose among {', '.join(attack_names)}."
            )
    return [
        attack for attack in ATTACKS if not names or any(_matches_name(attack.name, name) for name in names)
    ]


def _matches_name(attack_name: str, name: str) -> bool:
    return attack_name == name or attack_name.startswith(f"{name}-")
