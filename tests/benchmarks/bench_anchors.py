"""Anchors on Adult: searches that advance together, against those of version 0.1: anchor-exp's, row by row."""

from unittest import mock

import anchor_exp
from bench_empirical_anchors import adult_parts
from harness import Contest, benchmark
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

import faithkit

ROWS, PEER_ROWS = 256, 8
# of the model: a forked process would wait for ever for the threads that its parent had
ONE_THREAD = {"limits": 1, "user_api": "openmp"}


def adult_histogram():
    """A histogram model of Adult behind an encoder of its words, and the two parts of the table."""
    train, test, y = adult_parts()
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    words = make_column_selector(dtype_exclude="number")
    prepare = make_column_transformer((encoder, words), remainder="passthrough")
    return make_pipeline(prepare, HistGradientBoostingClassifier(random_state=0)).fit(train, y), train, test


@benchmark
def anchors() -> list[Contest]:
    """Explain rows of Adult's test part; the peer has some of them, and the rules must be the same."""
    import anchor  # noqa: F401 (so that a missing anchor-exp leaves this benchmark out)

    with threadpool_limits(**ONE_THREAD):
        model, train, test = adult_histogram()
        sample = test.sample(ROWS, random_state=0)
        seeds = faithkit.plugin.row_seeds(sample, 0)
        fitted = (
            faithkit.plugin.registry().create("explainer", "anchors").fit(faithkit.Predictor(model), train)
        )
        share = share_of_work(fitted, sample, seeds, PEER_ROWS)
    one_thread = threadpool_limits.wrap(**ONE_THREAD)
    return [
        Contest(
            f"{ROWS} rows of Adult, a histogram model",
            one_thread(lambda: fitted.explain(sample, seeds).values.tolist()[:PEER_ROWS]),
            "anchor-exp, as in 0.1",
            one_thread(lambda: anchor_exp.rules_of(fitted, sample[:PEER_ROWS], seeds[:PEER_ROWS])),
            goal=20.0,
            repeat=1,
            peer_share=share,
        )
    ]


def share_of_work(fitted, X, seeds, n):
    """Return the share of the first n rows in all samples: some rows take a hundred times as many as others."""
    from faithkit_scoped_rules.anchors import tables
    from faithkit_scoped_rules.anchors.perturbed_rows import PerturbedRows

    drawn = {}

    class Counted(PerturbedRows):
        def draw(self, present, n):
            drawn[self.instance_row] = drawn.get(self.instance_row, 0) + n
            return super().draw(present, n)

    with mock.patch.object(tables, "PerturbedRows", Counted):
        fitted.explain(X, seeds)
    own = [codes.tobytes() for codes in fitted.encoder_.encode(X)]
    return sum(drawn[row] for row in own[:n]) / sum(drawn.values())
