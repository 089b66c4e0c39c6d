"""What speaks against importances: signs that are arbitrary, or say the opposite of what the model does.

Relations of importances read their sizes alone. Both checks read the sign of the first feature, the one of
largest absolute importance.
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.column_importances import signed_importances

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Holds = Callable[[faithkit.plugin.Sample, faithkit.Explanations], NDArray[np.bool_]]

NOT_FAITHFUL = "not faithful"
MIN_SHARE = 0.8  # of similar rows with the same sign; honest importances have .98, random signs .5
MIN_ROWS = 40  # rows with a similar one, below which nothing is said of signs
MAX_ROWS = 2_000  # rows whose similar rows are looked at
BATCH_ROWS = 64
DIRECTION_ROWS, DRAWS = 200, 10
NOISE = 1e-9  # of the largest score: smaller changes may be rounding errors


def object_to_importances(
    component: str, context: faithkit.plugin.ObjectionContext, near: Holds
) -> list[faithkit.plugin.Objection]:
    """Return the objections to signs and to their direction, and why one of them cannot be checked.

    Parameters
    ----------
    component : str
        The name of the relation, for messages.
    context : ObjectionContext
    near : callable
        ``near(sample, explanations)`` says which rows are similar to the explained ones.
    """
    X = context.sample.instances(component)
    explanations = context.sample.explanations
    signed = signed_importances(component, explanations, faithkit.plugin.Encoder(X).names)
    signed[explanations.missing] = 0
    if signed.shape[1] > 1:
        return _inapplicable("importances of several outputs are summed, and sums of sizes have no sign")
    if not (signed < 0).any():
        return _inapplicable("importances have no signs: none is negative")
    first = _FirstFeatures.of(signed[:, 0])
    return [*object_to_signs(context, near, first), *object_to_direction(context, first)]


@attrs.frozen(eq=False)
class _FirstFeatures:
    """The feature of largest absolute importance of each row, and its sign; 0 if all importances are 0."""

    column: Rows
    sign: Floats

    @classmethod
    def of(cls, importances: Floats) -> "_FirstFeatures":
        column = np.abs(importances).argmax(axis=1)
        return cls(column, np.sign(importances[np.arange(len(column)), column]))


def object_to_signs(
    context: faithkit.plugin.ObjectionContext, near: Holds, first: _FirstFeatures
) -> list[faithkit.plugin.Objection]:
    """Object if similar rows with the same first feature and prediction often differ in its sign.

    For every row with such similar rows it is the share of them that have its sign; the mean must be 0.8. Of
    more than 2,000 rows, 2,000 chosen by content are compared with all rows; at least 40 must have a similar
    row.

    Rows with different predictions may be explained for different classes, so their signs are not compared.
    Predictions that are numbers have no classes: all importances speak for the same number, so every similar
    row is compared. Scores are compared where the same class has the highest one.
    """
    rows = _choose_rows(context, np.flatnonzero(first.sign != 0), MAX_ROWS)
    prediction, shares = _prediction_codes(context), np.full(len(rows), np.nan)
    for start in range(0, len(rows), BATCH_ROWS):
        batch = rows[start : start + BATCH_ROWS]
        is_similar = near(context.sample, context.sample.explanations.take(batch))
        is_similar &= (first.column[batch, None] == first.column) & (first.sign != 0)
        is_similar &= prediction[batch, None] == prediction
        is_similar[np.arange(len(batch)), batch] = False
        has_sign = (is_similar & (first.sign[batch, None] == first.sign)).sum(axis=1)
        n_similar = is_similar.sum(axis=1)
        shares[start : start + BATCH_ROWS] = np.where(
            n_similar > 0, has_sign / np.maximum(n_similar, 1), np.nan
        )
    n_checked = int(np.isfinite(shares).sum())
    if n_checked < MIN_ROWS:
        why = f"{n_checked} rows have a similar one with the same first feature, and {MIN_ROWS} are needed"
        return [faithkit.plugin.Objection("signs", why)]
    share = float(np.nanmean(shares))
    if share >= MIN_SHARE:
        return []
    similar = "similar rows" if context.outcome == "numbers" else "similar rows with one prediction"
    sentence = (
        f"{similar} get opposite signs: only {faithkit.plugin.format_percent(share)} of them have the "
        "sign of the row that they are compared with"
    )
    return [faithkit.plugin.Objection("signs", sentence, NOT_FAITHFUL)]


def object_to_direction(
    context: faithkit.plugin.ObjectionContext, first: _FirstFeatures
) -> list[faithkit.plugin.Objection]:
    """Object if the score mostly changes against the sign of the first feature.

    In up to 200 rows, chosen by content, the first feature gets the value of 10 background rows. The
    importance is positive if the score falls by that, summed over the ten. The objection stands if the share
    of rows in which the signs agree is below one half, up to its upper 97.5 % limit (Clopper–Pearson).

    Background rows whose column has another dtype than the sample's are replaced by rows of the sample.
    """
    why = _why_no_direction(context)
    if why is not None:
        return [faithkit.plugin.Objection("direction", why)]
    rows = _choose_rows(context, np.flatnonzero(first.sign != 0), DIRECTION_ROWS)
    changes = _score_changes(context, rows, first.column[rows])
    is_change = changes != 0
    n, hits = int(is_change.sum()), int((np.sign(changes) == first.sign[rows])[is_change].sum())
    if n == 0:
        return [faithkit.plugin.Objection("direction", "the score depends on no first feature of a row")]
    if _upper_limit(hits, n) >= 0.5:
        return []
    sentence = (
        "signs say the opposite of what the model does: its score changes as the sign of the first feature "
        f"says in {hits} of {n} rows"
    )
    return [faithkit.plugin.Objection("direction", sentence, NOT_FAITHFUL)]


def _inapplicable(why: str) -> list[faithkit.plugin.Objection]:
    return [faithkit.plugin.Objection(name, why) for name in ("signs", "direction")]


def _why_no_direction(context: faithkit.plugin.ObjectionContext) -> str | None:
    """Return why importances cannot be compared with the model; None if they can."""
    if context.predictor is None:
        return "there is no model to ask"
    if not context.predictor.has_scores:
        return "the model gives labels and no scores"
    if context.outputs is None:
        return "it is not known which score each explanation speaks for"
    if context.sample.explanations.shared.get("slopes"):
        return "slopes say how the score changes, and not to which side it was changed"
    return None


def _choose_rows(context: faithkit.plugin.ObjectionContext, rows: Rows, most: int) -> Rows:
    """Choose rows by the smallest seeds, of equal ones by their predictions and explanations."""
    values: Floats = context.sample.explanations.take(rows).values
    words = faithkit.plugin.hash_content((context.predictions[rows], values))
    return np.asarray(rows[np.lexsort((words, context.seeds[rows]))][:most])


def _prediction_codes(context: faithkit.plugin.ObjectionContext) -> Rows:
    """Return a code for each prediction; only rows with equal codes are compared."""
    if context.outcome == "numbers":
        return np.zeros(len(context.predictions), dtype=np.int64)
    if context.outcome == "scores":
        return np.asarray(np.argmax(context.predictions, axis=1))
    return np.asarray(pd.factorize(np.asarray(context.predictions, dtype=object))[0])


def _score_changes(context: faithkit.plugin.ObjectionContext, rows: Rows, columns: Rows) -> Floats:
    """Return how much the explained score falls in some rows if one column gets other rows' values."""
    X, repeats = context.sample.X, np.repeat(np.arange(len(rows)), DRAWS)
    originals = faithkit.plugin.take_rows(X, rows)
    uniforms = faithkit.plugin.row_uniforms(context.seeds[rows], DRAWS).ravel()
    changed = _replace_values(
        faithkit.plugin.take_rows(originals, repeats), columns[repeats], uniforms, (context.background, X)
    )
    assert context.predictor is not None
    assert context.outputs is not None
    both = (
        pd.concat([originals, changed])
        if isinstance(X, pd.DataFrame)
        else np.concatenate([originals, changed])
    )
    outputs = context.outputs[rows]
    scores = context.predictor.scores(both)[np.arange(len(both)), np.concatenate([outputs, outputs[repeats]])]
    before, after = scores[: len(rows)], scores[len(rows) :].reshape(len(rows), DRAWS)
    changes = DRAWS * before - after.sum(axis=1)
    changes[np.abs(changes) <= NOISE * np.abs(scores).max(initial=0.0)] = 0.0
    return np.asarray(changes)


