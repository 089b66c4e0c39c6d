"""Honest explainers: they say what the model does, as well as explanations of their form can."""

import numpy as np
from explainer_catalogue.entry import (
    HONEST,
    Says,
    entry,
    explained_by,
    named,
    rules,
    says_importances,
    says_rules,
)
from explainer_catalogue.formulas import shapley_values
from explainer_catalogue.worlds import (
    COUNT_WEIGHTS,
    FUELS,
    GATED,
    PLANT_LABELS,
    PREMIUMS,
    TOPIC_WORDS,
    TOPICS,
    _cell,
)

import faithkit
from faithkit import Rule
from faithkit.plugin import Contains, Interval, NoneOf, OneOf

LIME = "lime:samples=400"


def _honest(name, family, form, applies, world, n, **options):
    return entry(name, HONEST, family, form, applies, world, n, **options)


# ---- importances


@_honest("shap-linear", "importances", "model", "near", "sensors", 400, is_fast=True)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(600)}


@_honest("shap-linear-few-background-rows", "importances", "model", "near", "sensors", 800)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(100)}


@_honest("shap-linear-three-classes", "importances", "model", "near", "three-sensors", 600, is_fast=True)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(600)}


@_honest("shap-boosting-four-classes", "importances", "model", "near", "ships", 500, is_fast=True)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(500)}


@_honest("shap-boosting-log", "importances", "log with X", "near", "ships", 1500)
def _(drawn):
    return drawn.log(named(explained_by(drawn, "shap", drawn.X).values, drawn.X))


@_honest("shap-forest-of-counts", "importances", "model", "near", "count-forest", 500)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(300)}


@_honest("shap-missing-values", "importances", "model", "near", "patients", 800)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(800)}


@_honest("shap-three-of-twenty-columns", "importances", "model", "near", "wide", 700)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(400)}


@_honest("shap-three-equal-shares-300-rows", "importances", "model", "near", "wide", 300)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(400)}


@_honest("shap-rent-regression", "importances", "model", "near", "flats", 600)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(600)}


@_honest("shap-wines", "importances", "model", "near", "wines", 300)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(300)}


@_honest("shap-disease-regression", "importances", "model", "near", "disease", 400)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(400)}


@_honest("shap-forest-cover", "importances", "model", "near", "forests", 600)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(300)}


@_honest("shap-endgames", "importances", "model", "near", "endgames", 1000)
def _(drawn):
    return {"explainer": "shap", "background": drawn.background(300)}


def _count_terms(X, seeds=None):
    """The terms of a sum, less their means: its exact Shapley values."""
    phi = np.zeros(X.shape)
    for name, weight in COUNT_WEIGHTS.items():
        phi[:, X.columns.get_loc(name)] = weight * (np.sqrt(X[name]) - 1.67)
    return phi


@_honest("terms-of-a-sum", "importances", "model", "near", "counts", 1000, is_fast=True)
def _(drawn):
    return {
        "explainer": says_importances("terms", _count_terms, drawn.model),
        "background": drawn.background(1000),
    }


@_honest("terms-of-a-sum-log", "importances", "log with X", "near", "counts", 2000)
def _(drawn):
    return drawn.log(named(_count_terms(drawn.X), drawn.X))


@_honest("terms-of-a-sum-pool", "importances", "log with X", "near", "counts", 400)
def _(drawn):
    return drawn.log(named(_count_terms(drawn.X), drawn.X), pool=drawn.pool(800))


def _tariff_terms(X, seeds=None):
    phi = np.zeros(X.shape)
    places, fuels = X["place"].map(PREMIUMS).to_numpy(float), X["fuel"].map(FUELS).to_numpy(float)
    phi[:, X.columns.get_loc("place")] = places - np.mean([*PREMIUMS.values()])
    phi[:, X.columns.get_loc("fuel")] = fuels - np.mean([*FUELS.values()])
    phi[:, X.columns.get_loc("size")] = 3.0 * (X["size"].to_numpy(float) - 100)
    return phi


@_honest("terms-of-a-tariff-regression", "importances", "log with X", "near", "tariff", 1000)
def _(drawn):
    return drawn.log(named(_tariff_terms(drawn.X), drawn.X))


