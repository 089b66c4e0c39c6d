"""anchor-exp's own search for anchors, one row after the other and one call of the model for each batch."""

import numpy as np

import faithkit


def rules_of(fitted, X, seeds):
    """Return the rules that anchor-exp's search finds with the draws, the model and the parameters of `anchors`."""
    return [
        _rule(fitted, codes, int(seed)) for codes, seed in zip(fitted.encoder_.encode(X), seeds, strict=True)
    ]


def _rule(fitted, codes, seed):
    from anchor.anchor_base import AnchorBaseBeam
    from faithkit_scoped_rules.anchors.rows import PerturbedRows

    rows, search = PerturbedRows(fitted.table_, codes, seed), fitted.search
    label, known = fitted._labels([rows.own])[0], {}

    def sample(present, n, compute_labels=True):
        if not compute_labels:
            return None, rows.coverage(), None
        drawn, asked = rows.draw(present, n)
        new = [row for row in dict.fromkeys(asked) if row not in known]
        known.update(zip(new, fitted._labels(new) == label, strict=True) if new else ())
        return np.empty((n, 0)), rows.holds(drawn), np.array([known[row] for row in asked])

    found = AnchorBaseBeam.anchor_beam(
        sample,
        desired_confidence=search.threshold,
        delta=search.delta,
        epsilon=search.tau,
        batch_size=_Batch(search.batch_size),
        beam_size=search.beam_size,
        max_anchor_size=search.max_size,
    )
    chosen = [] if all(known.values()) else [rows.conditions[number] for number in found["feature"]]
    names, columns = list(fitted.encoder_.names), fitted.table_.columns
    return faithkit.Rule([columns[c.column].predicate(names[c.column], c) for c in chosen])


class _Batch(int):
    """A batch size that keeps anchor-exp from setting a million rows aside: so much slower it need not be."""

    def __mul__(self, other):
        return max(8192, 4 * int(self))
