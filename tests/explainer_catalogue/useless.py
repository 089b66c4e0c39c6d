"""Useless explainers: honest in form, and chosen without the model, or for another one."""

import numpy as np
from explainer_catalogue.entry import (
    USELESS,
    Says,
    entry,
    explained_by,
    named,
    normals,
    rules,
    says_importances,
    says_rules,
    uniforms,
)
from explainer_catalogue.formulas import shapley_values
from explainer_catalogue.honest import _count_terms, _tariff_terms, says_words
from explainer_catalogue.worlds import DISHES, FILLERS, GATED, world

import faithkit
from faithkit import Rule
from faithkit.plugin import Interval, OneOf


def _useless(name, family, form, applies, world, n, **options):
    return entry(name, USELESS, family, form, applies, world, n, **options)


# ---- importances


def random_importances(X, seeds):
    return normals(seeds, X.shape[1])


def _says_random(drawn):
    return says_importances("random", random_importances, drawn.model)


@_useless("random-importances", "importances", "model", "near", "sensors", 500, is_fast=True)
def _(drawn):
    return {"explainer": _says_random(drawn), "background": drawn.background(600)}


@_useless("random-importances-four-classes-log", "importances", "log with X", "near", "ships", 800)
def _(drawn):
    return drawn.log(named(drawn.rng.normal(size=drawn.X.shape), drawn.X))


@_useless("random-importances-rare-label", "importances", "model", "near", "rare", 1000, is_fast=True)
def _(drawn):
    """Nearly all rows have one label: any explanation is right of nine in ten."""
    return {"explainer": _says_random(drawn), "background": drawn.background(1000)}


@_useless("random-importances-rare-label-log-3000", "importances", "log with X", "near", "rare", 3000)
def _(drawn):
    return drawn.log(named(drawn.rng.normal(size=drawn.X.shape), drawn.X))


@_useless("random-importances-of-a-bank", "importances", "model", "near", "bank", 600)
def _(drawn):
    return {"explainer": _says_random(drawn), "background": drawn.background(600)}


@_useless("random-importances-missing-values", "importances", "model", "near", "patients", 600)
def _(drawn):
    return {"explainer": _says_random(drawn), "background": drawn.background(200)}


@_useless("random-importances-regression", "importances", "model", "near", "flats", 600)
def _(drawn):
    return {"explainer": _says_random(drawn), "background": drawn.background(600)}


@_useless("one-random-column", "importances", "model", "near", "wide", 1000)
def _(drawn):
    def explain(X, seeds):
        return np.eye(X.shape[1])[(uniforms(seeds, 1)[:, 0] * X.shape[1]).astype(int)]

    return {"explainer": says_importances("one", explain, drawn.model), "background": drawn.background(500)}


@_useless("random-importances-few-relevant-columns-pool", "importances", "log with X", "near", "wide", 500)
def _(drawn):
    return drawn.log(named(drawn.rng.normal(size=drawn.X.shape), drawn.X), pool=drawn.pool(1000))


@_useless("permuted-importances", "importances", "model", "near", "counts", 600, is_fast=True)
def _(drawn):
    """The weights are true, and belong to other columns of the row."""

    def order(seeds, d):
        return np.argsort(uniforms(seeds, d), axis=1)

    def explain(X, seeds):
        return np.take_along_axis(_count_terms(X), order(seeds, X.shape[1]), axis=1)

    return {
        "explainer": says_importances("permuted", explain, drawn.model),
        "background": drawn.background(600),
    }


@_useless("permuted-importances-of-a-tariff", "importances", "log with X", "near", "tariff", 800)
def _(drawn):
    return drawn.log(named(drawn.rng.permuted(_tariff_terms(drawn.X), axis=1), drawn.X))


@_useless("permuted-importances-of-forest-cover", "importances", "log with X", "near", "forests", 600)
def _(drawn):
    phi = explained_by(drawn, "shap", drawn.X).values
    return drawn.log(named(drawn.rng.permuted(phi, axis=1), drawn.X))


@_useless("importances-of-other-rows", "importances", "log with X", "near", "gates", 1000)
def _(drawn):
    """Explanations of the right model, each under the wrong row."""
    phi = shapley_values(drawn.model, drawn.X, drawn.background(8), GATED)
    return drawn.log(named(phi[drawn.rng.permutation(drawn.n)], drawn.X))


