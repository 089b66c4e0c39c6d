"""Convert the texts of a CSV to numbers and booleans, where no information is lost.

The type of a column depends on its role. As features, `1.50`, `1.5` and `01.5` are one number. As labels or
groups they are three names. In an explanation 1.50 equals 1.5, but `01` and `1` are two codes; the same holds
for predictions with fractions.
"""

import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from faithkit.arrays.containers import EXACT_LIMIT
from faithkit.errors import InputError

_HEAD = 1000  # rows that are checked before a whole column is parsed
_SPELLINGS = ({"True", "False"}, {"true", "false"}, {"TRUE", "FALSE"})
_TRUE = pa.array(["True", "true", "TRUE"])
_CODE = re.compile(r"[+-]?0[0-9]")
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_WORD_OR_WHOLE = r"[nN][aA][nN]|^\s*[+-]?[0-9]+\s*$"  # what a float would lose
_FRACTION = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_NUMBER = re.compile(r"\s*[+-]?([0-9]*\.?[0-9]*([eE][+-]?[0-9]+)?|inf(inity)?)\s*", re.IGNORECASE)


def as_features(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse a column as integers, floats or booleans, as pandas does; return the texts if one does not parse.

    A column without any text becomes floats.

    Examples
    --------
    >>> as_features(pa.chunked_array([["1", None, " 01"]])).to_pylist()
    [1, None, 1]
    >>> as_features(pa.chunked_array([["1", "NA"]])).to_pylist()
    ['1', 'NA']
    """
    values = _parse(texts)
    if pa.types.is_floating(values.type):
        infinite = texts.filter(pc.is_inf(values)).to_pylist()
        too_large = next((text for text in infinite if "inf" not in text.lower()), None)
        if too_large is not None:
            row = pc.index(texts, too_large).as_py()
            raise InputError(
                f"the number {too_large.strip()!r:.40} in row {row} is too large and would be read as "
                "infinite: correct it, or leave it empty."
            )
    return values


def _parse(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return integers, floats or booleans, or the texts themselves if one of them is neither."""
    if texts.null_count == len(texts):
        return pa.chunked_array([pa.nulls(len(texts), pa.float64())])
    for parse in (_parse_numbers, _parse_booleans):
        values = parse(texts)
        if values is not None:
            return values
    return texts


def as_explanation(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse a column as `as_features` does, but keep codes (01) and mixed spellings (TRUE, true) as texts.

    Examples
    --------
    >>> as_explanation(pa.chunked_array([["0.50", "0.5"]])).to_pylist()
    [0.5, 0.5]
    >>> as_explanation(pa.chunked_array([["1", "01"]])).to_pylist()
    ['1', '01']
    """
    values = as_features(texts)
    if pa.types.is_boolean(values.type):
        words = set(pc.unique(texts).to_pylist()) - {None}
        return values if any(words <= spelling for spelling in _SPELLINGS) else texts
    openings = pc.unique(pc.utf8_slice_codeunits(pc.ascii_trim_whitespace(texts), 0, 3))
    return texts if any(map(_CODE.match, openings.drop_null().to_pylist())) else values


def as_labels(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse a column as numbers or booleans if Python prints each value as it was written; else keep texts.

    Different texts therefore stay different labels, and reports show labels as they were written. Only -0.0
    and 0.0 are one.

    Examples
    --------
    >>> as_labels(pa.chunked_array([["1", "0", None]])).to_pylist()
    [1, 0, None]
    >>> as_labels(pa.chunked_array([["1", "1.0"]])).to_pylist()
    ['1', '1.0']
    """
    distinct = pc.unique(texts).drop_null()
    values = _parse(pa.chunked_array([distinct])).to_pylist()
    return _parse(texts) if distinct.to_pylist() == [str(value) for value in values] else texts


def as_predictions(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Parse a column as floats if all texts are numbers and one has a fraction; otherwise as labels.

    Words among fractions are an error: each fraction would become a separate label.

    Examples
    --------
    >>> as_predictions(pa.chunked_array([["0.50", "0.5", "1"]])).to_pylist()
    [0.5, 0.5, 1.0]
    >>> as_predictions(pa.chunked_array([["1.0", "01"]])).to_pylist()
    ['1.0', '01']
    """
    values = as_explanation(texts)
    if pa.types.is_floating(values.type):
        numbers = values.drop_null()
        is_large = pc.and_(pc.greater_equal(pc.abs(numbers), EXACT_LIMIT), pc.is_finite(numbers))
        has_fraction = pc.not_equal(pc.floor(numbers), numbers)
        return values if pc.any(pc.or_(has_fraction, is_large)).as_py() else as_labels(texts)
    if pa.types.is_string(values.type):
        _check_not_mixed(texts)
    return as_labels(texts)


CONVERT: dict[str, Callable[[pa.ChunkedArray], pa.ChunkedArray]] = {
    "features": as_features,
    "explanation": as_explanation,
    "labels": as_labels,
    "predictions": as_predictions,
}


def _check_not_mixed(texts: pa.ChunkedArray) -> None:
    distinct = pc.unique(texts).drop_null().to_pylist()
    fraction = next(filter(_is_fraction, distinct), None)
    word = next((text for text in distinct if _NUMBER.fullmatch(text) is None), None)
    if fraction is not None and word is not None:
        raise InputError(
            f"predictions are both numbers, such as {fraction!r}, and words, such as {word!r} in row "
            f"{pc.index(texts, word).as_py()}: give numbers only, or say that all are labels, "
            "outcome='labels' (CLI: --outcome labels)."
        )


def _is_fraction(text: str) -> bool:
    return _FRACTION.fullmatch(text) is not None and float(text) % 1 != 0


def _parse_numbers(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return integers or floats, or None if a text is not a number."""
    head = [text for text in texts.slice(0, _HEAD).to_pylist() if text is not None]
    if not all(map(_NUMBER.fullmatch, head)):  # most columns of words fail here at once
        return None
    are_integers = all(map(_WHOLE.fullmatch, head))
    for arrow_type in (pa.int64(), pa.uint64(), pa.float64()) if are_integers else (pa.float64(),):
        for get_texts in (lambda: texts, lambda: _trim(texts)):
            values = _cast(get_texts(), arrow_type)
            if values is not None:
                return values
    return None


def _trim(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Remove the spaces and the plus sign around numbers."""
    return pc.replace_substring_regex(pc.ascii_trim_whitespace(texts), r"^\+([0-9.iI])", r"\1")


def _cast(texts: pa.ChunkedArray, arrow_type: pa.DataType) -> pa.ChunkedArray | None:
    """Convert texts to an Arrow type; None for a text that is no number, or no float represents."""
    try:
        values = texts.cast(arrow_type)
    except pa.ArrowInvalid:
        return None
    if not pa.types.is_floating(arrow_type):
        return values
    is_suspect = pc.or_(pc.is_nan(values), pc.greater_equal(pc.abs(values), EXACT_LIMIT))
    suspects = pc.drop_null(texts.filter(is_suspect))
    return None if pc.any(pc.match_substring_regex(suspects, _WORD_OR_WHOLE)).as_py() else values


def _parse_booleans(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Return booleans, or None if a text is not a boolean."""
    words = set().union(*_SPELLINGS)
    first = next(chunk.drop_null()[0] for chunk in texts.chunks if chunk.null_count < len(chunk))
    if first.as_py() not in words or not set(pc.unique(texts).to_pylist()) <= words | {None}:
        return None
    return pc.if_else(pc.is_null(texts), None, pc.is_in(texts, value_set=_TRUE))
