"""LIME on Adult against the lime package in a loop: the same model, background, rows and settings, one core."""

import numpy as np
from bench_empirical_anchors import adult
from harness import Contest, benchmark

import faithkit

ROWS, PEER_ROWS, SAMPLES = 1000, 50, 5000


class AtOnce:
    """A model that answers at once: what is left to measure is LIME itself."""

    classes_ = np.array([0, 1])

    def __init__(self):
        chance = np.random.default_rng(0).random(200_000)
        self.answers = np.column_stack([1 - chance, chance])

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        return self.answers[: len(X)]


def ours(model, background, X, **params):
    """One fitted `lime`, asked about all rows."""
    explainer = faithkit.plugin.registry().create("explainer", "lime", {"samples": SAMPLES, **params})
    explainer.fit(faithkit.Predictor(model), background)
    seeds = faithkit.plugin.row_seeds(X, 0)
    return explainer, lambda: explainer.explain(X, seeds).values[:PEER_ROWS].mean(axis=0)


def package(scores, encoder, background):
    """The lime package, one row after the other; it wants codes, and `scores` takes them."""
    from lime.lime_tabular import LimeTabularExplainer

    columns = background.shape[1]
    categories = list(encoder.categorical)
    explainer = LimeTabularExplainer(
        background, categorical_features=categories, feature_selection="none", random_state=0
    )

    def weights(row):
        result = explainer.explain_instance(row, scores, num_features=columns, num_samples=SAMPLES)
        return [dict(result.local_exp[1])[j] for j in range(columns)]

    return explainer, weights


def in_a_loop(weights, rows):
    return lambda: np.mean([weights(row) for row in rows], axis=0)


def check_same_perturbations(fitted, package, rows):
    """Give the package our perturbations: the weights must be equal."""
    explainer, weights = package
    explanations = fitted.explain(rows, range(len(rows))).values
    for i, row in enumerate(rows):
        values, features = fitted.neighbourhood_.draw(row[None], [i])
        drawn = features[0].T.copy(), values[:, 0].T.copy()
        explainer._LimeTabularExplainer__data_inverse = lambda row, n, drawn=drawn: drawn
        np.testing.assert_allclose(explanations[i], weights(row), rtol=1e-9, atol=1e-12)
    del explainer._LimeTabularExplainer__data_inverse


def are_alike(weights, peer_weights):
    """Other random numbers, hence other weights: their means must agree as far as chance lets them."""
    return np.abs(weights - peer_weights).max() < 0.005


def contest(name, ours, peer_name, peer, goal, same=are_alike):
    return Contest(name, ours, peer_name, peer, goal, same, repeat=2, peer_share=PEER_ROWS / ROWS)


@benchmark
def lime() -> list[Contest]:
    """Explain 1,000 rows of Adult's test part; the package explains 50 of them, and is scaled up."""
    import lime.lime_tabular  # noqa: F401 (so that a missing lime leaves this benchmark out)
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    model, train, test = adult()
    test = test.iloc[:ROWS]
    encoder = faithkit.plugin.Encoder(train)
    codes, rows = encoder.encode(train), encoder.encode(test, unseen="keep")
    boosting, categories = model[-1], {"categorical_features": list(encoder.categorical)}
    known = rows[:PEER_ROWS]

    explainer, on_codes = ours(boosting, codes, rows, **categories)
    peer = package(boosting.predict_proba, encoder, codes)
    check_same_perturbations(explainer, peer, known[:3])
    _, itself = ours(AtOnce(), codes, rows, **categories)
    _, peer_itself = package(AtOnce().predict_proba, encoder, codes)
    _, on_frame = ours(model, train, test)
    _, peer_on_frame = package(lambda X: model.predict_proba(encoder.decode(X)), encoder, codes)
    return [
        contest(
            "outside the model", itself, "lime", in_a_loop(peer_itself, known), 5.0, same=lambda a, b: True
        ),
        contest("codes, gradient boosting", on_codes, "lime", in_a_loop(peer[1], known), 2.0),
        contest(
            "a frame, the pipeline on it", on_frame, "lime, decoding", in_a_loop(peer_on_frame, known), 2.0
        ),
    ]