@_useless("one-random-vector-for-all", "importances", "model", "near", "sensors", 500)
def _(drawn):
    vector = np.random.default_rng(drawn.seed).normal(size=8)

    def explain(X, seeds):
        return np.tile(vector, (len(X), 1))

    return {
        "explainer": says_importances("constant", explain, drawn.model),
        "background": drawn.background(500),
    }


@_useless("equal-importances", "importances", "log with X", "near", "product", 600)
def _(drawn):
    return drawn.log(named(np.full(drawn.X.shape, 1 / 7), drawn.X))


@_useless("one-vector-of-no-column-that-counts", "importances", "log with X", "near", "wide", 600)
def _(drawn):
    return drawn.log(named(np.tile(np.eye(20)[0] + 0.5 * np.eye(20)[1], (drawn.n, 1)), drawn.X))


@_useless("values-as-importances", "importances", "model", "near", "sensors", 800)
def _(drawn):
    """The row itself: a column is said to matter where its value is large."""

    def explain(X, seeds):
        return X.to_numpy(float)

    return {
        "explainer": says_importances("values", explain, drawn.model),
        "background": drawn.background(800),
    }


def _another_model(drawn):
    """A boosting of the same table that learnt labels of columns which the real one does not read."""
    from sklearn.ensemble import GradientBoostingClassifier

    X = drawn.world.draw(1000, 99)
    labels = np.where(X["crew"] + 3 * X["engines"] > 27, "large", "small").astype(object)
    return GradientBoostingClassifier(n_estimators=20, random_state=0).fit(X, labels)


@_useless("shap-of-another-model", "importances", "log with X", "near", "ships", 700)
def _(drawn):
    return drawn.log(named(explained_by(drawn, "shap", drawn.X, _another_model(drawn)).values, drawn.X))


def _model_of_coins(drawn):
    from sklearn.linear_model import LogisticRegression

    X = drawn.world.draw(300, 98)
    return LogisticRegression(C=100).fit(X, np.random.default_rng(drawn.seed).integers(0, 3, 300))


@_useless("shap-of-a-model-of-coins", "importances", "log with X", "near", "three-sensors", 900)
def _(drawn):
    return drawn.log(named(explained_by(drawn, "shap", drawn.X, _model_of_coins(drawn)).values, drawn.X))


# ---- rules


@_useless("a-true-condition-on-the-sender", "rules", "model", "rule", "parcels", 600, is_fast=True)
def _(drawn):
    """The sender, or the half of the width: neither counts."""

    def explain(X, seeds, predictions):
        width = [Interval("width", high=38.0), Interval("width", low=38.0)]
        return [
            Rule([width[int(row_width > 38)]])
            if u < 0.5
            else Rule([OneOf("sender", [], missing=True) if sender is None else OneOf("sender", [sender])])
            for u, row_width, sender in zip(
                uniforms(seeds, 1)[:, 0],
                X["width"],
                X["sender"].astype(object).where(X["sender"].notna(), None),
                strict=True,
            )
        ]

    return {"explainer": says_rules("sender", explain), "background": drawn.background(100)}


def _half(X, name, value, middle):
    return Interval(name, low=middle) if value > middle else Interval(name, high=middle)


def random_halves(X, uniform, width):
    """Return rules of `width` random columns: on which side of the median each value is."""
    names, medians = list(X.columns), X.median().to_dict()
    chosen = np.argsort(uniform, axis=1)[:, :width]
    table = X.to_numpy(float)
    return [
        Rule([_half(X, names[j], table[i, j], medians[names[j]]) for j in columns])
        for i, columns in enumerate(chosen)
    ]


@_useless("half-of-a-random-column", "rules", "model", "rule", "sensors", 1000, is_fast=True)
def _(drawn):
    medians = {f"t{j}": 0.0 for j in range(8)}

    def explain(X, seeds, predictions):
        chosen = (uniforms(seeds, 1)[:, 0] * 8).astype(int)
        table = X.to_numpy()
        return [Rule([_half(X, f"t{j}", table[i, j], medians[f"t{j}"])]) for i, j in enumerate(chosen)]

    return {"explainer": says_rules("half", explain), "background": drawn.background(100)}


