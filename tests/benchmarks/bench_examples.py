"""Examples: tallies of balls against all distances at once, and counterfactuals against DiCE's on Adult."""

import contextlib
import io
import warnings

import numpy as np
import pandas as pd
from bench_empirical_anchors import adult
from harness import Contest, benchmark

import faithkit
from faithkit.measure.counting.count import count

ROWS, EXPLANATIONS, COLUMNS = 50_000, 5_000, 14
PEER_BLOCK = 1_000  # explanations whose distances the peer holds at a time: 400 MB
PEER_ROWS = 10
DICE_ROWS = 2_000


def _situation():
    """Rows, and balls of 5,000 distinct explanations, of which every one explains some row."""
    rng = np.random.default_rng(0)
    X, centres, ends = (rng.normal(size=(n, COLUMNS)) for n in (ROWS, EXPLANATIONS, EXPLANATIONS))
    labels = (X[:, 0] > 0.5).astype(np.int64)
    owned = np.r_[np.arange(EXPLANATIONS), rng.integers(0, EXPLANATIONS, ROWS - EXPLANATIONS)]
    return X, labels, centres, centres + 0.8 * (ends - centres), owned


def _by_cdist(centres, radius, X, labels, is_open):
    """Count labels in balls the plain way: all distances of a block, compared; labels are sorted, to be fair."""
    from scipy.spatial.distance import cdist

    X, cut = X[np.argsort(labels, kind="stable")], int((labels == 0).sum())
    counts = np.empty((len(centres), 2), dtype=np.int64)
    for start in range(0, len(centres), PEER_BLOCK):
        block = slice(start, start + PEER_BLOCK)
        far = cdist(centres[block], X)
        near = far < radius[block, None] if is_open else far <= radius[block, None]
        counts[block] = np.column_stack(
            [np.count_nonzero(part, axis=1) for part in (near[:, :cut], near[:, cut:])]
        )
    return counts.tobytes()


@benchmark
def balls() -> list[Contest]:
    """Tally 5,000 balls over 50,000 rows, Euclidean: around examples (within) and around instances (in-ball)."""
    X, labels, centres, ends, owned = _situation()
    tau, radius = np.full(EXPLANATIONS, 4.0), np.sqrt(((centres - ends) ** 2).sum(axis=1))
    examples = faithkit.Explanations(kind="example", values=centres[owned])
    others = faithkit.Explanations(kind="example", values=ends[owned], instances=centres[owned])

    def tally(name, params, explanations):
        relation = (
            faithkit.plugin.registry()
            .create("relation", name, {"distance": "euclidean", **params})
            .fit(X, len(X))
        )
        return count(relation, faithkit.plugin.Sample(X, explanations), labels, 2).tally.counts.tobytes()

    return [
        Contest(
            f"within: {EXPLANATIONS:,} × {ROWS:,} × {COLUMNS}",
            lambda: tally("within", {"tau": 4.0}, examples),
            "cdist and compare",
            lambda: _by_cdist(centres, tau, X, labels, is_open=False),
            goal=5.0,
            repeat=2,
        ),
        Contest(
            f"in-ball: {EXPLANATIONS:,} × {ROWS:,} × {COLUMNS}",
            lambda: tally("in-ball", {}, others),
            "cdist and compare",
            lambda: _by_cdist(centres, radius, X, labels, is_open=True),
            goal=5.0,
            repeat=2,
        ),
    ]


@benchmark
def counterfactuals() -> list[Contest]:
    """Nearest counterfactuals, and DiCE's random ones, against dice-ml itself, row by row."""
    import dice_ml  # noqa: F401 (so that a missing dice-ml leaves this benchmark out)
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    nearest = _against_dice_ml("nearest-counterfactual", {}, adult(), "kdtree", goal=100.0)
    with threadpool_limits(1, user_api="openmp"):  # a process that has OpenMP's threads cannot be forked
        histogram = adult(HistGradientBoostingClassifier(random_state=0))
        params = {"method": "random"}
        drawn = _against_dice_ml("dice", params, histogram, "random", goal=20.0, n=DICE_ROWS)
    return [nearest, drawn]


def _against_dice_ml(explainer, params, situation, method, goal, n=None):
    """Explain rows of Adult's test part; dice-ml explains a few of them, and is scaled up.

    The answer is whether the model gives every counterfactual another label than its instance.
    """
    model, train, test = situation
    sample = test[:n]
    fitted = (
        faithkit.plugin.registry()
        .create("explainer", explainer, params)
        .fit(faithkit.Predictor(model), train)
    )
    seeds = faithkit.plugin.row_seeds(sample, 0)
    find, peer_sample = _dice_ml(model, train, method), sample[:PEER_ROWS]

    def have_other_labels(rows, counterfactuals):
        return bool((model.predict(rows) != model.predict(counterfactuals)).all())

    return Contest(
        f"{explainer}{''.join(f':{k}={v}' for k, v in params.items())}, {len(sample):,} rows of Adult",
        lambda: have_other_labels(sample, fitted.explain(sample, seeds).values),
        f"dice-ml, {method}",
        lambda: have_other_labels(peer_sample, find(peer_sample)),
        goal,
        same=lambda a, b: a and b,
        repeat=1,
        peer_share=PEER_ROWS / len(sample),
    )


def _dice_ml(model, train, method):
    """Return dice-ml's search for rows, made quiet; sparser by halves, which is its faster way."""
    import dice_ml

    numbers = train.select_dtypes("number").columns.tolist()
    data = dice_ml.Data(
        dataframe=train.assign(label=model.predict(train)), continuous_features=numbers, outcome_name="label"
    )
    search = dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method=method)

    def find(rows):
        with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings(action="ignore"):
            answer = search.generate_counterfactuals(rows, total_CFs=1, posthoc_sparsity_algorithm="binary")
        return pd.concat([result.final_cfs_df for result in answer.cf_examples_list])[train.columns]

    return find
