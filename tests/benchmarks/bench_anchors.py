"""Anchors on Adult: what a second worker brings to an explainer that asks the model thousands of times a row."""

from bench_empirical_anchors import adult
from harness import Contest, benchmark

import faithkit

ROWS = 60


@benchmark
def anchors() -> list[Contest]:
    """Explain some rows of Adult's test part with two workers and with one; the rules must be the same."""
    import anchor  # noqa: F401 (so that a missing anchor-exp leaves this benchmark out)

    model, train, test = adult()
    sample = test.sample(ROWS, random_state=0)

    def rules(n_jobs):
        result = faithkit.evaluate(
            model, sample, explainer="anchors:beam_size=1", background=train, n_jobs=n_jobs
        )
        return result.to_json(), [str(rule) for rule in result.sample.explanations.values]

    return [
        Contest(
            f"{ROWS} rows of Adult, n_jobs=2",
            lambda: rules(2),
            "n_jobs=1",
            lambda: rules(1),
            wanted=1.7,
            repeat=1,
        )
    ]
