"""Warn where data may not mean what its owner thinks: nothing is dropped or changed."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from faithkit.arrays.grouping import group, renumbered
from faithkit.errors import FaithkitWarning
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.files.arrow_types import is_text, value_type
from faithkit.inputs.files.column_roles import Table
from faithkit.measure.counting.owners import Counts
from faithkit.measure.counting.tally import Count
from faithkit.wording import listing

FIRST_ROWS = 10_000  # of a log are checked
_FEWEST_CASES, _PARTS_OF_CASE = 10, 3
_MATTERS = 0.01  # of a share
_NEARLY_ALL, _MOST_LABELS, _MOST_TEXTS, _LETTERS = 0.95, 1000, 200, 1000
_NUMBER = re.compile(r"\s*[+-]?[0-9]*([.,][0-9]+)?\s*(%?)\s*")
_WORDS = r"bias|base|baseline|intercept|expected|base_?values?|expected_?values?"
_BASE_VALUE = re.compile(rf"(?:^|[^a-z])(?:{_WORDS})(?:[^a-z]|$)")
_VAGUE = {"yes", "no", "true", "false", "none", "other", "high", "low", "good", "bad"}
_ANNOUNCES = (
    r"(?:→|⇒|[-=]>|\b(?:then|class|label|predict\w{0,5}|outcome|decision|answer)\b(?:\s{1,3}is\b)?)\W{0,4}"
)
_COMPARES = r"(?:[<>=≤≥≠:]|\b(?:in|is)\b)[\s'\"(\[{]{0,3}"
_IS_COMPARED = r"['\"]?\s{0,3}[<>=≤≥≠:]"


def _warn(message: str) -> None:
    warnings.warn(message, FaithkitWarning, stacklevel=5)


def warn_about_number_texts(labels: Sequence[Any]) -> None:
    """Warn if all labels are texts of numbers, and one has a fraction or a percent sign."""
    numbers = [_NUMBER.fullmatch(label) if isinstance(label, str) else None for label in labels]
    # an empty text is a number to the pattern, and has no fraction
    fractions = [match[0] for match in numbers if match and (match[2] or (match[1] or "").strip(".,0"))]
    if all(numbers) and fractions:
        _warn(
            f"predictions such as {fractions[0]!r} are texts, and are taken for labels: if they are numbers, "
            "write them as numbers, with a decimal point and without a percent sign."
        )


def warn_about_base_values(explanations: Explanations) -> None:
    """Warn about importances that have the name of a base value and are the same number in every row."""
    names, values = explanations.shared.get("names") or (), explanations.values
    if explanations.kind != "vector" or values.ndim != 2 or not 1 < len(names) == values.shape[1]:
        return
    base = []
    for name, column in zip(names, values[~explanations.missing].T, strict=True):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        if _BASE_VALUE.search(words) and len(pd.unique(column[~np.isnan(column)])) == 1:
            base.append(name)
    if base and len(base) < len(names):
        _warn(
            f"{listing(map(repr, base))} may be a base value and no feature: it is the same in every row. If "
            f"so, leave it out (CLI: --explanation '…,!{base[0]}')."
        )


def warn_about_long_format(table: Table, log: Any) -> None:
    """Warn if a column without a role names cases: each has one label and several explanations."""
    roles, n = log.roles, len(table)
    if len(roles.prediction) > 1 or n < _FEWEST_CASES * _PARTS_OF_CASE:
        return
    used = {*roles.prediction, *roles.explanation, *roles.features, roles.by, roles.weights, roles.clusters}
    labels = pd.factorize(pd.Series(log.predictions))[0]
    parts = group(log.explanations.identities, log.explanations.missing).codes
    for name, cells in zip(table.names, table.cells.columns, strict=True):
        kind = value_type(cells.type)
        if name in used or not (pa.types.is_integer(kind) or is_text(kind)):
            continue
        codes = pc.fill_null(cells.cast(kind).combine_chunks().dictionary_encode().indices, -1)
        rows = pd.DataFrame({"case": codes.to_numpy(zero_copy_only=False), "label": labels, "part": parts})
        cases = rows["case"].nunique()
        has_one_label = len(rows[["case", "label"]].drop_duplicates()) == cases
        has_many_parts = not rows[["case", "part"]].duplicated().any()
        if _FEWEST_CASES <= cases <= n / _PARTS_OF_CASE and has_one_label and has_many_parts:
            has = "has" if n < FIRST_ROWS else "begins with"
            _warn(
                f"the log {has} {n:,} rows and {cases:,} values of {name!r}, each with one prediction and "
                "several explanations: it seems to have a row for each part of an explanation. Give one row "
                f"for each instance; in pandas: log.groupby([{name!r}, {roles.prediction[0]!r}])"
                f"[{roles.explanation[0]!r}].agg(' '.join). If rows are cases of their own, write --clusters "
                f"{name}."
            )
            return


def warn_about_repeated_rows(counted: Any, n: int, words: Callable[[], Any] | None) -> None:
    """Warn if rows equal others in instance, explanation and label, and agree mostly with these.

    `counted` has the explanation and the label of each row, of which the first `n` are explained. `words`
    returns 64 bits for each instance, or None where instances cannot be hashed. Where instances are unknown,
    it is no accident if all rows occur a multiple of the same number of times.
    """
    rows = ~counted.explanations.missing[counted.owned[:n]]
    explanations, labels = counted.owned[:n][rows], counted.labels[:n][rows]
    times_predicted = np.bincount(labels, minlength=1)
    if not ((times_predicted > 1).any() if words is not None else (times_predicted != 1).all()):
        return
    cells = renumbered(explanations * len(times_predicted) + labels).codes
    sizes, hashes = np.bincount(cells), None if words is None else words()
    times = np.ones_like(cells)
    if words is None and len(sizes) >= _FEWEST_CASES:
        times = times * np.gcd.reduce(sizes)
    elif hashes is not None:
        copies = group(np.column_stack([cells.view(np.uint64), hashes[:n][rows]])).codes
        times = np.bincount(copies)[copies]
    if times.max(initial=1) == 1:
        return
    sharing, agreeing = np.bincount(explanations)[explanations], sizes[cells]
    before, after = (_shares(sharing - own, agreeing - own) for own in (1, times))
    if any(abs(a - b) > _MATTERS for a, b in zip(before, after, strict=True)):
        share = round(100 * (1 - (1 / times).mean()))
        _warn(
            f"{share} % of the rows repeat another one exactly, and what they agree with may be themselves: "
            "if they are cases seen again, say which rows are one case with clusters= (CLI: --clusters)."
        )


def _shares(others: Counts, agreeing: Counts) -> tuple[float, float]:
    """Return the share of rows whose explanation others have, and the mean share of these that agree."""
    return float((others > 0).mean()), float((agreeing / np.maximum(others, 1)).mean())


def label_in_explanations(counted: Count, labels: Sequence[Any]) -> Any:
    """Return a label that explanations name; None unless nearly all name the label of their own row alone.

    A label can also be a value ("owner = yes"), a number ("2 accounts") or part of another one ("not
    approved"): so it counts as a word of its own that nothing is compared with, and words that say little
    count after an arrow or "class" only.
    """
    texts = _texts(counted.explanations) if 2 <= len(labels) <= _MOST_LABELS else {}
    if not texts:
        return None
    names = [str(label).casefold() for label in labels]
    either = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    word = rf"(?<![\w.,-])(?P<label>{either})(?![\w-]|[.,]\d)"
    pattern = re.compile(
        rf"(?P<announces>{_ANNOUNCES})?(?P<compares>{_COMPARES})?{word}(?P<compared>{_IS_COMPARED})?"
    )
    named = [_labels_in(text.casefold(), pattern) for text in texts.values()]
    times = counted.label_counts(np.fromiter(texts, dtype=np.int64))
    own = (times * np.array([[some == {name} for name in names] for some in named])).sum(axis=0)
    if own.sum() < _NEARLY_ALL * times.sum() or (own > 0).sum() < 2:
        return None
    return labels[int(own.argmax())]


def _texts(explanations: Explanations) -> dict[int, str]:
    """Return the words of some explanations, chosen by what they say: the order of rows does not matter."""
    values, rows = explanations.identities, np.flatnonzero(~explanations.missing)
    if isinstance(values, tuple) or (isinstance(values, np.ndarray) and values.ndim > 1):
        return {}
    if not any(map(_words, _cells(values, rows[:_MOST_TEXTS]))):
        return {}
    texts = [_words(cell) for cell in _cells(values, rows)]
    hashes = [crc32(text.encode(errors="surrogatepass")) for text in texts]
    return {int(rows[i]): texts[i] for i in np.argsort(hashes, kind="stable")[:_MOST_TEXTS]}


def _cells(values: Any, rows: Counts) -> list[Any]:
    if isinstance(values, pd.DataFrame):
        return list(values.iloc[rows].itertuples(index=False, name=None))
    return [values[row] for row in rows]


def _words(cell: Any) -> str:
    """Return the words of an explanation, of a long one its beginning and its end."""
    parts = (cell,) if isinstance(cell, str) else cell if isinstance(cell, tuple) else ()
    text = " ; ".join(part for part in parts if isinstance(part, str))
    return text if len(text) <= 2 * _LETTERS else f"{text[:_LETTERS]} … {text[-_LETTERS:]}"


def _labels_in(text: str, pattern: re.Pattern[str]) -> set[str]:
    whole = pattern.fullmatch(text)
    if whole is not None:
        return {whole["label"]}
    return {match["label"] for match in pattern.finditer(text) if _names(match)}


def _names(match: re.Match[str]) -> bool:
    letters = sum(map(str.isalpha, match["label"]))  # one letter may be an article, or an option among others
    is_vague = match["label"] in _VAGUE or letters < 2
    return bool(match["announces"]) or not (is_vague or match["compares"] or match["compared"])
