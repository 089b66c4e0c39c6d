"""Our engines against the libraries' own on small datasets; writes docs/comparison/engines.csv.

python -m pip install -e . -e plugins/feature-importance -e plugins/example-based -e plugins/scoped-rules
python tests/benchmarks/compare_engines.py docs/comparison

rt-polarity and adult need the plugin `paper`, which downloads them or takes them from FAITHKIT_DATA.

Both engines draw at random. So the library is also compared with itself, with other seeds: two engines that
draw from the same distribution agree about as often.
"""

import csv
import sys
import time
from pathlib import Path

import attrs
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import faithkit

TABLES = ("iris", "wine", "loans")
IN_WORDS = " in words"  # a table whose rows are written as texts: rt-polarity is the only dataset of texts
TEXTS = ("rt-polarity", "loans" + IN_WORDS, "adult" + IN_WORDS)
CASES = {  # explainer and discretizer, as the table names them: the explainer's name, parameters, rows
    ("lime", "1fp"): ("lime", {}, 50),
    ("lime", "fp:digits=1,how=round"): ("lime", {}, 50),
    ("dice:method=random", "delta-sign"): ("dice", {"method": "random"}, 50),
    ("dice:method=kdtree", "delta-sign"): ("dice", {"method": "kdtree"}, 50),
    ("anchors:beam_size=1", ""): ("anchors", {"beam_size": 1}, 10),  # anchor-exp takes seconds a row
    ("lime-text", ""): ("lime-text", {}, 50),
    ("lime-text:num_features=3", ""): ("lime-text", {"num_features": 3}, 50),
    ("anchors-text:beam_size=1", ""): ("anchors-text", {"beam_size": 1}, 50),
}
HEADER = (
    "explainer", "discretizer", "dataset", "rows", "equal", "library twice", "consistency", "by library", "sufficiency", "by library",
    "ms a row", "by library", "times as fast",
)  # fmt: skip


@attrs.frozen(eq=False)
class Task:
    """A model, the rows that explainers learn from, and the rows that they explain."""

    model: object
    background: object
    X: object


@attrs.frozen(eq=False)
class Answer:
    """What a run of an explainer gave: the measures, and how long a row took."""

    result: faithkit.Evaluation
    seconds: float


def datasets(case: tuple[str, str]) -> tuple[str, ...]:
    """Return the names of the datasets that the explainer of a case explains."""
    return TEXTS if "-text" in case[0] else TABLES


def task(name: str, rows: int) -> Task:
    """Fit a model to one half of a dataset, and take rows of the other half."""
    return text_task(name, rows) if name in TEXTS else table_task(name, rows)


def text_task(name: str, rows: int) -> Task:
    """Fit a linear model of words."""
    data = faithkit.load_dataset(name.removesuffix(IN_WORDS))
    texts = write_in_words(data.X) if name.endswith(IN_WORDS) else data.X
    background, others = texts[::2], texts[1::2]
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)).fit(background, data.y[::2])
    return Task(model, background, others[:: len(others) // rows][:rows])


def write_in_words(table: pd.DataFrame) -> list[str]:
    """Return a text for each row: the words in it, in the order of the columns."""
    words = table.select_dtypes("string")
    return [" ".join(row.dropna()) for _, row in words.iterrows()]


def table_task(name: str, rows: int) -> Task:
    """Fit boosted trees; the libraries take no missing numbers."""
    data = faithkit.load_dataset(name)
    numbers = data.X.select_dtypes("number").columns
    complete = data.X[numbers].notna().all(axis=1).to_numpy()
    X, y = data.X[complete].reset_index(drop=True), data.y[complete]
    words = [column for column in X if column not in numbers]
    encode = make_column_transformer((OneHotEncoder(), words), remainder="passthrough")
    model = make_pipeline(encode, GradientBoostingClassifier(n_estimators=30, random_state=0))
    background, others = X[::2], X[1::2]
    step = len(others) // rows
    return Task(model.fit(background, y[::2]), background, others[::step][:rows])


def answer(case: tuple[str, str], engine: str, where: Task, seed: int = 0) -> Answer:
    """Explain all rows after a first one, which pays for imports, and measure."""
    name, params, _ = CASES[case]
    fitted = faithkit.plugin.registry().create("explainer", name, {**params, "engine": engine})
    fitted.fit(faithkit.Predictor(where.model), where.background)
    seeds = faithkit.plugin.row_seeds(where.X, seed)
    fitted.explain(where.X[:1], seeds[:1])
    start = time.perf_counter()
    explanations = fitted.explain(where.X, seeds)
    seconds = (time.perf_counter() - start) / len(where.X)
    labels = where.model.predict(where.X)
    return Answer(faithkit.score(labels, explanations, X=where.X, discretizer=case[1] or None), seconds)


def share_equal(a: Answer, b: Answer) -> float:
    """Return the share of rows with equal explanations after discretization; missing ones are equal."""
    keys = [_keys(each.result.rows.explanations) for each in (a, b)]
    return float(np.mean([left == right for left, right in zip(*keys, strict=True)]))


def _keys(explanations: faithkit.Explanations) -> list[object]:
    """Return the identity of each row, None where it has no explanation."""
    rows = explanations.identities
    if not isinstance(rows, np.ndarray) or rows.ndim > 1:
        rows = [tuple(row) for row in np.asarray(rows).tolist()]
    return [None if gone else row for gone, row in zip(explanations.missing, rows, strict=True)]


def line(case: tuple[str, str], dataset: str, rows: int) -> tuple[object, ...]:
    """Return one line of the table; every number is rounded far above a float's last bits."""
    where = task(dataset, rows)
    ours, library = (answer(case, engine, where) for engine in ("faithkit", "library"))
    again = answer(case, "library", where, seed=1)
    measures = [
        "–" if measure.value is None else f"{measure.value:.2f}"  # nothing could be checked
        for name in ("consistency", "sufficiency")
        for measure in (getattr(ours.result, name), getattr(library.result, name))
    ]
    times = [1000 * ours.seconds, 1000 * library.seconds, library.seconds / ours.seconds]
    shares = [f"{share_equal(library, other):.2f}" for other in (ours, again)]
    return *case, dataset, rows, *shares, *measures, *(f"{float(f'{each:.2g}'):g}" for each in times)


def main(folder: str) -> None:
    """Write the table."""
    with (Path(folder) / "engines.csv").open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(HEADER)
        for case, (_, _, rows) in CASES.items():
            for dataset in datasets(case):
                lines.writerow(line(case, dataset, rows))
                file.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
