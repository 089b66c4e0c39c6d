"""The attacks: for each lie its model, its explainer, and an honest twin to compare with."""

from typing import Any

import attrs

import faithkit

LIME = "lime:samples=500"
SHAP = "shap:algorithm=kernel,background=sample:20"


@attrs.frozen
class ModelAndExplainer:
    """An explainer, as users name it, and the name of the scenario's model that it explains."""

    model: str
    explainer: str

    def create_explainer(self) -> Any:
        """Return the explainer in a form that `evaluate` accepts."""
        if self.explainer != "cherry-picker":
            return self.explainer
        lime = faithkit.plugin.registry().create("explainer", "lime", {"samples": 500})
        return faithkit.plugin.registry().create("explainer", "cherry-picker", {"explainers": ["shap", lime]})


@attrs.frozen
class Attack:
    """A lie, its honest twin, and a summary in one line.

    `rows` limits how many rows are explained, because anchors are slow.
    """

    name: str
    lie: ModelAndExplainer
    twin: ModelAndExplainer
    summary: str
    rows: int | None = None


def _scaffold(target: str, explainer: str, rows: int | None = None) -> Attack:
    summary = f"a model that decides by one reason, and shows {target} another"
    return Attack(
        f"scaffold-{target}",
        ModelAndExplainer("liar", explainer),
        ModelAndExplainer("honest", explainer),
        summary,
        rows,
    )


def _lying_explainer(name: str, summary: str) -> Attack:
    return Attack(name, ModelAndExplainer("honest", name), ModelAndExplainer("honest", "tree"), summary)


ATTACKS = (
    _scaffold("lime", LIME),
    _scaffold("shap", SHAP),
    _scaffold("anchors", "anchors", rows=100),
    _lying_explainer("encoder", "the named column reveals the prediction"),
    _lying_explainer("flatterer", "rules that cover one row each"),
    _lying_explainer("parrot", "the prediction as its own explanation"),
    _lying_explainer("same-for-all", "one explanation for all rows"),
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
