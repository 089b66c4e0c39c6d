"""Anchors and empirical anchors on Adult, side by side: `FAITHKIT_DATA=… python tests/benchmarks/adult_anchors.py`.

Prints the table of the documentation's page about rules: how often a rule keeps its promise on held-out rows,
how much it covers, and what it costs; then the record of the paper's figure 2.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from bench_empirical_anchors import adult

import faithkit

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
THRESHOLD = 0.95

RECORD = {
    "age": 38, "workclass": "Private", "fnlwgt": 89814, "education": "HS-grad", "education-num": 9,
    "marital-status": "Married-civ-spouse", "occupation": "Farming-fishing", "relationship": "Husband",
    "race": "White", "sex": "Male", "capital-gain": 0, "capital-loss": 0, "hours-per-week": 50,
    "native-country": "United-States",
}  # fmt: skip


def judged(rules, labels_of_rules, test, labels):
    """Precision and coverage of each rule on the test part, the row itself left out."""
    bits = {rule: rule.covers(test) for rule in set(rules)}
    covered = np.array([bits[rule].sum() for rule in rules])
    agree = np.array(
        [(labels[bits[rule]] == y).sum() for rule, y in zip(rules, labels_of_rules, strict=True)]
    )
    return (agree - 1) / np.maximum(covered - 1, 1), covered / len(test)


def table(model, train, test):
    predictor = faithkit.Predictor(model)
    labels = predictor.predict(test)
    rows = np.random.default_rng(0).choice(len(test), ROWS, replace=False)
    some, seeds = test.iloc[rows], faithkit.row_seeds(test.iloc[rows], 0)
    print(f"{ROWS} rows of {len(test):,}, threshold {THRESHOLD}")
    for name, params in (
        ("empirical-anchors", {}),
        ("anchors", {"beam_size": 1}),
        ("anchors", {"beam_size": 4}),
    ):
        fitted = (
            faithkit.registry()
            .create("explainer", name, {"threshold": THRESHOLD, **params})
            .fit(predictor, train)
        )
        start = time.perf_counter()
        rules = fitted.explain(some, seeds).values
        spent = time.perf_counter() - start
        precision, coverage = judged(rules, labels[rows], test, labels)
        print(
            f"{name} {params}: reaches {THRESHOLD} on held-out rows {np.mean(precision >= THRESHOLD):.3f}, "
            f"mean precision {precision.mean():.3f}, mean coverage {coverage.mean():.3f}, "
            f"distinct {len(set(rules))}, {1000 * spent / ROWS:.2f} ms a row",
            flush=True,
        )


def figure_2(model, train, test):
    """The record, both thresholds, and how many test rows the rule covers, by prediction."""
    predictor = faithkit.Predictor(model)
    labels = predictor.predict(test)
    record = pd.DataFrame([RECORD]).astype(test.dtypes.to_dict())
    mine = predictor.predict(record)[0]
    for name in ("anchors", "empirical-anchors"):
        for threshold in (0.5, 0.95):
            explainer = faithkit.registry().create("explainer", name, {"threshold": threshold})
            rule = explainer.fit(predictor, train).explain(record, faithkit.row_seeds(record, 0)).values[0]
            mask = rule.covers(test)
            print(
                f"{name} {threshold}: {rule}; prediction {mine}; N^s = {mask.sum()}, of them {mine}: "
                f"{(labels[mask] == mine).sum()}"
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    situation = adult()
    figure_2(*situation)
    table(*situation)
