"""Every explainer beside the model alone: how many times the limit it takes, on Adult, on one core."""

import pandas as pd
from bench_empirical_anchors import adult_parts
from harness import Limit, benchmark
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit

# the explainer, the model, how many rows, and the most times the limit that were allowed
CASES = [
    ("anchors", "histogram", 64, 3.0),
    ("lime", "forest", 50, 2.0),
    ("lime", "histogram", 50, 0.0),
    ("dice:method=random", "histogram", 1_000, 0.0),
    ("dice:method=kdtree", "histogram", 1_000, 0.0),
    ("shap:algorithm=kernel", "histogram", 5, 0.0),
    ("shap:algorithm=permutation", "histogram", 20, 0.0),
    ("shap", "boosting", 4_000, 0.0),
    ("shap", "histogram", 4_000, 0.0),
    ("empirical-anchors", "histogram", 4_000, 0.0),
    ("nearest-counterfactual", "histogram", 4_000, 0.0),
]


MODELS = {
    "boosting": GradientBoostingClassifier(random_state=0),
    "histogram": HistGradientBoostingClassifier(random_state=0),
    "forest": RandomForestClassifier(random_state=0),
}


@benchmark
def limits() -> list[Limit]:
    """Explain rows of Adult through one-hot encoding."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)  # also since a process that has OpenMP's threads cannot be forked
    train, test, y = adult_parts()
    words = (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number"))
    prepare = make_column_transformer(words, remainder="passthrough", sparse_threshold=0)
    models = {kind: make_pipeline(prepare, model).fit(train, y) for kind, model in MODELS.items()}
    return [
        prepare_limit(name, kind, models[kind], train, test[:rows], most) for name, kind, rows, most in CASES
    ]


def prepare_limit(name, kind, model, train, rows, most):
    """Count the rows that a fitted explainer asks about, which takes one run that is not timed."""
    seeds = faithkit.plugin.row_seeds(rows, 0)
    explainer = (
        faithkit.plugin.registry()
        .create("explainer", *parse_spec(name))
        .fit(faithkit.Predictor(model), train)
    )
    count = count_rows_asked(model, lambda: explainer.explain(rows, seeds))
    many = pd.concat([train] * 4)
    return Limit(
        f"{name}, {kind}",
        lambda: len(explainer.explain(rows, seeds)),
        len(rows),
        count,
        lambda n: model.predict_proba(many[:n]).shape,
        most,
    )


def count_rows_asked(model, work):
    """Return how many rows a model is asked about while work is done."""
    names = ("predict", "predict_proba", "decision_function")
    methods = {name: getattr(model, name) for name in names if hasattr(model, name)}
    total = 0

    def counting(method):
        def call(X):
            nonlocal total
            total += len(X)
            return method(X)

        return call

    vars(model).update({name: counting(method) for name, method in methods.items()})
    try:
        work()
    finally:
        for name in methods:
            del vars(model)[name]
    return total


def parse_spec(text):
    """Return the name of a component and its parameters."""
    name, _, params = text.partition(":")
    return name, dict(pair.split("=") for pair in params.split(",") if pair)
