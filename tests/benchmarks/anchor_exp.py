"""Anchors as version 0.1 of faithkit searched for them: anchor-exp's search, row by row, a call for each batch."""

import numpy as np

import faithkit


def rules_of(fitted, X, seeds):
    """Return the rules that are found in this way with the model and the parameters of `anchors`."""
    return [
        _rule(fitted, codes, int(seed)) for codes, seed in zip(fitted.encoder_.encode(X), seeds, strict=True)
    ]


def _rule(fitted, codes, seed):
    from anchor.anchor_base import AnchorBaseBeam
    from faithkit_scoped_rules.anchors.perturbed_rows import PerturbedRows

    rows, search, options = PerturbedRows(fitted.table_, codes, seed), fitted.search, {}
    label, known = _labels(fitted, codes[None, :])[0], {}

    def sample(present, n, compute_labels=True):
        if not compute_labels:
            return None, rows.coverage(), None
        drawn, bins = _draw(rows, present, n, options)
        keys = [row.tobytes() for row in drawn]
        new = {key: i for i, key in enumerate(keys) if key not in known}
        if new:
            agree = _labels(fitted, drawn[list(new.values())]) == label
            known.update(zip(new, agree.tolist(), strict=True))
        return np.empty((n, 0)), rows.holds(bins), np.array([known[key] for key in keys])

    result = AnchorBaseBeam.anchor_beam(
        sample,
        desired_confidence=search.threshold,
        delta=search.delta,
        epsilon=search.tau,
        batch_size=_Batch(search.batch_size),
        beam_size=search.beam_size,
        max_anchor_size=search.max_size,
    )
    chosen = [] if all(known.values()) else [rows.conditions[number] for number in result["feature"]]
    names, columns = list(fitted.encoder_.names), fitted.table_.columns
    return faithkit.Rule([columns[c.column].predicate(names[c.column], c) for c in chosen])


def _labels(fitted, codes):
    return fitted.predictor_.predict(fitted.encoder_.decode(codes))


def _draw(rows, present, n, options):
    """Draw the codes and bins of n rows; which cells of the table satisfy a condition is found once an instance."""
    table = rows.table
    drawn = rows._random.randint(0, len(table.codes), n)
    codes, bins = table.codes[drawn], table.bins[drawn]
    by_column = {}
    for condition in (rows.conditions[number] for number in present):
        by_column[condition.column] = by_column.get(condition.column, condition).intersect(condition)
    for j, condition in sorted(by_column.items(), key=lambda item: item[1].low < 0):
        outside = np.flatnonzero(~condition.holds(bins[:, j]))
        if condition not in options:
            alike = table.columns[j].categories is not None or condition.high == table.columns[j].missing
            options[condition] = np.flatnonzero(condition.holds(table.bins[:, j]) & (not alike))
        if len(options[condition]):
            chosen = options[condition][rows._random.randint(0, len(options[condition]), len(outside))]
            codes[outside, j], bins[outside, j] = table.codes[chosen, j], table.bins[chosen, j]
        else:
            codes[outside, j], bins[outside, j] = rows._instance[j], rows._bins[j]
    return codes, bins


class _Batch(int):
    """A batch size that keeps anchor-exp from setting a million rows aside: so much slower it need not be."""

    def __mul__(self, other):
        return max(8192, 4 * int(self))