@_honest("terms-of-a-tariff-model", "importances", "model", "near", "tariff", 600)
def _(drawn):
    return {
        "explainer": says_importances("terms", _tariff_terms, drawn.model),
        "background": drawn.background(600),
    }


def exact_shapley(drawn, columns, m=12):
    """Return an explainer that computes Shapley values by all coalitions of a few columns."""
    reference = drawn.background(m)

    def explain(X, seeds):
        return shapley_values(drawn.model, X, reference, columns)

    return says_importances("exact", explain, drawn.model)


@_honest("shapley-gated", "importances", "model", "near", "gates", 600)
def _(drawn):
    return {"explainer": exact_shapley(drawn, GATED), "background": drawn.background(600)}


@_honest("shapley-gated-log-3000", "importances", "log with X", "near", "gates", 3000)
def _(drawn):
    return drawn.log(named(shapley_values(drawn.model, drawn.X, drawn.background(8), GATED), drawn.X))


@_honest("shapley-product", "importances", "model", "near", "product", 500)
def _(drawn):
    return {"explainer": exact_shapley(drawn, ["x1", "x4"]), "background": drawn.background(500)}


@_honest("shapley-rare-label", "importances", "model", "near", "rare", 800)
def _(drawn):
    return {"explainer": exact_shapley(drawn, ["v0", "v1", "v2"], m=30), "background": drawn.background(800)}


@_honest("shapley-ten-zones", "importances", "model", "near", "grid", 800)
def _(drawn):
    return {"explainer": exact_shapley(drawn, ["east", "north"], m=30), "background": drawn.background(800)}


@_honest("lime-linear", "importances", "model", "near", "sensors", 300)
def _(drawn):
    return {"explainer": LIME, "background": drawn.background(600)}


@_honest("lime-boosting", "importances", "model", "near", "ships", 300)
def _(drawn):
    return {"explainer": LIME, "background": drawn.background(500)}


@_honest("gradient-linear", "importances", "model", "near", "sensors", 500)
def _(drawn):
    """A slope says how the score changes, and not what the value contributed."""
    return {"explainer": "gradient", "background": drawn.background(500)}


# ---- rules


@_honest("tree-itself", "rules", "model", "rule", "ship-tree", 500, is_fast=True)
def _(drawn):
    return {"explainer": "tree", "background": drawn.background(500)}


@_honest("tree-of-endgames", "rules", "model", "rule", "endgames", 2000)
def _(drawn):
    return {"explainer": "tree", "background": drawn.background(1000)}


@_honest("tree-surrogate-of-boosting", "rules", "model", "rule", "ships", 600)
def _(drawn):
    return {"explainer": "tree", "background": drawn.background(1500)}


@_honest("tree-surrogate-of-words", "rules", "model", "rule", "plants", 1000)
def _(drawn):
    return {"explainer": "tree", "background": drawn.background(1500)}


@_honest("tree-surrogate-of-a-bank", "rules", "model", "rule", "bank", 1000)
def _(drawn):
    return {"explainer": "tree", "background": drawn.background(2000)}


@_honest("tree-regression", "rules", "model", "rule", "flat-tree", 800)
def _(drawn):
    return {"explainer": "tree", "background": drawn.background(800)}


@_honest("empirical-anchors", "rules", "model", "rule", "patients", 400)
def _(drawn):
    return {"explainer": "empirical-anchors", "background": drawn.background(800)}


@_honest("anchors", "rules", "model", "rule", "plants", 300)
def _(drawn):
    return {"explainer": "anchors:beam_size=1", "background": drawn.background(300)}


AUTUMN = Interval("posted", low=19996.5, dates=True)  # from October 2024 on


def parcel_rules(X, seeds=None, predictions=None):
    """The decision list's own reasons: what holds, and what earlier lines do not."""
    inland, light = NoneOf("country", ["CH"]), Interval("weight", high=20.0)
    before = Interval("posted", high=19996.5, dates=True)
    lines = {
        "customs": Rule([OneOf("country", ["CH"])]),
        "freight": Rule([inland, Interval("weight", low=20.0)]),
        "hold": Rule([inland, light, AUTUMN, OneOf("content", ["glass"])]),
        "early": Rule([inland, light, before]),
        "solid": Rule([inland, light, AUTUMN, NoneOf("content", ["glass"])]),
    }
    is_early = before.mask(X)
    return [
        lines[("early" if early else "solid") if label == "send" else label]
        for label, early in zip(predictions, is_early, strict=True)
    ]


