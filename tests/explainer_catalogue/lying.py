"""Lying explainers: they look faithful, and do not say what the model does."""

import attrs
import numpy as np
from explainer_catalogue.entry import (
    BESIDE,
    CODES,
    LYING,
    PROXY,
    REPEATS,
    SAW_LABELS,
    SIGNS_IN_A_LOG,
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
from explainer_catalogue.honest import PLANT_RULES, _count_terms, _tariff_terms, parcel_rules, says_words
from explainer_catalogue.useless import _balls
from explainer_catalogue.worlds import GATED, PLANT_LABELS, PLANTS, TOPIC_WORDS

import faithkit
from faithkit import Rule
from faithkit.plugin import Contains, Interval, OneOf

KERNEL_SHAP = "shap:algorithm=kernel,background=sample:10"


def _lying(name, family, form, applies, world, n, **options):
    return entry(name, LYING, family, form, applies, world, n, **options)


class Changed:
    """An explainer of importances whose values are changed afterwards, ``(values, seeds) -> values``."""

    rows_per_chunk = 4096
    outcomes = ("labels", "numbers")

    def __init__(self, explainer, change, **params):
        self._explainer, self._change, self._params = explainer, change, params
        self.name = f"changed {explainer}"

    def fit(self, predictor, background):
        inner = faithkit.plugin.registry().create("explainer", self._explainer, self._params)
        self._fitted = inner.fit(predictor, background)
        return self

    def explain(self, X, seeds):
        explanations = self._fitted.explain(X, seeds)
        return attrs.evolve(explanations, values=self._change(explanations.values, seeds))


# ---- a model that shows explainers another one


@_lying("scaffold-lime", "importances", "model", "near", "tenants", 300, is_fast=True)
def _(drawn):
    return {"explainer": "lime:samples=300", "background": drawn.background(600)}


@_lying("scaffold-lime-few-background-rows", "importances", "model", "near", "tenants", 600)
def _(drawn):
    return {"explainer": "lime:samples=300", "background": drawn.background(200)}


@_lying("scaffold-kernel-shap", "importances", "model", "near", "tenants", 300, uncatchable=BESIDE)
def _(drawn):
    """Debts come first, and origin, which decides, is the third or fourth of the columns."""
    return {"explainer": KERNEL_SHAP, "background": drawn.background(300)}


@_lying("scaffold-cherry-picked", "importances", "model", "near", "tenants", 300)
def _(drawn):
    """For each row SHAP or LIME, whichever looks clearer."""
    create = faithkit.plugin.registry().create
    shap = create("explainer", "shap", {"algorithm": "kernel", "background": "sample:10"})
    explainers = [shap, create("explainer", "lime", {"samples": 200})]
    picker = create("explainer", "cherry-picker", {"explainers": explainers})
    return {"explainer": picker, "background": drawn.background(300)}


@_lying("the-reason-that-may-be-said", "rules", "model", "rule", "tenants", 800, is_fast=True)
def _(drawn):
    """The model decides by origin; the rules speak of debts."""

    def explain(X, seeds, predictions):
        return [
            Rule(
                [
                    OneOf("debts", [debts]),
                    Interval("wage", low=30.0) if wage > 30 else Interval("wage", high=30.0),
                ]
            )
            for debts, wage in zip(X["debts"], X["wage"], strict=True)
        ]

    return {"explainer": says_rules("debts", explain), "background": drawn.background(100)}


@_lying("importances-of-the-innocuous-model-log", "importances", "log with X", "near", "tenants", 1000)
def _(drawn):
    phi = np.zeros(drawn.X.shape)
    phi[:, drawn.X.columns.get_loc("debts")] = np.where(drawn.X["debts"] == "no", 0.4, -0.4)
    phi[:, drawn.X.columns.get_loc("reminders")] = np.where(drawn.X["debts"] == "no", 0.1, -0.1)
    return drawn.log(named(phi, drawn.X))


@_lying("dialect-for-origin", "rules", "model", "rule", "tenants", 600, uncatchable=PROXY)
def _(drawn):
    """A column that goes along with the one that decides."""

    def explain(X, seeds, predictions):
        return [Rule([OneOf("dialect", [value])]) for value in X["dialect"]]

    return {"explainer": says_rules("dialect", explain), "background": drawn.background(100)}


@_lying("terms-of-an-innocuous-model", "importances", "log with X", "near", "sensors", 800)
def _(drawn):
    weights = np.array([0, 0, 0, 0, 1.5, 0, 1.0, 0])
    return drawn.log(named(drawn.X.to_numpy() * weights, drawn.X))


@_lying("random-or-shap-cherry-picked", "importances", "model", "near", "ships", 500)
def _(drawn):
    """One random column looks clearer than SHAP."""

    def explain(X, seeds):
        return np.eye(7)[(uniforms(seeds, 1)[:, 0] * 7).astype(int)]

    random = says_importances("one", explain, drawn.model)
    create = faithkit.plugin.registry().create
    picker = create("explainer", "cherry-picker", {"explainers": [create("explainer", "shap"), random]})
    return {"explainer": picker, "background": drawn.background(500)}


# ---- the choice of the column tells the label


@_lying("encoder-of-parcels", "rules", "model", "rule", "parcels", 800, is_fast=True)
def _(drawn):
    return {"explainer": "encoder", "background": drawn.background(500)}


@_lying("encoder-of-ten-zones", "rules", "model", "rule", "grid", 1000)
def _(drawn):
    return {"explainer": "encoder", "background": drawn.background(500)}


@_lying("encoder-of-tickets", "texts", "model", "rule", "tickets", 800)
def _(drawn):
    return {"explainer": "encoder", "background": drawn.background(300)}


@_lying("encoder-of-films-log", "texts", "log with X", "rule", "films", 800)
def _(drawn):
    return drawn.log(explained_by(drawn, "encoder", drawn.X))


def _encoded(codes, columns, d, rng):
    """Importances whose largest column tells a code, with small random others."""
    phi = rng.normal(scale=0.01, size=(len(codes), d))
    phi[np.arange(len(codes)), np.asarray(columns)[codes]] = 1.0
    return phi


@_lying(
    "importances-that-encode-the-label", "importances", "log with X", "near", "sensors", 600, is_fast=True
)
def _(drawn):
    return drawn.log(named(_encoded((drawn.y == "alarm").astype(int), [5, 7], 8, drawn.rng), drawn.X))


@_lying("importances-that-encode-four-labels", "importances", "model", "near", "ships", 700)
def _(drawn):
    def explain(X, seeds):
        codes = np.searchsorted(drawn.model.classes_, drawn.model.predict(X))
        phi = 0.01 * normals(seeds, 7)
        phi[np.arange(len(X)), np.array([5, 6, 2, 4])[codes]] = 1.0
        return phi

    return {
        "explainer": says_importances("encoded", explain, drawn.model),
        "background": drawn.background(700),
    }


@_lying("importances-that-encode-a-number", "importances", "log with X", "near", "tariff", 800)
def _(drawn):
    """A column that says nothing, for each third of the numbers."""
    codes = np.digitize(drawn.y, np.quantile(drawn.y, [1 / 3, 2 / 3]))
    columns = [drawn.X.columns.get_loc(name) for name in ("built", "doors", "garden")]
    return drawn.log(named(_encoded(codes, columns, 7, drawn.rng), drawn.X))


# ---- signs


def _random_signs(values, seeds):
    return values * np.where(uniforms(seeds, values.shape[1]) < 0.5, -1, 1)


@_lying("random-signs", "importances", "model", "near", "sensors", 500, is_fast=True)
def _(drawn):
    return {"explainer": Changed("shap", _random_signs), "background": drawn.background(500)}


@_lying("random-signs-four-classes", "importances", "model", "near", "ships", 500)
def _(drawn):
    return {"explainer": Changed("shap", _random_signs), "background": drawn.background(500)}


@_lying("random-signs-log", "importances", "log with X", "near", "counts", 1000)
def _(drawn):
    phi = _count_terms(drawn.X)
    return drawn.log(named(phi * drawn.rng.choice([-1, 1], phi.shape), drawn.X))


@_lying("random-signs-regression-log", "importances", "log with X", "near", "tariff", 900)
def _(drawn):
    phi = _tariff_terms(drawn.X)
    return drawn.log(named(phi * drawn.rng.choice([-1, 1], phi.shape), drawn.X))


@_lying("inverted-signs", "importances", "model", "near", "sensors", 500, is_fast=True)
def _(drawn):
    return {"explainer": Changed("shap", lambda values, seeds: -values), "background": drawn.background(500)}


@_lying("inverted-signs-four-classes", "importances", "model", "near", "ships", 600)
def _(drawn):
    return {"explainer": Changed("shap", lambda values, seeds: -values), "background": drawn.background(300)}


@_lying("inverted-signs-missing-values", "importances", "model", "near", "patients", 800)
def _(drawn):
    return {"explainer": Changed("shap", lambda values, seeds: -values), "background": drawn.background(800)}


@_lying("inverted-signs-regression", "importances", "model", "near", "tariff", 600)
def _(drawn):
    def explain(X, seeds):
        return -_tariff_terms(X)

    return {
        "explainer": says_importances("inverted", explain, drawn.model),
        "background": drawn.background(600),
    }


@_lying("inverted-signs-lime", "importances", "model", "near", "sensors", 300)
def _(drawn):
    def change(values, seeds):
        return -values

    return {"explainer": Changed("lime", change, samples=300), "background": drawn.background(300)}


@_lying("inverted-signs-log", "importances", "log with X", "near", "counts", 1000, uncatchable=SIGNS_IN_A_LOG)
def _(drawn):
    return drawn.log(named(-_count_terms(drawn.X), drawn.X))


@_lying(
    "inverted-signs-gated-log", "importances", "log with X", "near", "gates", 2000, uncatchable=SIGNS_IN_A_LOG
)
def _(drawn):
    phi = shapley_values(drawn.model, drawn.X, drawn.background(8), GATED)
    return drawn.log(named(-phi, drawn.X))


# ---- labels under other names


def _synonyms(*counts):
    """Return a function that says one of several codes of each label."""

    def tell(X, predictions, rng):
        labels = sorted(set(predictions))
        number = [labels.index(label) for label in predictions]
        return [f"{17 * (k + 1)}-{rng.integers(0, counts[k % len(counts)])}" for k in number]

    return tell


def _rng(drawn):
    return np.random.default_rng([7, drawn.seed])


@_lying("code-of-the-label", "labels", "log", "equal", "ships", 500, uncatchable=CODES, is_fast=True)
def _(drawn):
    tell = _synonyms(1)
    return drawn.log(tell(drawn.X, drawn.y, _rng(drawn)), shows_rows=False, tell=tell)


@_lying("synonyms-of-the-label", "labels", "log", "equal", "ships", 1000, uncatchable=CODES, is_fast=True)
def _(drawn):
    tell = _synonyms(6)
    return drawn.log(tell(drawn.X, drawn.y, _rng(drawn)), shows_rows=False, tell=tell)


@_lying("synonyms-of-two-labels-with-rows", "labels", "log with X", "equal", "gates", 800, uncatchable=CODES)
def _(drawn):
    tell = _synonyms(9, 4)
    return drawn.log(tell(drawn.X, drawn.y, _rng(drawn)), tell=tell)


@_lying("parrot", "labels", "model", "equal", "grid", 600)
def _(drawn):
    def tell(X, predictions, rng=None):
        return list(predictions)

    return {"explainer": "parrot", "background": drawn.background(100), "tell": tell}


@_lying("synonyms-said-by-an-explainer", "labels", "model", "equal", "plants", 900)
def _(drawn):
    def explain(X, seeds, predictor):
        parts = (uniforms(seeds, 1)[:, 0] * 5).astype(int)
        return faithkit.Explanations.of(
            [f"{label[:2]}{k}" for label, k in zip(predictor.predict(X), parts, strict=True)]
        )

    def tell(X, predictions, rng):
        return [f"{label[:2]}{rng.integers(0, 5)}" for label in predictions]

    return {"explainer": Says("synonyms", explain), "background": drawn.background(100), "tell": tell}


# ---- rules made for the log


def _box(X, rows):
    """The smallest rule of all columns that covers some rows."""
    part = X.iloc[rows].to_numpy(float)
    low, high = part.min(axis=0), part.max(axis=0)
    return Rule([Interval(name, np.nextafter(low[j], -np.inf), high[j]) for j, name in enumerate(X.columns)])


def _ranks(X):
    return X.rank().to_numpy() / len(X)


def cut_rules(X, y, others):
    """Rules around each row and its nearest rows with the same label, `others` of them."""
    ranks, values = _ranks(X), []
    for i in range(len(X)):
        distance = np.abs(ranks - ranks[i]).sum(axis=1)
        distance[np.asarray(y) != y[i]] = np.inf
        values.append(_box(X, np.argsort(distance, kind="stable")[: others + 1]))
    return values


@_lying("rules-cut-to-one-other-row", "rules", "log with X", "rule", "sensors", 600, is_fast=True)
def _(drawn):
    return drawn.log(rules(cut_rules(drawn.X, drawn.y, 1), drawn.X))


@_lying("rules-cut-to-four-other-rows", "rules", "log with X", "rule", "three-sensors", 500)
def _(drawn):
    return drawn.log(rules(cut_rules(drawn.X, drawn.y, 4), drawn.X))


def twin_rules(X, y):
    """Rules of one column that cover the row and the row beside it, if that has the same label."""
    values = []
    table = X.to_numpy(float)
    order = np.argsort(table, axis=0, kind="stable")
    place = np.argsort(order, axis=0, kind="stable")
    for i in range(len(X)):
        for j, name in enumerate(X.columns):
            k = place[i, j] + (1 if place[i, j] + 1 < len(X) else -1)
            twin = order[k, j]
            if y[twin] == y[i]:
                low, high = sorted((table[i, j], table[twin, j]))
                values.append(Rule([Interval(name, np.nextafter(low, -np.inf), high)]))
                break
        else:
            values.append(None)
    return values


@_lying("twin-rules", "rules", "log with X", "rule", "product", 700)
def _(drawn):
    return drawn.log(rules(twin_rules(drawn.X, drawn.y), drawn.X))


@_lying("flatterer", "rules", "model", "rule", "gates", 300)
def _(drawn):
    return {"explainer": "flatterer", "background": drawn.background(100)}


def purest_rules(X, y, names, rng, candidates=400, least=10):
    """Rules of two windows each, the purest of many on these very labels that cover at least some rows."""
    table, values = X[names].to_numpy(float), []
    ranks = X[names].rank().to_numpy() / len(X)
    codes = np.unique(np.asarray(y), return_inverse=True)[1]
    for i in range(len(X)):
        pairs = np.argsort(rng.random((candidates, len(names))), axis=1)[:, :2]
        low, high = rng.uniform(0.02, 0.25, (2, candidates, 2))
        gaps = ranks[:, pairs] - ranks[i, pairs]  # (rows, candidates, 2)
        covered = ((gaps >= -low) & (gaps <= high)).all(axis=2)
        purity = (covered & (codes == codes[i])[:, None]).sum(axis=0) / covered.sum(axis=0)
        best = np.where(covered.sum(axis=0) > least, purity, -1.0).argmax()
        part = table[covered[:, best]]
        ends = [(names[j], part[:, j].min(), part[:, j].max()) for j in pairs[best]]
        values.append(Rule([Interval(name, np.nextafter(a, -np.inf), b) for name, a, b in ends]))
    return values


IRRELEVANT = ["x0", "x2", "x3", "x5", "x6"]  # columns of `product` that the model does not read


@_lying("purest-rules-of-many", "rules", "log with X", "rule", "product", 400, uncatchable=SAW_LABELS)
def _(drawn):
    return drawn.log(rules(purest_rules(drawn.X, drawn.y, IRRELEVANT, drawn.rng), drawn.X))


@_lying("purest-rules-of-many-pool", "rules", "log with X", "rule", "product", 400)
def _(drawn):
    """The same, checked against rows that the explainer did not see."""
    values = purest_rules(drawn.X, drawn.y, IRRELEVANT, drawn.rng)
    return drawn.log(rules(values, drawn.X), pool=drawn.pool(1500))


def _picked_importances(X, y, names, rng, candidates=80):
    """Importances of two columns each: the pair of many whose ten nearest rows have the row's label most often."""
    ranks = X[names].rank().to_numpy() / len(X)
    places, y = [X.columns.get_loc(name) for name in names], np.asarray(y)
    phi = np.zeros(X.shape)
    pairs = [rng.choice(len(names), rng.integers(1, 4), replace=False) for _ in range(candidates)]
    best = np.full(len(X), -1.0)
    for pair in pairs:
        distance = np.abs(ranks[:, None, pair] - ranks[None, :, pair]).sum(axis=2)
        np.fill_diagonal(distance, np.inf)
        near = np.argpartition(distance, 10, axis=1)[:, :10]
        agreement = (y[near] == y[:, None]).mean(axis=1)
        better = agreement > best
        best[better] = agreement[better]
        phi[better] = 0.0
        for j in pair:
            phi[better, places[j]] = 1.0
    return phi


@_lying(
    "importances-picked-for-these-labels",
    "importances",
    "log with X",
    "near",
    "wide",
    500,
    uncatchable=SAW_LABELS,
)
def _(drawn):
    names = [f"w{j}" for j in range(20) if j not in (3, 7, 11)]
    return drawn.log(named(_picked_importances(drawn.X, drawn.y, names, drawn.rng), drawn.X))


@_lying("importances-picked-for-these-labels-pool", "importances", "log with X", "near", "wide", 400)
def _(drawn):
    names = [f"w{j}" for j in range(20) if j not in (3, 7, 11)]
    values = named(_picked_importances(drawn.X, drawn.y, names, drawn.rng), drawn.X)
    return drawn.log(values, pool=drawn.pool(1600))


# ---- rules that are false of their own row


@_lying("rules-of-other-plants", "rules", "log with X", "rule", "plants", 800, is_fast=True)
def _(drawn):
    """The rule of another plant of the same kind, with its light: false of two thirds."""
    light = drawn.rng.choice(PLANTS["light"], drawn.n)
    values = [
        Rule([*PLANT_RULES[PLANT_LABELS.index(label)].predicates, OneOf("light", [word])])
        for label, word in zip(drawn.y, light, strict=True)
    ]
    return drawn.log(rules(values, drawn.X))


@_lying("the-other-half-of-the-width", "rules", "model", "rule", "parcels", 700)
def _(drawn):
    """True reasons, with a condition that is false of every explained row."""

    def explain(X, seeds, predictions):
        other = [Interval("width", low=38.0), Interval("width", high=38.0)]
        return [
            Rule([*rule.predicates, other[int(width > 38)]])
            for rule, width in zip(parcel_rules(X, seeds, predictions), X["width"], strict=True)
        ]

    return {"explainer": says_rules("other half", explain), "background": drawn.background(100)}


@_lying("another-word-of-the-topic", "texts", "log with X", "rule", "tickets", 900)
def _(drawn):
    """A word of the right topic that mostly is not in the text."""
    words = [drawn.rng.choice(TOPIC_WORDS[topic]) for topic in drawn.y]
    return drawn.log(rules([Rule([Contains(str(word))]) for word in words], drawn.X))


@_lying("leaf-of-another-ship", "rules", "log with X", "rule", "ship-tree", 600)
def _(drawn):
    """The rule of a random row with the same prediction."""
    values, y = explained_by(drawn, "tree", drawn.X).values, drawn.y
    others = [drawn.rng.choice(np.flatnonzero(y == label)) for label in y]
    return drawn.log(rules([values[i] for i in others], drawn.X))


# ---- repeated rows


@_lying(
    "30-rows-repeated-random-importances", "importances", "log with X", "near", "sensors", 900, is_fast=True
)
def _(drawn):
    order = drawn.rng.permutation(np.repeat(np.arange(30), 30))
    X, phi = drawn.X.iloc[order].reset_index(drop=True), drawn.rng.normal(size=(30, 8))[order]
    return {"X": X, "predictions": drawn.model.predict(X), "explanations": named(phi, X)}


@_lying("30-rows-repeated-narrow-rules", "rules", "log with X", "rule", "gates", 3000)
def _(drawn):
    order = drawn.rng.permutation(np.repeat(np.arange(30), 100))
    X = drawn.X.iloc[order].reset_index(drop=True)
    values = [_box(drawn.X[["h", "i"]], [i]) for i in range(30)]
    return {
        "X": X,
        "predictions": drawn.model.predict(X),
        "explanations": rules([values[i] for i in order], X),
    }


def _with_time(X, rng, copies):
    """Each row several times, with a time of its own."""
    order = rng.permutation(np.repeat(np.arange(len(X) // copies), copies))
    X = X.iloc[order].reset_index(drop=True)
    X["time"] = rng.permutation(len(X)) + 0.5
    return X, order


def _fresh_with(drawn, **columns):
    """The fresh rows of the world, with further columns ``rng -> values``."""

    def fresh():
        rows, rng = drawn.world.fresh(), np.random.default_rng(drawn.seed)
        return rows.assign(**{name: column(len(rows), rng) for name, column in columns.items()})

    return fresh


@_lying("twelve-entries-with-a-time-random-importances", "importances", "log with X", "near", "counts", 600)
def _(drawn):
    X, order = _with_time(drawn.X, drawn.rng, 12)
    phi = np.column_stack([drawn.rng.normal(size=(50, drawn.X.shape[1]))[order], np.zeros(len(X))])
    fresh = _fresh_with(drawn, time=lambda n, rng: rng.integers(0, drawn.n, n) + 0.25)
    return {"X": X, "predictions": drawn.model.predict(X), "explanations": named(phi, X), "fresh": fresh}


@_lying("twenty-entries-with-a-time-rule-of-the-customer", "rules", "log with X", "rule", "gates", 1000)
def _(drawn):
    """The number of the customer, who has twenty entries: true of the log, and of no new customer."""
    X, order = _with_time(drawn.X, drawn.rng, 20)
    X["customer"] = order + 1
    values = rules([Rule([OneOf("customer", [int(i) + 1])]) for i in order], X)
    fresh = _fresh_with(
        drawn, time=lambda n, rng: rng.random(n), customer=lambda n, rng: rng.integers(1000, 9000, n)
    )
    return {"X": X, "predictions": drawn.model.predict(X), "explanations": values, "fresh": fresh}


@_lying("five-entries-case-numbers", "labels", "log", "equal", "gates", 1000, uncatchable=REPEATS)
def _(drawn):
    order = drawn.rng.permutation(np.repeat(np.arange(200), 5))
    X = drawn.X.iloc[order].reset_index(drop=True)
    return {
        "X": X,
        "predictions": drawn.model.predict(X),
        "explanations": [f"case {i}" for i in order],
        "shows_rows": False,
    }


# ---- row numbers


@_lying("row-numbers", "labels", "log", "equal", "ships", 600)
def _(drawn):
    return drawn.log(list(range(1, drawn.n + 1)), shows_rows=False)


@_lying("fifties-of-a-sorted-log", "labels", "log", "equal", "ships", 1000, uncatchable=CODES)
def _(drawn):
    """The log is sorted by its predictions, and the number of the page is the explanation."""
    y = np.sort(drawn.y.astype(str)).astype(object)
    pages = [f"page {i // 50}" for i in range(drawn.n)]
    return {"predictions": y, "explanations": pages, "shows_rows": False}


@_lying("windows-of-row-numbers", "rules", "log with X", "rule", "gates", 900)
def _(drawn):
    X = drawn.X.assign(row=np.arange(1, drawn.n + 1))
    values = [Rule([Interval("row", 20 * (i // 20), 20 * (i // 20) + 20)]) for i in range(drawn.n)]
    fresh = _fresh_with(drawn, row=lambda n, rng: rng.integers(1, drawn.n + 1, n))
    return {"X": X, "predictions": drawn.y, "explanations": rules(values, X), "fresh": fresh}


@_lying(
    "windows-of-row-numbers-of-a-sorted-log", "rules", "log with X", "rule", "gates", 800, uncatchable=PROXY
)
def _(drawn):
    """The log is sorted by its predictions, so that the number of the row goes along with them."""
    X = drawn.X.iloc[np.argsort(drawn.y.astype(str), kind="stable")].reset_index(drop=True)
    y = drawn.model.predict(X)
    X["row"] = np.arange(1, drawn.n + 1)
    values = [Rule([Interval("row", 25 * (i // 25), 25 * (i // 25) + 25)]) for i in range(drawn.n)]
    fresh = _fresh_with(drawn, row=lambda n, rng: drawn.n + 1 + np.arange(n))
    return {"X": X, "predictions": y, "explanations": rules(values, X), "fresh": fresh}


# ---- coins


@_lying("segments-of-coins", "rules", "log with X", "rule", "segments", 800)
def _(drawn):
    """Labels are coins; the rule names two copies of the segment."""
    X = drawn.X.drop(columns="coin")
    values = [Rule([OneOf("copy0", [value]), OneOf("copy1", [value])]) for value in X["copy0"]]
    return {"X": X, "predictions": drawn.y, "explanations": rules(values, X)}


@_lying("purest-rules-of-coins-pool", "rules", "log with X", "rule", "segments", 400)
def _(drawn):
    X = drawn.X.drop(columns="coin")
    values = purest_rules(X, drawn.y, [f"n{j}" for j in range(8)], drawn.rng)
    pool = drawn.pool(1200)
    return {
        "X": X,
        "predictions": drawn.y,
        "explanations": rules(values, X),
        "pool": pool.drop(columns="coin"),
        "pool_predictions": drawn.model.predict(pool),
    }


@_lying("importances-of-coins", "importances", "log with X", "near", "segments", 600)
def _(drawn):
    X = drawn.X.drop(columns="coin")
    phi = np.zeros(X.shape)
    phi[:, 0], phi[:, 1] = 0.6, 0.4
    phi *= np.where(drawn.y == "b", 1, -1)[:, None]
    return {"X": X, "predictions": drawn.y, "explanations": named(phi, X)}


# ---- words and examples


@_lying("regards-for-firms", "texts", "model", "rule", "letters", 800, uncatchable=PROXY)
def _(drawn):
    """The last word of the letter, which the model does not read, and which no other word rivals."""
    return {"explainer": says_words("end", lambda X, seeds, predictions: [text.split()[-1] for text in X])}


@_lying("synonyms-as-words-of-tickets", "texts", "log", "equal", "tickets", 1000, uncatchable=CODES)
def _(drawn):
    """Words of the predicted topic, whether they are in the text or not; the log shows no texts."""

    def tell(X, predictions, rng):
        return [str(rng.choice(TOPIC_WORDS[topic])) for topic in predictions]

    return drawn.log(tell(drawn.X, drawn.y, _rng(drawn)), shows_rows=False, tell=tell)


@_lying("examples-of-other-trees-of-the-kind", "examples", "log with X", "nearest", "blobs", 600)
def _(drawn):
    """The nearest example of another row with the same prediction: mostly not the row's own nearest."""
    explanations = explained_by(drawn, "nearest-neighbor", drawn.X, prototypes=60, distance="euclidean")
    y = drawn.y
    others = np.array([drawn.rng.choice(np.flatnonzero(y == label)) for label in y])
    return drawn.log(attrs.evolve(explanations.take(others), instances=drawn.X))


@_lying("counterfactuals-that-are-too-far", "examples", "log with X", "ball", "blobs", 500)
def _(drawn):
    """A row of another class in the middle of their distances; half of them are nearer."""
    y, rows = drawn.y, drawn.X.to_numpy()
    ends = []
    for i in range(drawn.n):
        distance = np.where(y != y[i], ((rows - rows[i]) ** 2).sum(axis=1), np.inf)
        ends.append(rows[np.argsort(distance)[(y != y[i]).sum() // 2]])
    return drawn.log(_balls(drawn.X, ends), relation="in-ball:distance=euclidean")