@_useless("two-random-halves-log", "rules", "log with X", "rule", "ships", 800)
def _(drawn):
    return drawn.log(rules(random_halves(drawn.X, drawn.rng.random(drawn.X.shape), 2), drawn.X))


@_useless("three-random-halves-rare-label", "rules", "log with X", "rule", "rare", 2000)
def _(drawn):
    return drawn.log(rules(random_halves(drawn.X, drawn.rng.random(drawn.X.shape), 3), drawn.X))


@_useless("half-of-a-random-column-forest-cover", "rules", "log with X", "rule", "forests", 1000)
def _(drawn):
    return drawn.log(rules(random_halves(drawn.X, drawn.rng.random(drawn.X.shape), 1), drawn.X))


@_useless("a-tree-of-coins", "rules", "log with X", "rule", "blobs", 1500)
def _(drawn):
    """The paths of a tree that learnt coins."""
    from sklearn.tree import DecisionTreeClassifier

    X = drawn.world.draw(400, 97)
    tree = DecisionTreeClassifier(max_leaf_nodes=16, random_state=0)
    tree.fit(X, np.random.default_rng(drawn.seed).integers(0, 2, 400))
    return drawn.log(explained_by(drawn, "tree", drawn.X, tree))


@_useless("one-rule-for-all", "rules", "model", "rule", "ship-tree", 500)
def _(drawn):
    def explain(X, seeds, predictions):
        return [Rule([Interval("length", low=0.0)])] * len(X)

    return {"explainer": says_rules("constant", explain), "background": drawn.background(100)}


@_useless("one-rule-for-all-rare-label", "rules", "log with X", "rule", "rare", 1500)
def _(drawn):
    return drawn.log(rules([Rule([Interval("v5", low=-9.0)])] * drawn.n, drawn.X))


@_useless("tenths-of-a-column-that-does-not-count", "rules", "log with X", "rule", "grid", 2000)
def _(drawn):
    tenth = np.minimum((drawn.X["wind"].to_numpy() * 10).astype(int), 9)
    return drawn.log(
        rules([Rule([Interval("wind", k / 10 - (k == 0), (k + 1) / 10)]) for k in tenth], drawn.X)
    )


@_useless("light-and-scent-of-plants", "rules", "model", "rule", "plants", 900)
def _(drawn):
    def explain(X, seeds, predictions):
        return [
            Rule([OneOf("light", [light]), OneOf("scent", [scent])])
            for light, scent in zip(X["light"], X["scent"], strict=True)
        ]

    return {"explainer": says_rules("light", explain), "background": drawn.background(100)}


@_useless("month-of-posting-as-text", "rules", "log with X", "rule", "parcels", 700)
def _(drawn):
    days = [f"{day:%Y-%m}-01" for day in drawn.X["posted"]]
    return drawn.log([f"posted >= {day} and sender != shop (or missing)" for day in days])


@_useless("floor-and-balcony-of-rents", "rules", "model", "rule", "flats", 600)
def _(drawn):
    def explain(X, seeds, predictions):
        return [
            Rule([_half(X, "floor", floor, 5.5), OneOf("balcony", [balcony])])
            for floor, balcony in zip(X["floor"], X["balcony"], strict=True)
        ]

    return {"explainer": says_rules("floor", explain), "background": drawn.background(100)}


# ---- texts


def random_word(X, seeds, predictions=None):
    """A word of the text, whatever the model reads."""
    place = uniforms(seeds, 1)[:, 0]
    return [text.split()[int(u * len(text.split()))] for text, u in zip(X, place, strict=True)]


@_useless("random-word-of-tickets", "texts", "model", "rule", "tickets", 1000)
def _(drawn):
    return {"explainer": says_words("random", random_word)}


@_useless("random-word-of-films", "texts", "model", "rule", "films", 800)
def _(drawn):
    return {"explainer": says_words("random", random_word)}


@_useless("first-word-of-tickets", "texts", "model", "rule", "tickets", 800)
def _(drawn):
    return {"explainer": "first-word"}


@_useless("please-in-every-ticket", "texts", "model", "rule", "tickets", 500)
def _(drawn):
    return {"explainer": says_words("please", lambda X, seeds, predictions: ["please"] * len(X))}