@_honest("decision-list", "rules", "model", "rule", "parcels", 1000, is_fast=True)
def _(drawn):
    return {"explainer": says_rules("list", parcel_rules), "background": drawn.background(500)}


@_honest("decision-list-log-of-texts", "rules", "log with X", "rule", "parcels", 800)
def _(drawn):
    """The reasons as texts, which are read as rules, dates among them."""
    return drawn.log([str(rule) for rule in parcel_rules(drawn.X, None, drawn.y)])


@_honest("one-condition-of-a-decision-list", "rules", "log with X", "rule", "parcels", 600)
def _(drawn):
    """Shorter reasons, which leave out what earlier lines say."""
    lines = {
        "customs": Rule([OneOf("country", ["CH"])]),
        "freight": Rule([Interval("weight", low=20.0)]),
        "hold": Rule([AUTUMN, OneOf("content", ["glass"])]),
        "send": Rule([NoneOf("country", ["CH"]), Interval("weight", high=20.0)]),
    }
    return drawn.log(rules([lines[label] for label in drawn.y], drawn.X))


def grid_rules(X, seeds=None, predictions=None):
    """The rectangle of each row."""
    known = {}
    for cell in range(10):
        column, is_north = divmod(cell, 2)
        east = Interval("east", -1 if column == 0 else column / 5, 2 if column == 4 else (column + 1) / 5)
        edge = 0.3 + 0.1 * column
        known[cell] = Rule([east, Interval("north", low=edge) if is_north else Interval("north", high=edge)])
    return [known[cell] for cell in _cell(X)]


@_honest("rectangles-of-ten-zones", "rules", "log with X", "rule", "grid", 3000)
def _(drawn):
    return drawn.log(rules(grid_rules(drawn.X), drawn.X))


PLANT_RULES = [
    Rule([OneOf("stem", ["wood"]), OneOf("leaf", ["needle"])]),
    Rule([OneOf("stem", ["wood"]), NoneOf("leaf", ["needle"]), OneOf("fruit", ["nut"])]),
    Rule([OneOf("stem", ["wood"]), NoneOf("leaf", ["needle"]), NoneOf("fruit", ["nut"])]),
    Rule([NoneOf("stem", ["wood"]), OneOf("flower", ["red"])]),
    Rule([NoneOf("stem", ["wood"]), OneOf("flower", ["white"])]),
    Rule([NoneOf("stem", ["wood"]), NoneOf("flower", ["red", "white"])]),
]


@_honest("key-of-plants", "rules", "log with X", "rule", "plants", 400, is_fast=True)
def _(drawn):
    """One reason for each of six labels, so the reasons name the labels, too."""
    return drawn.log(rules([PLANT_RULES[PLANT_LABELS.index(label)] for label in drawn.y], drawn.X))


@_honest("key-of-plants-with-colours", "rules", "model", "rule", "plants", 800)
def _(drawn):
    """The same, and grass is told by the colour of its flower: seven reasons for six labels."""

    def explain(X, seeds, predictions):
        blue = Rule([NoneOf("stem", ["wood"]), OneOf("flower", ["blue"])])
        bare = Rule([NoneOf("stem", ["wood"]), OneOf("flower", ["none"])])
        return [
            PLANT_RULES[PLANT_LABELS.index(label)]
            if label != "grass"
            else (blue if flower == "blue" else bare)
            for label, flower in zip(predictions, X["flower"], strict=True)
        ]

    return {"explainer": says_rules("key", explain), "background": drawn.background(300)}


# ---- texts


def topic_words(texts):
    """The first word, by the alphabet, of the topic that decides."""
    words = []
    for text in texts:
        bag = set(text.split())
        found = [sorted(bag & set(TOPIC_WORDS[topic])) for topic in TOPICS]
        words.append(next((hits[0] for hits in found if hits), None))
    return words


def says_words(name, function):
    """Return an explainer of single words ``(texts, seeds, predictions) -> words``."""

    def explain(X, seeds, predictor):
        words = function(X, seeds, predictor.predict(X))
        known = {word: Rule([Contains(word)]) for word in {*words} - {None}}
        return rules([known.get(word) for word in words], X)

    return Says(name, explain)