def _replace_values(rows: Any, columns: Rows, uniforms: Floats, sources: tuple[Any, Any]) -> Any:
    """Return a copy of rows in which one column of each has the value of another row, chosen by a uniform."""
    donors = [None if source is None else _Donors(source) for source in sources]
    is_frame = isinstance(rows, pd.DataFrame)
    changed = rows.copy()
    for j in np.unique(columns).tolist():
        at = np.flatnonzero(columns == j)
        label = rows.columns[j] if is_frame else j
        own = rows.iloc[:, j] if is_frame else rows[:, j]
        values = next(v for d in donors if d is not None and (v := d.column(label, own)) is not None)
        chosen = (uniforms[at] * len(values)).astype(np.int64)
        if is_frame:
            column = own.array.copy()
            column[at] = values.array[chosen]
            changed[label] = column
        else:
            changed[at, j] = values[chosen]
    return changed


class _Donors:
    """Rows in an order of their content, whose values others get."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self._order = np.argsort(faithkit.plugin.hash_content(rows), kind="stable")

    def column(self, label: Any, own: Any) -> Any:
        """Return a column, if it has the container and the dtype of another one."""
        is_frame = isinstance(self._rows, pd.DataFrame)
        if is_frame != isinstance(own, pd.Series) or (is_frame and label not in self._rows.columns):
            return None
        values = self._rows[label].iloc[self._order] if is_frame else self._rows[self._order, label]
        return values if values.dtype == own.dtype else None


def _upper_limit(hits: int, n: int) -> float:
    """Return the upper limit of a share (Clopper–Pearson, 97.5 %)."""
    from scipy.special import betaincinv

    return 1.0 if hits == n else float(betaincinv(hits + 1, n - hits, 0.975))
