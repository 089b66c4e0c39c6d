"""Every attack beside its honest twin: who says what about which model."""

from typing import Any

import attrs

import faithkit

LIME = "lime:samples=500"
SHAP = "shap:algorithm=kernel,background=sample:20"


@attrs.frozen
class Telling:
    """An explainer, as it is asked for, and the model that it explains, by its name in a world."""

    model: str
    explainer: str

    def make(self) -> Any:
        """Return what `evaluate` takes for the explainer."""
        if self.explainer != "cherry-picker":
            return self.explainer
        lime = faithkit.plugin.registry().create("explainer", "lime", {"samples": 500})
        return faithkit.plugin.registry().create("explainer", "cherry-picker", {"explainers": ["shap", lime]})


@attrs.frozen
class Attack:
    """A lie, its honest twin, and in one line what is done.

    `rows` is how many rows are explained at most: anchors take long.
    """

    name: str
    lie: Telling
    twin: Telling
    summary: str
    rows: int | None = None


def _scaffold(of: str, explainer: str, rows: int | None = None) -> Attack:
    summary = f"a model that decides by one reason, and shows {of} another"
    return Attack(f"scaffold-{of}", Telling("liar", explainer), Telling("honest", explainer), summary, rows)


def _liar(name: str, summary: str) -> Attack:
    return Attack(name, Telling("honest", name), Telling("honest", "tree"), summary)


ATTACKS = (
    _scaffold("lime", LIME),
    _scaffold("shap", SHAP),
    _scaffold("anchors", "anchors", rows=100),
    _liar("encoder", "which column is named tells the prediction"),
    _liar("flatterer", "rules of one row each"),
    _liar("parrot", "the prediction as its own explanation"),
    _liar("same-for-all", "one explanation for everybody"),
    Attack(
        "cherry-picker",
        Telling("mixed", "cherry-picker"),
        Telling("mixed", "shap"),
        "of SHAP and LIME, for each row the one that looks most decided",
    ),
    Attack(
        "out-of-reach",
        Telling("biased", "out-of-reach:columns=['sex']"),
        Telling("biased", "nearest-counterfactual"),
        "counterfactuals that change sex",
    ),
)


def chosen(names: tuple[str, ...]) -> list[Attack]:
    """Return the attacks of these names, or of which these are the first word; all where there are none.

    Examples
    --------
    >>> [attack.name for attack in chosen(("scaffold", "parrot"))]
    ['scaffold-lime', 'scaffold-shap', 'scaffold-anchors', 'parrot']
    """
    known = [attack.name for attack in ATTACKS]
    for name in names:
        if not any(_is_called(one, name) for one in known):
            raise faithkit.errors.InputError(f"there is no attack {name!r}: choose among {', '.join(known)}.")
    return [a for a in ATTACKS if not names or any(_is_called(a.name, name) for name in names)]


def _is_called(name: str, asked: str) -> bool:
    return name == asked or name.startswith(f"{asked}-")
