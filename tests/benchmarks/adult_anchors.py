"""Anchors and empirical anchors on Adult: `FAITHKIT_DATA=… python tests/benchmarks/adult_anchors.py table|figure`.

`table [ROWS]` prints how often a rule keeps its promise on held-out rows, how much it covers, and what it costs;
`figure [STORE]` the record of the paper's figure 2 with its counts. The documentation's page about rules has both.
"""

import sys
import time
import warnings

import numpy as np
import pandas as pd
from bench_empirical_anchors import adult

import faithkit

THRESHOLD = 0.95

RECORD = {
    "age": 38, "workclass": "Private", "fnlwgt": 89814, "education": "HS-grad", "education-num": 9,
    "marital-status": "Married-civ-spouse", "occupation": "Farming-fishing", "relationship": "Husband",
    "race": "White", "sex": "Male", "capital-gain": 0, "capital-loss": 0, "hours-per-week": 50,
    "native-country": "United-States",
}  # fmt: skip


def judge_rules(rules, labels_of_rules, test, labels):
    """Precision and coverage of each rule on the test part, the row itself left out."""
    bits = {rule: rule.covers(test) for rule in set(rules)}
    covered = np.array([bits[rule].sum() for rule in rules])
    agree = np.array(
        [(labels[bits[rule]] == y).sum() for rule, y in zip(rules, labels_of_rules, strict=True)]
    )
    return (agree - 1) / np.maximum(covered - 1, 1), covered / len(test)


def table(model, train, test, n_rows=100):
    predictor = faithkit.Predictor(model)
    labels = predictor.predict(test)
    rows = np.random.default_rng(0).choice(len(test), n_rows, replace=False)
    sample, seeds = test.iloc[rows], faithkit.plugin.row_seeds(test.iloc[rows], 0)
    print(f"{n_rows} rows of {len(test):,}, threshold {THRESHOLD}")
    for name, params in (
        ("empirical-anchors", {}),
        ("anchors", {"beam_size": 1}),
        ("anchors", {"beam_size": 4}),
    ):
        fitted = (
            faithkit.plugin.registry()
            .create("explainer", name, {"threshold": THRESHOLD, **params})
            .fit(predictor, train)
        )
        start = time.perf_counter()
        rules = fitted.explain(sample, seeds).values
        spent = time.perf_counter() - start
        precision, coverage = judge_rules(rules, labels[rows], test, labels)
        print(
            f"{name} {params}: reaches {THRESHOLD} on held-out rows {np.mean(precision >= THRESHOLD):.3f}, "
            f"mean precision {precision.mean():.3f}, mean coverage {coverage.mean():.3f}, "
            f"distinct {len(set(rules))}, {1000 * spent / n_rows:.2f} ms a row",
            flush=True,
        )


def figure(model, train, test, store=None):
    """The record, both thresholds, and the figure's counts over the test rows."""
    predictor = faithkit.Predictor(model)
    record = pd.DataFrame([RECORD]).astype(test.dtypes.to_dict())
    label = predictor.predict(record)[0]
    executor = "here" if store is None else f"stored:folder={store}"
    for name in ("empirical-anchors", "anchors:beam_size=1", "anchors:beam_size=4"):
        for threshold in (0.95, 0.5):
            spec = f"{name}{',' if ':' in name else ':'}threshold={threshold}"
            explained = {"explainer": spec, "background": train, "executor": executor}
            rule = faithkit.evaluate(model, record, **explained).rows.explanations.values[0]
            covered = test[rule.covers(test)]
            # a rule covers the rows it explains, so no other row can have been given this one
            print(f"{spec}: {rule}; prediction {label}; N^s = {len(covered)}", end=", ", flush=True)
            print(f"of them {label}: {(predictor.predict(covered) == label).sum()}", end="; ", flush=True)
            rules = faithkit.evaluate(model, covered, **explained).rows.explanations.values
            same = covered[[other == rule for other in rules]]
            print(
                f"N^c = {len(same)}, of them {label}: {(predictor.predict(same) == label).sum()}", flush=True
            )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, *options = sys.argv[1:] or ["table"]
    if what == "figure":
        figure(*adult(), *options)
    else:
        table(*adult(), *map(int, options))
