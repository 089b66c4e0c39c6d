"""Reference results of many kinds, as version 0.1 computed them; run this file to write them anew.

All inputs are computed here from whole numbers, so they are the same on every machine.
"""

import json
import tempfile
import warnings
from pathlib import Path

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit import Explanations, Rule
from faithkit.plugin import Interval, OneOf

REFERENCE = Path(__file__).parents[1] / "fixtures" / "reference_results.json"
N = 240
ROW = np.arange(N)
TABLE = pd.DataFrame(
    {
        "age": 18 + (ROW * 37) % 60,
        "hours": (ROW * 11) % 50,
        "sex": np.where((ROW * 7) % 3 == 0, "f", "m"),
        "job": np.array(["nurse", "smith", "clerk", "pilot"])[(ROW * ROW) % 4],
    }
)
TWO_LABELS = np.where((TABLE["age"] > 40) ^ (ROW % 17 == 0), "yes", "no")
THREE_LABELS = np.array(["low", "mid", "high"])[(TABLE["hours"] // 17 + (ROW % 13 == 0)) % 3]
PHI = np.column_stack([(ROW * 5) % 7 - 3, (ROW // 9) % 4, TABLE["age"] // 10]) / 8
WORDS = [None if i % 19 == 0 else ("good", "bad", "odd")[(i * i) % 3] for i in ROW]
RULES = [Rule([Interval("age", high=30 + 10 * (i % 4))]) for i in ROW[: N // 2]] + [
    Rule([OneOf("job", ("nurse", "smith")), Interval("hours", low=5 * (i % 3))]) for i in ROW[N // 2 :]
]
DISCRETIZERS = ["original", "sign", "1fp", "rank", "sign-of-top:k=1"]
RULE_EXPLANATIONS = Explanations.of(RULES, kind="rule", relation="in-scope")


# results name these two functions, so their names stay
def by_age(X):
    """Predict by age."""
    return np.where(X["age"] > 40, "yes", "no")


def decades(X):
    """Explain by the decade, and by half the hours."""
    return np.column_stack([X["age"] // 10, X["hours"] // 25]).astype(float)


def iterate_results():
    """Yield the name of each result, and the result as JSON values."""
    for labels, number in ((TWO_LABELS, "two"), (THREE_LABELS, "three")):
        for name in DISCRETIZERS:
            yield f"{number} labels, {name}", faithkit.score(labels, PHI, discretizer=name).to_dict()
        for name in ("leave-one-out", "plug-in", "majority", "verified-only"):
            yield f"{number} labels, {name}", faithkit.score(labels, WORDS, estimator=name).to_dict()
    result = faithkit.score(TWO_LABELS, RULE_EXPLANATIONS, X=TABLE)
    yield "two labels, rules", result.to_dict()
    yield "two labels, pair", [contradiction.to_dict() for contradiction in result.contradictions(4)]
    yield "two labels, rules by sex", result.by("sex").to_dict()
    yield "two labels, rules of one row", result.local(17).to_dict()
    near = faithkit.score(TWO_LABELS, PHI, relation="near-explanation:tau=0.3", confidence=0.9)
    yield "near explanations", near.to_dict()
    composed = faithkit.relation("near-explanation:tau=0.5") & ~faithkit.relation("same-explanation")
    yield "a composed relation", near.measure(composed).to_dict()
    yield "words by job", faithkit.score(TWO_LABELS, WORDS, X=TABLE).by("job").to_dict()
    yield "nothing repeats", faithkit.score(TWO_LABELS, ROW.tolist()).to_dict()
    yield "one row", faithkit.score(["yes"], ["a"]).to_dict()
    yield from _evaluations()
    yield "log: vectors by sex", _score_log()


def _evaluations():
    result = faithkit.evaluate(by_age, TABLE, explainer=decades, discretizer="1fp", background=TABLE)
    yield "evaluate", result.to_dict()
    yield "a new row", result.local(TABLE.iloc[[5]].assign(age=39)).to_dict()
    yield "on other rows", result.on(TABLE.iloc[::2]).to_dict()
    later = result.difference(result.on(TABLE.iloc[1::3]), paired=False)
    yield "a difference of two samples", attrs.asdict(later)
    yield (
        "other discretizers",
        json.loads(faithkit.try_discretizers(result, DISCRETIZERS).to_json(orient="records")),
    )
    compared = faithkit.compare(
        by_age, TABLE, [decades], discretizers=["original", "sign", "rank"], background=TABLE
    )
    yield "compare", compared.to_dict()
    plan = faithkit.plan(0.05, n_explanations=300, pilot=result)
    yield "plan", attrs.asdict(plan) if attrs.has(type(plan)) else plan.to_dict()


def _score_log():
    from faithkit.inputs.logs.log_files import open_log
    from faithkit.run.populations.log_scoring import score_log

    frame = pd.DataFrame(PHI, columns=["phi_a", "phi_b", "phi_c"]).assign(label=TWO_LABELS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.parquet")
        frame.join(TABLE).to_parquet(path, row_group_size=50)
        log = open_log(str(path), "label", ("phi_*",), (), "sex")
        return score_log(log, 3, discretizer="sign").to_dict()


def compute_results():
    """Return all results by name, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(iterate_results())


if __name__ == "__main__":
    REFERENCE.write_text(json.dumps(compute_results(), indent=1, sort_keys=True, default=str) + "\n")
