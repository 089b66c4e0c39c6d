"""Logs in long format: a row for each part of an explanation, where a row for each instance is expected."""

import warnings

import pandas as pd

from faithkit.errors import FaithkitWarning
from faithkit.inputs.files.column_roles import Table
from faithkit.inputs.logs.log import Log
from faithkit.measure.grouping import group

FEWEST = 10  # instances
PARTS = 3  # rows for each of them, on average


def warn_of_long_format(table: Table, log: Log) -> None:
    """Say it where an unused column repeats, always with one prediction and never with one explanation.

    A column of clusters is no such column: it says that its rows are cases of their own.
    """
    roles = log.roles
    if len(roles.prediction) > 1 or len(log.explanations) < FEWEST * PARTS:
        return
    used = {*roles.prediction, *roles.explanation, *roles.features, roles.by, roles.weights, roles.clusters}
    labels = pd.factorize(pd.Series(log.predictions))[0]
    parts = group(log.explanations.identities, log.explanations.missing).codes
    for name in table.names:
        if name in used:
            continue
        rows = pd.DataFrame({"name": pd.factorize(table.texts(name))[0], "label": labels, "part": parts})
        instances = rows["name"].nunique()
        if (
            FEWEST <= instances <= len(rows) / PARTS
            and len(rows[["name", "label"]].drop_duplicates()) == instances
            and not rows[["name", "part"]].duplicated().any()
        ):
            warnings.warn(
                f"the log has {len(rows):,} rows and {instances:,} values of {name!r}, each with one "
                "prediction and several explanations: it seems to have a row for each part of an "
                "explanation. Give one row for each instance; in pandas: "
                f"log.groupby([{name!r}, {roles.prediction[0]!r}])"
                f"[{roles.explanation[0]!r}].agg(' '.join). If rows are cases of their own, write --clusters "
                f"{name}.",
                FaithkitWarning,
                stacklevel=3,
            )
            return
