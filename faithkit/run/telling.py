r"""Explanations that name their own prediction: "debt ≤ 3 → approved" agrees with it whatever the model does.

Only what can hardly be anything else is pointed out. A label can also be a value ("owner = yes"), a number
("2 accounts") or part of another one ("not approved"): so it counts as a word of its own, not beside a sign
that compares, and words and numbers that say little by themselves count after an arrow or "class" only.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from faithkit.measure.explanations import Explanations
from faithkit.measure.owners import Counts
from faithkit.measure.tally import Count

NEARLY_ALL = 0.95
MOST_LABELS = 1000
LOOKED_AT = 200  # explanations: if nearly all are to name their prediction, so must nearly all of these
LETTERS = 1000  # of a longer text at its beginning, and as many at its end
_COMMON = {"yes", "no", "true", "false", "none", "other", "high", "low", "good", "bad"}
_SAYS = (
    r"(?:→|⇒|[-=]>|\b(?:then|class|label|predict\w{0,5}|outcome|decision|answer)\b(?:\s{1,3}is\b)?)\W{0,4}"
)
_COMPARES = r"(?:[<>=≤≥≠:]|\b(?:in|is)\b)[\s'\"(\[{]{0,3}"
_COMPARED = r"['\"]?\s{0,3}[<>=≤≥≠:]"


def tells_prediction(counted: Count, labels: Sequence[Any]) -> tuple[str, ...]:
    """Say, in one sentence or none, that nearly every explanation names its own row's label and no other.

    `counted` is what consistency was counted from.
    """
    if not 2 <= len(labels) <= MOST_LABELS:
        return ()
    some = _looked_at(counted.explanations)
    texts = [_text(counted.explanations.identities, row) for row in some.tolist()]
    if not any(texts):
        return ()
    names = [str(label).casefold() for label in labels]
    told = _shown(_named(texts, names), names, counted.label_counts(some))
    if told is None:
        return ()
    return (
        f"Nearly every explanation names the prediction of its own row, such as {str(labels[told])!r}, and "
        "no other: with that in it, explanations agree with predictions whatever the model does. Leave "
        "it out.",
    )


def _looked_at(explanations: Explanations) -> Counts:
    """Return some explanations of words, chosen by what they say: the order of rows is no matter."""
    values, rows = explanations.identities, np.flatnonzero(~explanations.missing)
    if isinstance(values, tuple) or (isinstance(values, np.ndarray) and values.ndim > 1) or not len(rows):
        return rows[:0]
    if len(rows) <= LOOKED_AT or not any(_text(values, row) for row in rows[:LOOKED_AT].tolist()):
        return rows[:LOOKED_AT]
    cells = values.iloc[rows] if isinstance(values, pd.DataFrame) else pd.Series(values[rows], dtype=object)
    words = pd.util.hash_pandas_object(cells, index=False, categorize=False).to_numpy()
    return rows[np.sort(np.argsort(words, kind="stable")[:LOOKED_AT])]


def _text(values: Any, row: int) -> str | None:
    """Return the words of an explanation; None for one that is made of something else."""
    cells = tuple(values.iloc[row]) if isinstance(values, pd.DataFrame) else values[row]
    parts = (cells,) if isinstance(cells, str) else cells if isinstance(cells, tuple) else ()
    words = [part for part in parts if isinstance(part, str)]
    return _ends(" ; ".join(words)) if words else None


def _ends(text: str) -> str:
    return text if len(text) <= 2 * LETTERS else f"{text[:LETTERS]} … {text[-LETTERS:]}"


def _named(texts: Sequence[str | None], names: Sequence[str]) -> list[set[str]]:
    """Return the labels that each text names; of "approved" and "not approved" the longer one."""
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    word = rf"(?<![\w.,-])(?P<label>{either})(?![\w-]|[.,]\d)"
    pattern = re.compile(rf"(?P<says>{_SAYS})?(?:(?P<compares>{_COMPARES}))?{word}(?P<compared>{_COMPARED})?")
    return [_in(text.casefold(), pattern) if text is not None else set() for text in texts]


def _in(text: str, pattern: re.Pattern[str]) -> set[str]:
    whole = pattern.fullmatch(text)
    if whole is not None:
        return {whole["label"]}
    return {found["label"] for found in pattern.finditer(text) if _is_name(found)}


def _is_name(found: re.Match[str]) -> bool:
    """Whether a label is named, and is not just a value or a word that reads the same."""
    if found["says"]:
        return True
    letters = sum(map(str.isalpha, found["label"]))  # one letter may be an article, or an option among others
    telling = found["label"] not in _COMMON and letters > 1
    return telling and not found["compares"] and not found["compared"]


def _shown(named: list[set[str]], names: Sequence[str], held: Counts) -> int | None:
    """Return the label that is named most; None unless nearly all rows name theirs, and theirs alone."""
    own = np.array([[one == {name} for name in names] for one in named])
    rows, telling = held.sum(), (held * own).sum(axis=0)
    if telling.sum() < NEARLY_ALL * rows or (telling > 0).sum() < 2:
        return None
    return int(telling.argmax())
