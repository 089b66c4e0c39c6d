"""Results of many questions, as version 0.1 answered them; run this file to write them anew.

Everything that goes in is made here from whole numbers, so that no machine computes it otherwise.
"""

import json
import tempfile
import warnings
from pathlib import Path

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit import Explanations, Interval, OneOf, Rule

KEPT = Path(__file__).parents[1] / "fixtures" / "kept_results.json"
N = 240
I = np.arange(N)  # noqa: E741
TABLE = pd.DataFrame(
    {
        "age": 18 + (I * 37) % 60,
        "hours": (I * 11) % 50,
        "sex": np.where((I * 7) % 3 == 0, "f", "m"),
        "job": np.array(["nurse", "smith", "clerk", "pilot"])[(I * I) % 4],
    }
)
TWO = np.where((TABLE["age"] > 40) ^ (I % 17 == 0), "yes", "no")
THREE = np.array(["low", "mid", "high"])[(TABLE["hours"] // 17 + (I % 13 == 0)) % 3]
PHI = np.column_stack([(I * 5) % 7 - 3, (I // 9) % 4, TABLE["age"] // 10]) / 8
WORDS = [None if i % 19 == 0 else ("good", "bad", "odd")[(i * i) % 3] for i in I]
RULES = [Rule([Interval("age", high=30 + 10 * (i % 4))]) for i in I[: N // 2]] + [
    Rule([OneOf("job", ("nurse", "smith")), Interval("hours", low=5 * (i % 3))]) for i in I[N // 2 :]
]
ROUGHLY = ["original", "sign", "1fp", "rank", "sign-of-top:k=1"]
RULED = Explanations.of(RULES, kind="rule", relation="in-scope")


def by_age(X):
    """Predict by age."""
    return np.where(X["age"] > 40, "yes", "no")


def decades(X):
    """Explain by the decade, and by half the hours."""
    return np.column_stack([X["age"] // 10, X["hours"] // 25]).astype(float)


def questions():
    """Yield the name of every question, and its answer as JSON values."""
    for labels, told in ((TWO, "two"), (THREE, "three")):
        for name in ROUGHLY:
            yield f"{told} labels, {name}", faithkit.score(labels, PHI, discretizer=name).to_dict()
        for name in ("leave-one-out", "plug-in", "majority", "verified-only"):
            yield f"{told} labels, {name}", faithkit.score(labels, WORDS, estimator=name).to_dict()
        ruled = faithkit.score(labels, RULED, X=TABLE)
        yield f"{told} labels, rules", ruled.to_dict()
        yield f"{told} labels, witnesses", [one.to_dict() for one in ruled.violations(4)]
        yield f"{told} labels, rules by sex", ruled.by("sex").to_dict()
        yield f"{told} labels, rules of one row", ruled.local(17).to_dict()
    near = faithkit.score(TWO, PHI, relation="near-explanation:tau=0.3", confidence=0.9)
    yield "near explanations", near.to_dict()
    composed = faithkit.relation("near-explanation:tau=0.5") & ~faithkit.relation("same-explanation")
    yield "a composed relation", near.measure(composed).to_dict()
    yield "words by job", faithkit.score(TWO, WORDS, X=TABLE).by("job").to_dict()
    yield "nothing repeats", faithkit.score(TWO, I.tolist()).to_dict()
    yield "one row", faithkit.score(["yes"], ["a"]).to_dict()
    yield from _evaluations()
    yield from _logs()


def _evaluations():
    result = faithkit.evaluate(by_age, TABLE, explainer=decades, discretizer="1fp", background=TABLE)
    yield "evaluate", result.to_dict()
    yield "a new row", result.local(TABLE.iloc[[5]].assign(age=39)).to_dict()
    yield "on other rows", result.on(TABLE.iloc[::2]).to_dict()
    later = result.difference(result.on(TABLE.iloc[1::3]), paired=False)
    yield "a difference of two samples", attrs.asdict(later)
    yield (
        "other discretizers",
        json.loads(faithkit.try_discretizers(result, ROUGHLY).to_json(orient="records")),
    )
    compared = faithkit.compare(
        by_age, TABLE, [decades], discretizers=["original", "sign", "rank"], background=TABLE
    )
    yield "compare", compared.to_dict()
    plan = faithkit.plan(0.05, n_explanations=300, pilot=result)
    yield "plan", attrs.asdict(plan) if attrs.has(type(plan)) else plan.to_dict()


def _logs():
    from faithkit.inputs.logs.log_files import open_log
    from faithkit.run.populations.log_scoring import score_log

    frame = pd.DataFrame(PHI, columns=["phi_a", "phi_b", "phi_c"])
    frame = frame.assign(label=TWO, word=WORDS, rule=[json.dumps(rule.to_json()) for rule in RULES]).join(
        TABLE
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.parquet")
        frame.to_parquet(path, row_group_size=50)
        for name, columns, features, by, options in (
            ("vectors", ("phi_*",), (), None, {}),
            ("vectors by sex", ("phi_*",), (), "sex", {"discretizer": "sign"}),
            ("words", ("word",), (), None, {"estimator": "verified-only"}),
            ("rules", ("rule",), ("age", "hours", "sex", "job"), None, {}),
            ("near", ("phi_*",), (), None, {"relation": "near-explanation:tau=0.3"}),
        ):
            log = open_log(str(path), "label", columns, features, by)
            yield f"log: {name}", score_log(log, 3, **options).to_dict()


def answers():
    """Return all answers; warnings are for people."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dict(questions())


if __name__ == "__main__":
    KEPT.write_text(json.dumps(answers(), indent=1, sort_keys=True, default=str) + "\n")
