"""Results that reports are tested with: an ordinary one, and one in which everything is hostile."""

import functools

import numpy as np
import pandas as pd

import faithkit
from faithkit import Explanations, Rule
from faithkit.plugin import Interval, OneOf
from faithkit.run.evaluation_report import EvaluationReport

SCRIPT = '<script>document.title="hacked"</script>'
IMAGE = "$\\frac{ & \"x\" <img src='http://evil.example/x.png' onerror=alert(1)>"
CELL = "</td></table></svg><script>alert('cell')</script>"
LABEL = "<b>yes</b>"
GROUP = "</text></svg><script>alert('group')</script>"
HOSTILE = (SCRIPT, IMAGE, CELL, LABEL, GROUP)


def make_rules(rows, **fields):
    return Explanations.of(rows, kind="rule", relation="in-scope", **fields)


@functools.cache
def score_ordinary(n=60):
    """Two rules that cover everything, right for most rows, and a column to group by."""
    frame = pd.DataFrame({"age": np.arange(n) % 40 + 20, "sex": ["f", "m", "m"] * (n // 3)})
    old = frame["age"] > 40
    labels = np.where(old ^ (np.arange(n) % 9 == 0), "yes", "no")
    scopes = [Rule([Interval("age", low=40)]) if above else Rule([Interval("age", high=40)]) for above in old]
    return faithkit.score(labels, make_rules(scopes), X=frame)


class HostileExplainer:
    learns = False
    name = SCRIPT

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        first = [value == CELL for value in X[SCRIPT]]
        missing = X[IMAGE].to_numpy() > 1.5
        scopes = [
            Rule([OneOf(SCRIPT, [CELL])]) if cell else Rule([Interval(IMAGE, low=-9)]) for cell in first
        ]
        remarks = np.where(missing, f"{CELL}: really", None)
        return make_rules(scopes, missing=missing, remarks=remarks)


@functools.cache
def evaluate_hostile():
    """Names, cells, labels, groups and the explainer's own name all try to break out of the page."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({SCRIPT: rng.choice([CELL, "tame"], 80), IMAGE: rng.normal(size=80)})
    frame[GROUP] = rng.choice([GROUP, "b"], 80)

    def model(X):
        return np.where(X[IMAGE] > 0, LABEL, "no")

    result = faithkit.evaluate(model, frame, explainer=HostileExplainer())
    return EvaluationReport.of(result, contradictions=2, by=GROUP)
