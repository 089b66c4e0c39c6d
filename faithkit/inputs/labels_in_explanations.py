"""Find explanations that name the label of their row: then agreement says nothing about the model."""

import re
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd

from faithkit.arrays.containers import take_rows
from faithkit.explanations.explanations import Explanations
from faithkit.measure.counting.count import Count
from faithkit.measure.counting.owners import Counts

_MIN_NAMING_SHARE = 0.95  # of explanations that name the label of their own row
_MAX_LABELS, _MAX_TEXTS, _MAX_LETTERS = 1000, 200, 1000
_VAGUE_LABELS = {"yes", "no", "true", "false", "none", "other", "high", "low", "good", "bad"}
_ANNOUNCEMENT = (
    r"(?:→|⇒|[-=]>|\b(?:then|class|label|predict\w{0,5}|outcome|decision|answer)\b(?:\s{1,3}is\b)?)\W{0,4}"
)
_COMPARISON_BEFORE = r"(?:[<>=≤≥≠:]|\b(?:in|is)\b)[\s'\"(\[{]{0,3}"
_COMPARISON_AFTER = r"['\"]?\s{0,3}[<>=≤≥≠:]"


def find_label_in_explanations(count: Count, labels: Sequence[Any]) -> Any:
    """Return a label that explanations name; None unless nearly all name only their own row's label.

    A label can also be a value ("owner = yes") or a number ("2 accounts"). So it counts only as a separate
    word outside comparisons, and a vague word only after an arrow or a word such as "class".
    """
    texts = _sample_texts(count.explanations) if 2 <= len(labels) <= _MAX_LABELS else {}
    if not texts:
        return None
    names = [str(label).casefold() for label in labels]
    any_label = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    word = rf"(?<![\w.,-])(?P<label>{any_label})(?![\w-]|[.,]\d)"
    pattern = re.compile(
        rf"(?P<announcement>{_ANNOUNCEMENT})?(?P<before>{_COMPARISON_BEFORE})?{word}(?P<after>{_COMPARISON_AFTER})?"
    )
    named_labels = [_labels_in(text.casefold(), pattern) for text in texts.values()]
    counts = count.label_counts(np.fromiter(texts, dtype=np.int64))
    names_only = np.array([[text_labels == {name} for name in names] for text_labels in named_labels])
    naming_counts = (counts * names_only).sum(axis=0)
    if naming_counts.sum() < _MIN_NAMING_SHARE * counts.sum() or (naming_counts > 0).sum() < 2:
        return None
    return labels[int(naming_counts.argmax())]


def _sample_texts(explanations: Explanations) -> dict[int, str]:
    """Return the texts of some explanations by row; the choice does not depend on the order of rows."""
    values, rows = explanations.identities, np.flatnonzero(~explanations.missing)
    is_table = isinstance(values, tuple) or (isinstance(values, np.ndarray) and values.ndim > 1)
    if is_table or not any(map(_as_text, _take_values(values, rows[:_MAX_TEXTS]))):
        return {}
    texts = [_as_text(value) for value in _take_values(values, rows)]
    hashes = [crc32(text.encode(errors="surrogatepass")) for text in texts]
    return {int(rows[i]): texts[i] for i in np.argsort(hashes, kind="stable")[:_MAX_TEXTS]}


def _take_values(values: Any, rows: Counts) -> list[Any]:
    taken: Any = take_rows(values, rows)
    return list(taken.itertuples(index=False, name=None) if isinstance(taken, pd.DataFrame) else taken)


def _as_text(value: Any) -> str:
    """Return the text of an explanation; of a long one, its beginning and its end."""
    items = (value,) if isinstance(value, str) else value if isinstance(value, tuple) else ()
    text = " ; ".join(item for item in items if isinstance(item, str))
    return text if len(text) <= 2 * _MAX_LETTERS else f"{text[:_MAX_LETTERS]} … {text[-_MAX_LETTERS:]}"


def _labels_in(text: str, pattern: re.Pattern[str]) -> set[str]:
    whole = pattern.fullmatch(text)
    return {whole["label"]} if whole else {m["label"] for m in pattern.finditer(text) if _names_label(m)}


def _names_label(match: re.Match[str]) -> bool:
    n_letters = sum(map(str.isalpha, match["label"]))
    is_vague = match["label"] in _VAGUE_LABELS or n_letters < 2  # one letter may be an article or an option
    return bool(match["announcement"]) or not (is_vague or match["before"] or match["after"])
