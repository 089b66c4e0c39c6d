"""What a classifier can read of explanations: their identities, as columns of numbers.

A reader may see what equality compares and nothing behind it: values that a discretizer has hidden, or the
explained instances, would let it guess what nobody could guess from the explanation.
"""

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit

MOST_TOKENS = 255
MOST_WORDS = 20_000  # words and pairs of words that are read of texts
SPREAD_ROWS = 1_000  # by which it is judged where rows differ, or some more
LEAST_ROWS = 2  # a token that one row has says nothing about another row
HUGE = 1e100  # stands for infinity: its square is a number, too

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Rows = NDArray[np.intp]
Tokens = tuple[Rows, Words]
"""Which rows have which words; a row may stand there several times."""


@attrs.frozen(eq=False)
class Features:
    """Identities as numbers, and as tokens: parts that a row has or has not.

    Attributes
    ----------
    numbers : (n, d) float
        NaN where a number is missing.
    tokens : (n, t) sparse, of 0 and 1
    words : (t,) uint64
        A word for what each token is, which puts equally frequent ones in an order.
    texts : (n, w) sparse float or None
        TF-IDF of the words of texts, and of pairs of words that follow each other.
    """

    numbers: Floats
    tokens: Any
    words: Words
    texts: Any = None

    @classmethod
    def of(cls, identities: Any) -> "Features":
        """Take identities of any kind: arrays, frames, hashables, or a tuple of such parts.

        Every identity is a token as a whole, so that a reader can look up what it has seen before, and so are
        its parts: the predicates of a rule, the elements of a set, and those of a tuple with their places.
        Strings of several words are texts.
        Whether a column is one of numbers or of words is seen from all rows. Labels have no say in it, and
        given the explanations they are independent: no reader learns the label of a row that it will read.

        Examples
        --------
        >>> seen = Features.of([frozenset("ab"), frozenset("a"), frozenset("ac"), frozenset("c")])
        >>> seen.table(np.arange(4), seen.columns(np.arange(4), most=9))
        array([[1., 0.], [1., 0.], [1., 1.], [0., 1.]])
        """
        numbers, tokens = _columns(identities)
        n = faithkit.plugin.n_rows(identities)
        incidence = _incidence([(np.arange(n), faithkit.plugin.content_words(identities)), *tokens], n)
        return cls(_beside(numbers, n), *incidence, _tf_idf(_texts(identities)))

    def columns(self, rows: Rows, most: int, most_words: int = 0) -> "Columns":
        """Return the columns that a reader of some rows uses: tokens that the most of them have, and numbers.

        Of numbers there are at most so many: those in which the rows differ most. Of texts, there are at most
        so many words: those that the most rows have.

        They are found anew for every reader, from the rows that it learns from. So it knows nothing about
        rows that it will be asked about, not even how often their explanations occur.
        """
        count = self.tokens.T @ np.bincount(rows, minlength=len(self.numbers)).astype(np.float64)
        known = np.flatnonzero(count >= LEAST_ROWS)
        order = np.lexsort((self.words[known], -count[known]))
        tokens = known[order[:MOST_TOKENS]]
        return Columns(self._widest(rows, most), tokens, self._commonest_words(rows, most_words))

    @property
    def n_numbers(self) -> int:
        """How many columns of numbers there are."""
        return int(self.numbers.shape[1])

    def _widest(self, rows: Rows, most: int) -> Rows:
        if self.n_numbers <= most:
            return np.arange(self.n_numbers)
        values = self.numbers[rows[:: max(1, len(rows) // SPREAD_ROWS)]]
        spread = np.nanstd(np.where(np.isnan(values).all(axis=0), 0.0, values), axis=0)
        return np.sort(np.argsort(-spread, kind="stable")[:most])

    def _commonest_words(self, rows: Rows, most: int) -> Rows:
        if self.texts is None or not most:
            return np.empty(0, dtype=np.intp)
        count = (self.texts[rows] > 0).sum(axis=0)
        order = np.argsort(-count, kind="stable")  # equally frequent ones by the alphabet
        return np.sort(order[: min(most, int((count >= LEAST_ROWS).sum()))])

    def table(self, rows: Rows, columns: "Columns") -> Floats:
        """Return some rows as a matrix."""
        parts = [self.numbers[np.ix_(rows, columns.numbers)], self.tokens[rows][:, columns.tokens].toarray()]
        if len(columns.words):
            parts.append(self.texts[rows][:, columns.words].toarray())
        return np.hstack(parts)

    def sparse_table(self, rows: Rows, columns: "Columns") -> Any:
        """Return the tokens and words of some rows as a sparse matrix."""
        from scipy.sparse import hstack

        tokens = self.tokens[rows][:, columns.tokens]
        return hstack([tokens, self.texts[rows][:, columns.words]] if len(columns.words) else [tokens], "csr")


@attrs.frozen(eq=False)
class Columns:
    """Some columns of numbers, some tokens, and some words of texts."""

    numbers: Rows
    tokens: Rows
    words: Rows

    def __len__(self) -> int:
        return len(self.numbers) + len(self.tokens) + len(self.words)


def _beside(columns: list[Floats], n: int) -> Floats:
    return np.column_stack(columns) if columns else np.empty((n, 0))


def _incidence(tokens: list[Tokens], n: int) -> tuple[Any, Words]:
    """Return which rows have which tokens; those of a single row are left out."""
    from scipy.sparse import csr_array

    rows, every = (np.concatenate(both) for both in zip(*tokens, strict=True))
    known, place = np.unique(every, return_inverse=True)
    found = csr_array((np.ones(len(rows)), (rows, place)), shape=(n, len(known)))
    found.data[:] = 1.0  # a row that has a token twice has it
    shared = np.flatnonzero(found.sum(axis=0) >= LEAST_ROWS)
    return found[:, shared], known[shared]


def _texts(identities: Any) -> list[str]:
    """Return the text of every row: its strings of several words, one after the other."""
    if isinstance(identities, np.ndarray) and identities.dtype.kind in "biufmM":
        return [""] * len(identities)
    if isinstance(identities, np.ndarray) and identities.ndim == 2:
        identities = pd.DataFrame(identities)
    if isinstance(identities, pd.DataFrame):
        columns = (identities.iloc[:, j] for j in range(identities.shape[1]))
        identities = tuple(column.to_numpy(dtype=object, na_value=None) for column in columns)
    if isinstance(identities, tuple):
        return [" ".join(filter(None, parts)) for parts in zip(*map(_texts, identities), strict=True)]
    return [_text(value) for value in object_array(identities)]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value if len(value.split(maxsplit=1)) > 1 else ""
    return " ".join(filter(None, map(_text, value))) if isinstance(value, tuple) else ""


def _tf_idf(texts: list[str]) -> Any:
    """Return how much each word, and each pair of neighbours, says about every text; None without texts.

    A sign is a word: "(A" is then a pair, and "a" is another word.
    """
    if not any(texts):
        return None
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2), min_df=LEAST_ROWS, max_features=MOST_WORDS
    )
    try:
        return csr_array(vectorizer.fit_transform(texts))
    except ValueError:  # no word is in two texts
        return None


def _columns(identities: Any) -> tuple[list[Floats], list[Tokens]]:
    """Return the columns of numbers, and the tokens of parts."""
    if isinstance(identities, tuple):
        return _side_by_side(_columns(part) for part in identities)
    if isinstance(identities, np.ndarray) and identities.dtype.kind in "biufmM":
        return [_floats(identities)], []
    if isinstance(identities, np.ndarray) and identities.ndim == 2:
        return _columns(pd.DataFrame(identities).infer_objects())
    if isinstance(identities, pd.DataFrame):
        return _side_by_side(_column(identities.iloc[:, j]) for j in range(identities.shape[1]))
    return _objects(object_array(identities))


def _side_by_side(parts: Iterable[tuple[list[Floats], list[Tokens]]]) -> tuple[list[Floats], list[Tokens]]:
    """Put parts beside each other; the same token in two of them is two tokens."""
    numbers: list[Floats] = []
    tokens: list[Tokens] = []
    for place, (columns, found) in enumerate(parts):
        numbers += columns
        tokens += [(rows, _placed(some, place)) for rows, some in found]
    return numbers, tokens


def _placed(some: Words, place: Any) -> Words:
    places = np.broadcast_to(np.asarray(place, dtype=np.uint64), some.shape)
    return faithkit.plugin.content_words(np.column_stack([places, some]))


def _column(column: pd.Series) -> tuple[list[Floats], list[Tokens]]:
    if pd.api.types.is_numeric_dtype(column.dtype) or column.dtype.kind in "mM":
        return [_floats(column)], []
    return _whole(column.to_numpy(dtype=object, na_value=None))


def _floats(values: Any) -> Floats:
    if values.dtype.kind in "mM":  # times and durations, by their ticks
        kind = values.dtype.kind
        times = values.to_numpy(dtype=f"{kind}8[us]") if isinstance(values, pd.Series) else values
        return np.where(np.isnat(times), np.nan, times.view(np.int64))
    if isinstance(values, pd.Series):
        values = values.to_numpy(dtype=np.float64, na_value=np.nan)
    with np.errstate(over="ignore"):
        return np.clip(values.astype(np.float64), -HUGE, HUGE)


def _objects(values: NDArray[Any]) -> tuple[list[Floats], list[Tokens]]:
    """Read values of Python: tuples of one length are columns, all others have parts or are one."""
    if not len(values) or type(values[0]) is not tuple:
        return _parts(values)
    width = len(values[0])
    if any(type(value) is not tuple or len(value) != width for value in values):
        return _parts(values)
    return _side_by_side(_whole(object_array(value[j] for value in values)) for j in range(width))


def _whole(values: NDArray[Any]) -> tuple[list[Floats], list[Tokens]]:
    """Read a column of values that are taken as they are: numbers also as numbers."""
    numbers = [_number_column(values)] if all(map(_is_number, values)) else []
    return numbers, [(np.arange(len(values)), _words(values))]


def _is_number(value: Any) -> bool:
    return isinstance(value, Real | np.bool_)


def _number_column(values: NDArray[Any]) -> Floats:
    found = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            found[row] = value
        except OverflowError:  # an int or a fraction that is larger than any float
            found[row] = HUGE if value > 0 else -HUGE
    return np.clip(found, -HUGE, HUGE)


def _parts(values: NDArray[Any]) -> tuple[list[Floats], list[Tokens]]:
    if len(values) and all(map(_is_number, values)):
        return [_number_column(values)], []
    rows, places, elements = [], [], []
    for row, value in enumerate(values):
        for place, element in _elements(value):
            rows.append(row)
            places.append(place)
            elements.append(element)
    if not rows:
        return [], []
    return [], [(np.array(rows, dtype=np.intp), _placed(_words(object_array(elements)), places))]


def _elements(value: Any) -> Iterator[tuple[int, Any]]:
    """Yield the parts of an identity with their places; what has no parts is known as a whole."""
    if isinstance(value, faithkit.Rule):
        yield from ((0, predicate) for predicate in value.predicates)
    elif isinstance(value, frozenset):
        yield from ((0, element) for element in value)
    elif isinstance(value, tuple):
        yield from enumerate(value)


def _words(values: NDArray[Any]) -> Words:
    """Return a word for every value; equal ones are hashed once."""
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return faithkit.plugin.content_words(object_array(places))[codes]


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return values as an array of objects, whatever they are."""
    listed = list(values)
    return np.fromiter(listed, dtype=object, count=len(listed))
