"""The truth about an entry: how often its explanations are right on 20,000 fresh rows, by brute force.

An explanation of an explained row (an *owner*) holds for some of the fresh rows. The truth is the mean over
owners, of those that hold for any, of the share of these rows that have the owner's prediction. For numbers it
is the share of their variance that explanations account for: 1 − mean of ½(difference)² / variance.

The relation is the one of the run, with the scopes of the run: importances hold for the rows within the
distance of the ⌈10·m/n⌉-th nearest of m background rows (of the other explained rows, if the background has
fewer rows or there is none), in the fewest columns with 80 % of the sum of absolute importances, at most five.
So the radius depends on n and stays as it is for fresh rows, of which about 10/n lie within it. No estimator
of the kernel takes part, and no code of its relations but `Rule` conditions.

Values without a relation that reads instances hold for the fresh rows that would get an equal value.
"""

import numpy as np
import pandas as pd
from explainer_catalogue.worlds import FRESH
from faithkit_logged_reasons import parse_rule

import faithkit

N_OWNERS = 1_000
SHARE, ROWS, MOST = 0.8, 10, 5


def find_truth(entry, n_owners=N_OWNERS):
    """Return the truth of an entry, and the share of its owners that hold for any fresh row.

    Owners are the explained rows of the first seeds, about a thousand. Both are NaN if no fresh row can have
    such an explanation, as with row numbers.
    """
    sums, n_held, n_seen, variance = 0.0, 0, 0, None
    for seed in range(max(1, round(n_owners / entry.n))):
        case = entry.make(seed)
        fresh = (case.fresh or case.world.fresh)()
        y_fresh = case.world.model.predict(fresh)
        y, scopes = _explain(entry, case, seed, fresh, y_fresh)
        if scopes is None:
            return np.nan, 0.0
        is_number = np.asarray(y).dtype.kind == "f"
        variance = np.var(y_fresh) if is_number else None
        owners = np.random.default_rng(seed).permutation(len(y))[:n_owners]
        for i in owners:
            held = scopes(i)
            n_seen += 1
            if held is None or not held.any():
                continue
            n_held += 1
            labels = y_fresh[held]
            sums += np.mean((labels - y[i]) ** 2) / 2 if is_number else np.mean(labels == y[i])
    if not n_held:
        return np.nan, 0.0
    mean = sums / n_held
    return (1 - mean / variance if variance else mean), n_held / n_seen


def _explain(entry, case, seed, fresh, y_fresh):
    """Return the owners' predictions, and a function that says for which fresh rows an owner's explanation holds."""
    if entry.applies == "equal":
        if case.tell is None:
            return case.world.model.predict(case.X), None
        rng = np.random.default_rng([FRESH, seed])
        y = case.world.model.predict(case.X)
        values = pd.Series(list(case.tell(case.X, y, np.random.default_rng([7, seed]))))
        codes = pd.Series(list(case.tell(fresh, y_fresh, rng))).to_numpy(object)
        return y, lambda i: codes == values[i]
    if case.explainer is not None:
        result = case.evaluate(seed, control_draws=0)
        explanations, y = result.rows.explanations, case.world.model.predict(case.X)
    else:
        explanations, y = faithkit.plugin.adapt(case.explanations, X=case.X), np.asarray(case.predictions)
    reader = {"rule": _rule_scopes, "near": _near_scopes, "nearest": _nearest_scopes, "ball": _ball_scopes}
    return y, reader[entry.applies](case, explanations, fresh)


# ---- rules


def _rule_scopes(case, explanations, fresh):
    """Every condition is evaluated once; words are looked up in the texts."""
    masks, parsed = {}, {}
    words = [set(text.split()) for text in fresh] if isinstance(fresh, list) else None
    lower = [set(faithkit.plugin.tokenize(text, "word")) for text in fresh] if words else None

    def mask(condition):
        if condition not in masks:
            if isinstance(condition, faithkit.plugin.Contains):
                bags = lower if condition.tokenizer == "word" else words
                masks[condition] = np.array([condition.token in bag for bag in bags])
            else:
                masks[condition] = condition.mask(fresh)
        return masks[condition]

    def scope(i):
        if explanations.missing[i]:
            return None
        rule = explanations.values[i]
        if isinstance(rule, str):
            if rule not in parsed:
                parsed[rule] = parse_rule(rule, case.X)
            rule = parsed[rule]
        held = np.ones(len(fresh), dtype=bool)
        for condition in rule.predicates:
            held &= mask(condition)
        return held

    return scope