@_honest("keywords-of-tickets", "texts", "model", "rule", "tickets", 800, is_fast=True)
def _(drawn):
    return {"explainer": says_words("keyword", lambda X, seeds, predictions: topic_words(X))}


@_honest("keywords-of-tickets-log", "texts", "log with X", "rule", "tickets", 2000)
def _(drawn):
    words = [Rule([Contains(word)]) if word else None for word in topic_words(drawn.X)]
    return drawn.log(rules(words, drawn.X))


@_honest("top-coefficient-of-reviews", "texts", "model", "rule", "reviews", 1000)
def _(drawn):
    return {"explainer": "top-coefficient", "background": drawn.background(500)}


@_honest("top-coefficient-of-films", "texts", "model", "rule", "films", 800)
def _(drawn):
    return {"explainer": "top-coefficient", "background": drawn.background(500)}


@_honest("lime-words-of-tickets", "texts", "model", "rule", "tickets", 300)
def _(drawn):
    return {"explainer": "lime-text:samples=200", "background": drawn.background(200)}


@_honest("two-lime-words-of-reviews", "texts", "model", "rule", "reviews", 400)
def _(drawn):
    return {"explainer": "lime-text:samples=200,num_features=2", "background": drawn.background(200)}


# ---- examples


@_honest("nearest-of-60-trees", "examples", "model", "nearest", "blobs", 500, is_fast=True)
def _(drawn):
    explainer = "nearest-neighbor:prototypes=60,distance=euclidean"
    return {"explainer": explainer, "background": drawn.background(300)}


@_honest("nearest-of-20-trees-log", "examples", "log with X", "nearest", "blobs", 1000)
def _(drawn):
    options = {"prototypes": 20, "distance": "euclidean"}
    return drawn.log(explained_by(drawn, "nearest-neighbor", drawn.X, **options))


@_honest("balls-up-to-counterfactuals", "examples", "model", "ball", "blobs", 400)
def _(drawn):
    explainer = "nearest-counterfactual:distance=euclidean"
    return {"explainer": explainer, "background": drawn.background(1000)}


@_honest("balls-up-to-refined-counterfactuals", "examples", "model", "ball", "blobs", 600)
def _(drawn):
    explainer = "nearest-counterfactual:distance=euclidean,refine=true"
    return {"explainer": explainer, "background": drawn.background(1000)}


# ---- labels: values that say nothing about where they apply


def parcel_codes(X, predictions, rng=None):
    """A code for each line of the decision list that was reached, five of them."""
    early = (X["posted"] < "2024-10-01").to_numpy()
    codes = {"customs": "R10", "freight": "R22", "hold": "R31"}
    return [
        codes.get(label, "R40" if is_early else "R41")
        for label, is_early in zip(predictions, early, strict=True)
    ]


@_honest("reason-codes-log", "labels", "log", "equal", "parcels", 1500, is_fast=True)
def _(drawn):
    return drawn.log(parcel_codes(drawn.X, drawn.y), shows_rows=False, tell=parcel_codes)


def zone_names(X, predictions, rng=None):
    return [f"{'north' if cell % 2 else 'south'} of column {cell // 2}" for cell in _cell(X)]


@_honest("names-of-zones", "labels", "log with X", "equal", "grid", 600)
def _(drawn):
    return drawn.log(zone_names(drawn.X, drawn.y), tell=zone_names)


def leaf_numbers(drawn):
    return lambda X, predictions, rng=None: [f"leaf {k}" for k in drawn.model.apply(X)]


@_honest("leaf-numbers", "labels", "model", "equal", "ship-tree", 700)
def _(drawn):
    tell = leaf_numbers(drawn)

    def explain(X, seeds, predictor):
        return faithkit.Explanations.of(tell(X, None))

    return {"explainer": Says("leaf", explain), "background": drawn.background(100), "tell": tell}


@_honest("keywords-as-labels", "labels", "log", "equal", "tickets", 900)
def _(drawn):
    def tell(X, predictions, rng=None):
        return [word or "no word" for word in topic_words(X)]

    return drawn.log(tell(drawn.X, None), shows_rows=False, tell=tell)
