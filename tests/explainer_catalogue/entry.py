"""An entry of the catalogue: an explainer of a known kind on rows of a world, for every seed.

Entries were written before the first verdict was seen. None is removed, whatever its verdict.
"""

import warnings
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from explainer_catalogue.worlds import BACKGROUND, POOL, REAL, has_real_tables, world

import faithkit

HONEST, USELESS, LYING = KINDS = ("honest", "useless", "lying")
FAMILIES = ("importances", "rules", "labels", "texts", "examples")

# why the documentation says that nothing catches a lie
CODES = "codes of the label in a log"
SAW_LABELS = "explainers that saw these very labels"
PROXY = "a proxy without a rival"
SIGNS_IN_A_LOG = "inverted signs in a log"
REPEATS = "repeats in a log without X"
BESIDE = "what decides is named beside what does not"


@attrs.frozen(eq=False, kw_only=True)
class Case:
    """What `faithkit.evaluate` or `faithkit.score` is asked, and what the truth needs.

    Attributes
    ----------
    X : rows
        The explained rows. A log may not show them (`shows_rows`).
    explainer : object, optional
        For a model; else there are `explanations` and `predictions`.
    tell : callable, optional
        ``(rows, predictions, generator) -> values``: how explanations that are mere values arise, so that
        they can be given for fresh rows, too.
    fresh : callable, optional
        The fresh rows, if they are not those of the world.
    """

    world: Any
    X: Any
    predictions: Any = None
    explainer: Any = None
    explanations: Any = None
    background: Any = None
    pool: Any = None
    pool_predictions: Any = None
    relation: str | None = None
    shows_rows: bool = True
    tell: Callable[..., Any] | None = None
    fresh: Callable[[], Any] | None = None

    def evaluate(self, seed, **options):
        """Return faithkit's result; warnings about lies that are meant say nothing."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, pool = self.world.model, self.pool
            if self.explainer is not None:
                return faithkit.evaluate(
                    model,
                    self.X,
                    self.explainer,
                    background=self.background,
                    pool=pool,
                    relation=self.relation,
                    seed=seed,
                    progress=False,
                    **options,
                )
            if pool is not None:
                known = self.pool_predictions
                pool = (pool, model.predict(pool) if known is None else known)
            X = self.X if self.shows_rows else None
            if not hasattr(model, "classes_"):  # a log of a regressor has numbers, also if they are whole
                options = {"outcome": "numbers"} | options
            return faithkit.score(
                self.predictions,
                self.explanations,
                X,
                pool=pool,
                relation=self.relation,
                seed=seed,
                **options,
            )


@attrs.frozen(eq=False)
class Entry:
    """One line of the catalogue.

    Attributes
    ----------
    form : str
        "model" (explained by `evaluate`), "log with X" or "log" (scored by `score`).
    applies : str
        How an explanation says for which other rows it holds, for the truth: "rule", "near" (importances),
        "nearest" or "ball" (examples), or "equal" (rows with an equal explanation: no relation that reads
        instances).
    uncatchable : str
        Why the documentation says that nothing catches it; empty otherwise.
    is_fast : bool
        Whether it is part of the tests that run by default.
    """

    name: str
    kind: str
    family: str
    form: str
    applies: str
    world: str
    n: int
    make: Callable[[int], Case]
    uncatchable: str = ""
    is_fast: bool = False

    @property
    def reads_instances(self):
        """Whether its relation reads instances, so that it can be called faithful at all."""
        return self.applies != "equal"

    @property
    def is_here(self):
        """Whether its data are on this machine."""
        return self.world not in REAL or has_real_tables()


ENTRIES: list[Entry] = []


def entry(name, kind, family, form, applies, world, n, uncatchable="", is_fast=False):
    """Register a function ``(Drawn) -> dict of the fields of Case`` as an entry."""
    if kind not in KINDS or family not in FAMILIES or any(item.name == name for item in ENTRIES):
        raise ValueError(f"{name}: {kind}, {family}, or its name is taken")

    def register(build):
        def make(seed):
            drawn = Drawn(world, n, seed)
            return Case(**{"world": drawn.world, "X": drawn.X, **build(drawn)})

        ENTRIES.append(Entry(name, kind, family, form, applies, world, n, make, uncatchable, is_fast))
        return build

    return register


class Drawn:
    """The rows of an entry for one seed, and what entries make of them."""

    def __init__(self, name, n, seed):
        self.world, self.n, self.seed = world(name), n, seed
        self.X = self.world.draw(n, seed)
        self.rng = np.random.default_rng([7, seed])

    @property
    def model(self):
        return self.world.model

    @property
    def y(self):
        """The predictions of the rows."""
        return self.model.predict(self.X)

    def background(self, m):
        """Return rows that the explainer may learn from."""
        return self.world.draw(m, BACKGROUND + self.seed)

    def pool(self, m):
        """Return rows that nobody explains."""
        return self.world.draw(m, POOL + self.seed)

    def log(self, explanations, **fields):
        """Return the fields of a log with these explanations."""
        return {"predictions": self.y, "explanations": explanations, **fields}


class Says:
    """An explainer that is a function ``(rows, seeds, predictor) -> Explanations``."""

    rows_per_chunk = 4096
    outcomes = ("labels", "numbers")

    def __init__(self, name, explain, learns=False):
        self.name, self._explain, self.learns = name, explain, learns

    def fit(self, predictor, background):
        self._predictor = predictor
        return self

    def explain(self, X, seeds):
        return self._explain(X, seeds, self._predictor)


def importances(phi, X, model):
    """Return importances of the columns of X, for the class that they speak for; their relation is the default."""
    from faithkit_feature_importance.importances import default_relation

    shared = {"names": list(X.columns), "offsets": 0}
    classes = getattr(model, "classes_", None)
    if classes is None:
        shared |= {"target": "prediction"}
    elif len(classes) == 2:
        shared |= {"target": "positive", "class": str(classes[1])}
    else:
        shared |= {"target": "predicted"}
    return faithkit.Explanations.vectors(
        np.asarray(phi, float), instances=X, shared=shared, relation=default_relation(X)
    )


def says_importances(name, function, model):
    """Return an explainer of importances ``(rows, uniform generator of rows) -> matrix``."""
    return Says(name, lambda X, seeds, predictor: importances(function(X, seeds), X, model))


def named(phi, X):
    """Return importances as a log has them: one column for each column of X, named after it."""
    import pandas as pd

    return pd.DataFrame(np.asarray(phi, float), columns=[f"phi_{name}" for name in X.columns])


def rules(values, X):
    """Return rules as explanations."""
    return faithkit.Explanations.of(values, kind="rule", instances=X, relation="in-scope")


def says_rules(name, function):
    """Return an explainer of rules ``(rows, seeds, predictions) -> list of rules``."""
    return Says(name, lambda X, seeds, predictor: rules(function(X, seeds, predictor.predict(X)), X))


def uniforms(seeds, size):
    """Return uniform numbers of each row, by its seed."""
    return faithkit.plugin.row_uniforms(np.asarray(seeds), size)


def normals(seeds, size):
    """Return normal numbers of each row, by its seed."""
    from scipy.stats import norm

    return norm.ppf(np.clip(uniforms(seeds, size), 1e-12, 1 - 1e-12))


def explained_by(drawn, explainer, X, model=None, **params):
    """Return what a plugin's explainer says of rows and a model, by default that of the world; for logs."""
    plugin = faithkit.plugin.registry().create("explainer", explainer, params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = plugin.fit(faithkit.Predictor(model or drawn.model), drawn.background(300))
        return fitted.explain(X, faithkit.plugin.row_seeds(X, drawn.seed))