@_useless("dish-of-reviews", "texts", "model", "rule", "reviews", 800, is_fast=True)
def _(drawn):
    """The topic of the text, which the model does not read."""

    def explain(X, seeds, predictions):
        return [next(word for word in text.split() if word in DISHES) for text in X]

    return {"explainer": says_words("dish", explain)}


@_useless("longest-word-of-films", "texts", "log with X", "rule", "films", 850)
def _(drawn):
    words = [max(sorted(text.split()), key=len) for text in drawn.X]
    return drawn.log(rules([Rule([faithkit.plugin.Contains(word)]) for word in words], drawn.X))


@_useless("filler-of-letters-log", "texts", "log with X", "rule", "letters", 1200)
def _(drawn):
    words = [min(set(text.split()) & set(FILLERS)) for text in drawn.X]
    return drawn.log(rules([Rule([faithkit.plugin.Contains(word)]) for word in words], drawn.X))


# ---- examples


def nearest_points(points, X):
    return ((np.asarray(X, float)[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)


@_useless("nearest-of-30-random-points", "examples", "model", "nearest", "sensors", 600, is_fast=True)
def _(drawn):
    explainer = "nearest-neighbor:prototypes=30,distance=euclidean"
    return {"explainer": explainer, "background": drawn.background(200)}


@_useless("nearest-of-30-wide-points-log", "examples", "log with X", "nearest", "wide", 1000)
def _(drawn):
    options = {"prototypes": 30, "distance": "euclidean"}
    return drawn.log(explained_by(drawn, "nearest-neighbor", drawn.X, **options))


def _balls(X, ends):
    """Balls around rows that reach to other rows."""
    import pandas as pd

    frame = pd.DataFrame(np.asarray(ends, float), columns=X.columns)
    shared = {"names": list(X.columns)}
    return faithkit.Explanations(
        kind="example", values=frame, instances=X.astype(float), shared=shared, relation="in-ball"
    )


@_useless("balls-up-to-random-rows", "examples", "log with X", "ball", "blobs", 500)
def _(drawn):
    ends = drawn.X.to_numpy()[drawn.rng.permutation(drawn.n)]
    return drawn.log(_balls(drawn.X, ends), relation="in-ball:distance=euclidean")


# ---- labels


@_useless("random-codes", "labels", "log", "equal", "parcels", 1000)
def _(drawn):
    def tell(X, predictions, rng):
        return [f"C{code}" for code in rng.integers(0, 12, len(X))]

    return drawn.log(tell(drawn.X, None, np.random.default_rng([7, drawn.seed])), shows_rows=False, tell=tell)


@_useless("weekdays", "labels", "log with X", "equal", "parcels", 800, is_fast=True)
def _(drawn):
    def tell(X, predictions, rng=None):
        return [f"{day:%A}" for day in X["posted"]]

    return drawn.log(tell(drawn.X, None), tell=tell)


@_useless("nearest-of-30-points-as-labels", "labels", "log with X", "equal", "sensors", 1000)
def _(drawn):
    points = world("sensors").draw(30, 96).to_numpy()

    def tell(X, predictions, rng=None):
        return [f"point {k}" for k in nearest_points(points, X)]

    return drawn.log(tell(drawn.X, None), tell=tell)


@_useless("one-code-for-all", "labels", "log", "equal", "ships", 400)
def _(drawn):
    def tell(X, predictions, rng=None):
        return ["R1"] * len(X)

    return drawn.log(tell(drawn.X, None), shows_rows=False, tell=tell)


@_useless("the-row-itself-as-text", "labels", "log", "equal", "gates", 600)
def _(drawn):
    def tell(X, predictions, rng=None):
        return [str(row) for row in X.to_numpy().tolist()]

    return drawn.log(tell(drawn.X, None), shows_rows=False, tell=tell)


@_useless("colour-codes-of-a-tariff", "labels", "model", "equal", "tariff", 500)
def _(drawn):
    def tell(X, predictions, rng=None):
        return X["colour"].tolist()

    def explain(X, seeds, predictor):
        return faithkit.Explanations.of(tell(X, None))

    return {"explainer": Says("colour", explain), "background": drawn.background(100), "tell": tell}
