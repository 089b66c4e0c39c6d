"""The features that a reader sees: identities of explanations, as columns of numbers.

A reader sees the identities, which equality compares, and nothing else. Values that a discretizer has hidden,
or the explained instances, would let it guess more than the explanations contain.
"""

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

MAX_TOKENS = 255
MAX_WORDS = 20_000  # words and pairs of words in texts
SPREAD_ROWS = 1_000  # rows from which the standard deviations of columns are estimated, or a few more
MIN_TOKEN_ROWS = 2  # a token of a single row says nothing about other rows
HUGE = 1e100  # replaces infinity; its square is finite

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Rows = NDArray[np.intp]
Tokens = tuple[Rows, Words]
"""Rows and the hash of a token that each of them has; a row may occur several times."""


@attrs.frozen(eq=False)
class Features:
    """Identities as numbers, and as tokens: parts that a row either has or does not have.

    Attributes
    ----------
    numbers : (n, d) float
        NaN where a number is missing.
    tokens : (n, t) sparse, of 0 and 1
    words : (t,) uint64
        A hash of each token, which breaks ties between equally frequent tokens.
    texts : (n, w) sparse float or None
        TF-IDF of the words of texts, and of pairs of adjacent words.
    """

    numbers: Floats
    tokens: Any
    words: Words
    texts: Any = None

    @classmethod
    def of(cls, identities: Any) -> "Features":
        """Build features from identities of any kind: arrays, frames, hashables, or a tuple of such parts.

        Every whole identity is a token, so that a reader recognises explanations of its training rows. Its
        parts are also tokens: the predicates of a rule, the elements of a set, and those of a tuple with
        their places. Strings of several words are texts.

        All rows decide whether a column has numbers or words. That does not leak labels, because it depends
        on the explanations alone.

        Examples
        --------
        >>> features = Features.of([frozenset("ab"), frozenset("a"), frozenset("ac"), frozenset("c")])
        >>> features.table(np.arange(4), features.columns(np.arange(4), max_columns=9))
        array([[1., 0.], [1., 0.], [1., 1.], [0., 1.]])
        """
        numbers, tokens = _read_columns(identities)
        n = faithkit.plugin.n_rows(identities)
        incidence = _token_matrix([(np.arange(n), faithkit.plugin.hash_content(identities)), *tokens], n)
        return cls(_stack_columns(numbers, n), *incidence, _tf_idf(_read_texts(identities)))

    def columns(self, rows: Rows, max_columns: int, max_words: int = 0) -> "Columns":
        """Return the columns that a reader with these training rows uses.

        These are the most frequent tokens, at most `max_columns` columns of numbers in which the rows differ
        most, and at most `max_words` of the most frequent words of texts.

        They are selected for every reader, from its training rows. So the reader knows nothing about the rows
        that it will predict, not even how often their explanations occur.
        """
        count = self.tokens.T @ np.bincount(rows, minlength=len(self.numbers)).astype(np.float64)
        shared = np.flatnonzero(count >= MIN_TOKEN_ROWS)
        order = np.lexsort((self.words[shared], -count[shared]))
        tokens = shared[order[:MAX_TOKENS]]
        return Columns(
            self._widest_columns(rows, max_columns), tokens, self._commonest_words(rows, max_words)
        )

    @property
    def n_numbers(self) -> int:
        """The number of numeric columns."""
        return int(self.numbers.shape[1])

    def _widest_columns(self, rows: Rows, max_columns: int) -> Rows:
        if self.n_numbers <= max_columns:
            return np.arange(self.n_numbers)
        values = self.numbers[rows[:: max(1, len(rows) // SPREAD_ROWS)]]
        spread = np.nanstd(np.where(np.isnan(values).all(axis=0), 0.0, values), axis=0)
        return np.sort(np.argsort(-spread, kind="stable")[:max_columns])

    def _commonest_words(self, rows: Rows, max_words: int) -> Rows:
        if self.texts is None or not max_words:
            return np.empty(0, dtype=np.intp)
        count = (self.texts[rows] > 0).sum(axis=0)
        order = np.argsort(-count, kind="stable")  # ties are in alphabetical order
        return np.sort(order[: min(max_words, int((count >= MIN_TOKEN_ROWS).sum()))])

    def table(self, rows: Rows, columns: "Columns") -> Floats:
        """Return the rows as a numeric matrix."""
        matrices = [
            self.numbers[np.ix_(rows, columns.numbers)],
            self.tokens[rows][:, columns.tokens].toarray(),
        ]
        if len(columns.words):
            matrices.append(self.texts[rows][:, columns.words].toarray())
        return np.hstack(matrices)

    def sparse_table(self, rows: Rows, columns: "Columns") -> Any:
        """Return the tokens and words of rows as a sparse matrix."""
        from scipy.sparse import hstack

        tokens = self.tokens[rows][:, columns.tokens]
        return hstack([tokens, self.texts[rows][:, columns.words]] if len(columns.words) else [tokens], "csr")


@attrs.frozen(eq=False)
class Columns:
    """The positions of selected numeric columns, tokens and words of texts."""

    numbers: Rows
    tokens: Rows
    words: Rows

    def __len__(self) -> int:
        return len(self.numbers) + len(self.tokens) + len(self.words)


def _stack_columns(columns: list[Floats], n: int) -> Floats:
    return np.column_stack(columns) if columns else np.empty((n, 0))


def _token_matrix(tokens: list[Tokens], n: int) -> tuple[Any, Words]:
    """Return the matrix of rows and tokens, and the tokens' hashes; tokens of a single row are left out."""
    from scipy.sparse import csr_array

    rows, words = (np.concatenate(arrays) for arrays in zip(*tokens, strict=True))
    distinct, position = np.unique(words, return_inverse=True)
    matrix = csr_array((np.ones(len(rows)), (rows, position)), shape=(n, len(distinct)))
    matrix.data[:] = 1.0  # a row may have a token twice
    shared = np.flatnonzero(matrix.sum(axis=0) >= MIN_TOKEN_ROWS)
    return matrix[:, shared], distinct[shared]


def _read_texts(identities: Any) -> list[str]:
    """Return the text of every row: all its strings of several words, joined."""
    if isinstance(identities, np.ndarray) and identities.dtype.kind in "biufmM":
        return [""] * len(identities)
    if isinstance(identities, np.ndarray) and identities.ndim == 2:
        identities = pd.DataFrame(identities)
    if isinstance(identities, pd.DataFrame):
        columns = (identities.iloc[:, j] for j in range(identities.shape[1]))
        identities = tuple(column.to_numpy(dtype=object, na_value=None) for column in columns)
    if isinstance(identities, tuple):
        return [" ".join(filter(None, parts)) for parts in zip(*map(_read_texts, identities), strict=True)]
    return [_read_text(value) for value in object_array(identities)]


def _read_text(value: Any) -> str:
    if isinstance(value, str):
        return value if len(value.split(maxsplit=1)) > 1 else ""
    return " ".join(filter(None, map(_read_text, value))) if isinstance(value, tuple) else ""


def _tf_idf(texts: list[str]) -> Any:
    """Return the TF-IDF of words and of pairs of adjacent words; None without texts.

    A punctuation mark is a word, so "(A" is a pair.
    """
    if not any(texts):
        return None
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2), min_df=MIN_TOKEN_ROWS, max_features=MAX_WORDS
    )
    try:
        return csr_array(vectorizer.fit_transform(texts))
    except ValueError:  # no word is in two texts
        return None


def _read_columns(identities: Any) -> tuple[list[Floats], list[Tokens]]:
    """Return the numeric columns, and the tokens of parts."""
    if isinstance(identities, tuple):
        return _combine_columns(_read_columns(part) for part in identities)
    if isinstance(identities, np.ndarray) and identities.dtype.kind in "biufmM":
        return [_floats(identities)], []
    if isinstance(identities, np.ndarray) and identities.ndim == 2:
        return _read_columns(pd.DataFrame(identities).infer_objects())
    if isinstance(identities, pd.DataFrame):
        return _combine_columns(_read_series(identities.iloc[:, j]) for j in range(identities.shape[1]))
    return _read_objects(object_array(identities))


def _combine_columns(parts: Iterable[tuple[list[Floats], list[Tokens]]]) -> tuple[list[Floats], list[Tokens]]:
    """Combine the columns of several parts; the same token in two parts becomes two tokens."""
    numbers: list[Floats] = []
    tokens: list[Tokens] = []
    for position, (part_numbers, part_tokens) in enumerate(parts):
        numbers += part_numbers
        tokens += [(rows, _hash_with_position(words, position)) for rows, words in part_tokens]
    return numbers, tokens


def _hash_with_position(words: Words, position: Any) -> Words:
    positions = np.broadcast_to(np.asarray(position, dtype=np.uint64), words.shape)
    return faithkit.plugin.hash_content(np.column_stack([positions, words]))


def _read_series(column: pd.Series) -> tuple[list[Floats], list[Tokens]]:
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mM":
        return [_floats(column)], []
    return _read_column(column.to_numpy(dtype=object, na_value=None))


def _floats(values: Any) -> Floats:
    if values.dtype.kind in "mM":  # times and durations, by their ticks
        kind = values.dtype.kind
        times = values.to_numpy(dtype=f"{kind}8[us]") if isinstance(values, pd.Series) else values
        return np.where(np.isnat(times), np.nan, times.view(np.int64))
    if isinstance(values, pd.Series):
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(over="ignore"):
        return np.clip(values.astype(np.float64), -HUGE, HUGE)


def _read_objects(values: NDArray[Any]) -> tuple[list[Floats], list[Tokens]]:
    """Read Python objects: tuples of equal length are columns, and other values are read by their parts."""
    if not len(values) or type(values[0]) is not tuple:
        return _read_parts(values)
    width = len(values[0])
    if any(type(value) is not tuple or len(value) != width for value in values):
        return _read_parts(values)
    return _combine_columns(_read_column(object_array(value[j] for value in values)) for j in range(width))


def _read_column(values: NDArray[Any]) -> tuple[list[Floats], list[Tokens]]:
    """Read a column of values as tokens, and as numbers if all of them are numbers."""
    numbers = [_number_column(values)] if all(map(_is_number, values)) else []
    return numbers, [(np.arange(len(values)), _hash_values(values))]


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | np.bool_)