# ---- importances


def named_columns(row):
    """Return the fewest columns that carry 80 % of the sum of absolute importances, at most five."""
    sizes = np.nan_to_num(np.abs(row))
    order = np.argsort(-sizes, kind="stable")
    before = np.cumsum(sizes[order]) - sizes[order]
    keep = (before < SHARE * sizes.sum() * (1 - 1e-9)) & (np.arange(len(row)) < MOST)
    return order[keep & (sizes[order] > 0)]


def _codes(background, X):
    """Return X as floats, and which columns are numbers: ranks among the background, or codes of words."""
    out, are_numbers = np.empty((len(X), background.shape[1])), []
    for j, name in enumerate(background):
        column, values = background[name], X[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            column, values = column.astype("int64"), values.astype("int64")
        is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        are_numbers.append(is_number)
        if is_number:
            ranks, numbers = np.sort(column.dropna().to_numpy(float)), values.to_numpy(float)
            place = np.searchsorted(ranks, numbers, "left") + np.searchsorted(ranks, numbers, "right")
            out[:, j] = np.where(np.isnan(numbers), np.nan, place / (2 * len(ranks)))
        else:
            known = {value: k for k, value in enumerate(sorted(map(str, column.dropna().unique())))}
            texts = values.astype(object)
            out[:, j] = [np.nan if pd.isna(value) else known.get(str(value), -1) for value in texts]
    return out, are_numbers


def _distance(codes, row, columns, are_numbers):
    total = np.zeros(len(codes))
    for j in columns:
        gap = np.abs(codes[:, j] - row[j]) if are_numbers[j] else (codes[:, j] != row[j]) * 1.0
        missing, is_missing = np.isnan(codes[:, j]), np.isnan(row[j])
        total += np.where(missing | is_missing, ~(missing & is_missing) * 1.0, gap)
    return total


def _near_scopes(case, explanations, fresh):
    n = len(case.X) + (0 if case.pool is None else len(case.pool))
    held = case.X if case.pool is None else pd.concat([case.X, case.pool], ignore_index=True)
    stands_in = case.background is None or case.explainer is None or len(case.background) < n
    reference = held if stands_in else case.background
    codes, are_numbers = _codes(reference, case.X)
    reference_codes, fresh_codes = _codes(reference, reference)[0], _codes(reference, fresh)[0]
    rank = int(np.ceil(ROWS * len(reference) / n))
    phi = np.asarray(explanations.values, dtype=float)

    def scope(i):
        columns = named_columns(phi[i])
        if explanations.missing[i] or not len(columns):
            return None
        to_reference = _distance(reference_codes, codes[i], columns, are_numbers)
        if stands_in:
            to_reference = np.delete(to_reference, i)
        radius = np.partition(to_reference, min(rank, len(to_reference)) - 1)[
            min(rank, len(to_reference)) - 1
        ]
        return _distance(fresh_codes, codes[i], columns, are_numbers) <= radius + 1e-12

    return scope


# ---- examples, always of numbers and with Euclidean distances


def _nearest_scopes(case, explanations, fresh):
    prototypes = np.asarray(explanations.shared["prototypes"], dtype=float)
    rows, nearest = np.asarray(fresh, dtype=float), np.empty(len(fresh), dtype=int)
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        nearest[start : start + 1000] = ((part[:, None] - prototypes) ** 2).sum(axis=2).argmin(axis=1)
    numbers = np.asarray(explanations.values).reshape(len(explanations), -1)[:, 0]
    return lambda i: nearest == numbers[i]


def _ball_scopes(case, explanations, fresh):
    rows, X = np.asarray(fresh, dtype=float), np.asarray(case.X, dtype=float)
    ends = np.asarray(explanations.values, dtype=float)

    def scope(i):
        if explanations.missing[i]:
            return None
        radius = np.sqrt(((ends[i] - X[i]) ** 2).sum())
        return np.sqrt(((rows - X[i]) ** 2).sum(axis=1)) < radius

    return scope
