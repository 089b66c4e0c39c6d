"""Three cells of each table at full size, counted again from the explanations in a store."""

import csv
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from faithkit_paper.context import Context
from faithkit_paper.experiments import table_counterfactuals, table_lime, table_shap
from faithkit_paper.models import train_model

PAGES = Path(__file__).parents[3] / "docs" / "paper"
STORE = os.environ.get("FAITHKIT_PAPER_STORE", "")


def read_csv(name, folder=PAGES):
    with (folder / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def compute_importance_keys(explanations):
    phi = explanations.values
    return {
        "1fp": np.trunc(np.round(10 * phi, 9)),
        "sign": np.sign(phi),
        "rank": np.argsort(phi, axis=1, kind="stable"),
    }


def compute_change_keys(explanations):
    assert not explanations.missing.any()
    change = explanations.values - explanations.instances
    return {
        "original": explanations.values,
        "delta-sign": np.sign(change),
        "is-feature-modified": change != 0,
    }


def compute_consistency(labels, keys):
    """Return the mean share of the other rows of a key that have the label of the row, 0 for a key of its own."""
    keys = [tuple(key) for key in (keys + 0.0).tolist()]
    by_key, by_both = Counter(keys), Counter(zip(keys, labels, strict=True))
    shares = [
        (by_both[key, label] - 1) / (by_key[key] - 1) if by_key[key] > 1 else 0.0
        for key, label in zip(keys, labels, strict=True)
    ]
    return sum(shares) / len(shares)


@pytest.mark.slow
@pytest.mark.skipif(
    not (STORE and os.environ.get("FAITHKIT_DATA")),
    reason="FAITHKIT_PAPER_STORE and FAITHKIT_DATA name no store of a full run and no data",
)
@pytest.mark.parametrize(
    ("table", "dataset", "compute_keys"),
    [
        (table_shap.TABLE, "adult", compute_importance_keys),
        (table_shap.TABLE, "chess", compute_importance_keys),
        (table_lime.TABLE, "adult", compute_importance_keys),
        (table_lime.TABLE, "chess", compute_importance_keys),
        (table_counterfactuals.TABLE, "heart", compute_change_keys),
    ],
)
def test_published_cells_follow_from_the_explanations_in_the_store(table, dataset, compute_keys):
    published = {
        row["setting"]: row
        for row in read_csv(f"{table.name}.csv")
        if (row["dataset"], row["measure"]) == (dataset, "consistency")
    }
    context = Context("full", store=Path(STORE))
    samples = table.draw_samples(context, train_model(context, dataset), table.reading)
    values: dict[str, list[float]] = {}
    for sample in samples:
        for setting, keys in compute_keys(sample.explanations).items():
            values.setdefault(setting, []).append(compute_consistency(sample.labels.tolist(), keys))
    for setting, numbers in values.items():
        assert int(published[setting]["n"]) == len(samples[0].labels)
        assert int(published[setting]["runs"]) == len(samples)
        assert float(published[setting]["ours"]) == pytest.approx(np.mean(numbers), abs=1e-9)