def _number_column(values: NDArray[Any]) -> Floats:
    column = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            column[row] = value
        except OverflowError:  # an int or a fraction that is larger than any float
            column[row] = HUGE if value > 0 else -HUGE
    return np.clip(column, -HUGE, HUGE)


def _read_parts(values: NDArray[Any]) -> tuple[list[Floats], list[Tokens]]:
    if len(values) and all(map(_is_number, values)):
        return [_number_column(values)], []
    rows, positions, elements = [], [], []
    for row, value in enumerate(values):
        for position, element in _iterate_parts(value):
            rows.append(row)
            positions.append(position)
            elements.append(element)
    if not rows:
        return [], []
    return [], [
        (np.array(rows, dtype=np.intp), _hash_with_position(_hash_values(object_array(elements)), positions))
    ]


def _iterate_parts(value: Any) -> Iterator[tuple[int, Any]]:
    """Yield the parts of an identity with their positions; other values have no parts."""
    if isinstance(value, faithkit.Rule):
        yield from ((0, predicate) for predicate in value.predicates)
    elif isinstance(value, frozenset):
        yield from ((0, element) for element in value)
    elif isinstance(value, tuple):
        yield from enumerate(value)


def _hash_values(values: NDArray[Any]) -> Words:
    """Return a hash of every value; equal values are hashed once."""
    positions: dict[Any, int] = {}
    codes = [positions.setdefault(value, len(positions)) for value in values]
    return faithkit.plugin.hash_content(object_array(positions))[codes]


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as a one-dimensional array of objects."""
    objects = list(values)
    return np.fromiter(objects, dtype=object, count=len(objects))
