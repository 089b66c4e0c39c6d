"""Relations say for which instances an explanation holds.

Every measure is the tally of one relation. Relations compose with `&`, `|` and `~`, which are bit
operations on packed matrices, so a composed relation is as fast as its parts.
"""

import contextlib
from collections.abc import Callable
from numbers import Real
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.bitsets import Bits, check_packed, n_words, ones, pack_bits
from faithkit.arrays.containers import concat_rows, n_rows, take_rows
from faithkit.arrays.grouping import Groups, group
from faithkit.errors import ContractError, InputError, ParameterError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.foreign import foreign

BLOCK_ELEMENTS = 4_000_000  # of a Boolean block; distances need eight bytes for each


class Relation:
    """A relation between instances and explanations; subclasses give `key` and `holds`, or `packed`.

    `groups` is True where the relation is equality of keys: the kernel then counts by grouping and
    never asks `holds`. `instance_only` is True where `holds` reads nothing of the sample but its instances,
    `sample.X`: explanations can then be checked against rows that nobody explained.

    Examples
    --------
    >>> class SameSign(Relation):
    ...     def key(self, explanations):
    ...         return explanations.values
    ...     def holds(self, sample, explanations):
    ...         mine, theirs = explanations.values, sample.explanations.values
    ...         return np.sign(mine[:, None, 0]) == np.sign(theirs[None, :, 0])
    >>> phi = Explanations.vectors([[1.0], [2.0], [-1.0]])
    >>> SameSign().holds(Sample(None, phi), phi)[0]
    array([ True,  True, False])
    """

    groups = False
    instance_only = False
    name: str | None = None
    declared_kinds: tuple[str, ...] = ()  # of explanations: its component's, where it was asked for by name

    def fit(self, background: Any) -> "Relation":
        """Learn what the relation needs from the background; nothing by default."""
        return self

    def key(self, explanations: Explanations) -> Any:
        """Return all that `holds` reads of the explanations: equal keys are counted once."""
        raise NotImplementedError

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Return a Boolean matrix of one row per explanation and one column per instance."""
        raise NotImplementedError

    # optional, the one fast path: the same matrix as bits (uint64, padded with zeros)
    packed: Callable[[Sample, Explanations], Bits] | None = None

    def __and__(self, other: "Relation") -> "Relation":
        return _Joined(self, "&", _composable(self, other))

    def __or__(self, other: "Relation") -> "Relation":
        return _Joined(self, "|", _composable(self, other))

    def __invert__(self) -> "Relation":
        return _Not(self)

    def __bool__(self) -> NoReturn:
        raise InputError(f"{self} is used with and, or, not or if: relations compose with &, | and ~.")

    def __str__(self) -> str:
        return self.name or type(self).__name__


def _composable(relation: Relation, other: Any) -> Relation:
    if isinstance(other, Relation):
        return other
    what = repr(other) if isinstance(other, str) else getattr(other, "__name__", f"a {type(other).__name__}")
    raise InputError(
        f"{relation} cannot be composed with {what}, which is no relation: "
        "wrap a name or a function first, as faithkit.relation(…)."
    )


def _asking(relation: Relation) -> contextlib.AbstractContextManager[None]:
    """Name the relation in what goes wrong inside it."""
    advice = "Check that it suits these rows and explanations, or use another one."
    with foreign(f"the name of the relation {type(relation).__name__}", error=ContractError):
        name = str(relation)
    return foreign(f"the relation {name}", advice, ContractError)


def look_at(relation: Any) -> None:
    """Ask a relation what it says about itself, where the blame for what goes wrong falls on it."""
    for name in ("groups", "instance_only", "packed"):
        getattr(relation, name, None)  # a property is code, too


def fitted(relation: Relation, background: Any) -> Relation:
    """Let a relation learn what it needs from the background."""
    with _asking(relation):
        found = relation.fit(background)
        look_at(found)
    if not isinstance(found, Relation):
        raise ContractError(
            f"{relation}.fit returned a {type(found).__name__}; expected the relation: return self."
        )
    return found


def key_of(relation: Relation, explanations: Explanations) -> Any:
    """Return all that a relation reads of some explanations: one row for each."""
    kinds = relation.declared_kinds
    if kinds and explanations.kind not in kinds:
        raise InputError(
            f"the relation {relation} takes explanations of kind {' or '.join(kinds)}, and these are of kind "
            f"{explanations.kind!r}: use another one, or another explainer."
        )
    with _asking(relation):
        key = relation.key(explanations)
        rows = n_rows(key)
    if rows != len(explanations):
        raise InputError(f"{relation}.key gave {rows} rows for {len(explanations)} explanations.")
    return key


def holds_bits(relation: Relation, sample: Sample, explanations: Explanations) -> Bits:
    """Ask a relation about a sample and return its answer as checked, packed bits.

    A missing explanation holds for nothing, whatever the relation says.
    """
    m, n = len(explanations), len(sample)
    if relation.packed is not None:
        with _asking(relation):
            given = relation.packed(sample, explanations)
        bits = check_packed(given, m, n, str(relation))
    else:
        bits = np.empty((m, n_words(n)), dtype=np.uint64)
        size = max(1, BLOCK_ELEMENTS // max(1, n))
        for start in range(0, m, size):
            part = explanations.take(slice(start, start + size))
            bits[start : start + size] = pack_bits(_ask(relation, sample, part))
    if explanations.missing.any():
        bits = bits.copy()
        bits[explanations.missing] = 0
    return bits


def _ask(relation: Relation, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
    shape = (len(explanations), len(sample))
    with _asking(relation):
        matrix = relation.holds(sample, explanations)
    if not isinstance(matrix, np.ndarray) or matrix.shape != shape or matrix.dtype != bool:
        given = f"{matrix.dtype} {matrix.shape}" if isinstance(matrix, np.ndarray) else type(matrix).__name__
        raise ContractError(
            f"{relation}.holds returned {given}; expected bool {shape}: "
            "one row per explanation, one column per instance."
        )
    return matrix


class SameExplanation(Relation):
    """x's own explanation equals π: the relation of consistency.

    Examples
    --------
    >>> words = Explanations.of(["good", "bad", "good"])
    >>> SameExplanation().holds(Sample(None, words), words)[0]
    array([ True, False,  True])
    """

    groups = True
    name = "same-explanation"

    def key(self, explanations: Explanations) -> Any:
        """Return the identities."""
        return explanations.identities

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Compare identities."""
        mine, theirs = _matching_codes(sample, explanations)
        return mine[:, None] == theirs[None, :]

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        """Set one bit per instance, instead of comparing every pair."""
        mine, theirs = _matching_codes(sample, explanations)
        distinct, row_of = np.unique(mine, return_inverse=True)
        place = np.searchsorted(distinct, theirs).clip(max=len(distinct) - 1)
        columns = np.flatnonzero(distinct[place] == theirs)
        bits = np.zeros((len(distinct), 8 * n_words(len(sample))), dtype=np.uint8)
        one = np.left_shift(1, 7 - (columns & 7)).astype(np.uint8)
        np.add.at(bits, (place[columns], columns >> 3), one)  # no bit is set twice, so adding is setting
        return bits.view(np.uint64)[row_of]


def _matching_codes(
    sample: Sample, explanations: Explanations
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the identities of explanations and sample common numbers; missing ones match nothing."""
    theirs = sample.once(_own_groups)
    known = take_rows(sample.explanations.identities, theirs.first)
    gone = np.concatenate([sample.explanations.missing[theirs.first], explanations.missing])
    joint = group(concat_rows([known, explanations.identities]), gone).codes
    return joint[len(theirs) :], joint[: len(theirs)][theirs.codes]


def _own_groups(sample: Sample) -> Groups:
    return group(sample.explanations.identities, sample.explanations.missing)


METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "hamming")


class NearExplanation(Relation):
    """x's own explanation lies within `tau` of π: d(e(x), π) ≤ τ.

    Parameters
    ----------
    tau : float
        The largest distance that still counts as near; 0 asks for equality.
    metric : str
        euclidean, cityblock, chebyshev, cosine or hamming.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.0], [0.5], [2.0]])
    >>> NearExplanation(tau=0.5).holds(Sample(None, phi), phi)[0]
    array([ True,  True, False])
    """

    name = "near-explanation"

    def __init__(self, tau: float, metric: str = "euclidean") -> None:
        if not isinstance(tau, Real) or not float(tau) >= 0:
            raise ParameterError(f"near-explanation: tau must be a number of at least 0, got {tau!r}.")
        if metric not in METRICS:
            raise ParameterError(
                f"near-explanation: metric must be one of {', '.join(METRICS)}, got {metric!r}."
            )
        self.tau: float = float(tau)
        self.metric: str = metric

    def key(self, explanations: Explanations) -> Any:
        """Return the vectors."""
        if explanations.kind != "vector":
            raise InputError(
                f"near-explanation measures distances between vectors, and got explanations of kind "
                f"{explanations.kind!r}: use same-explanation, or another explainer."
            )
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Compare distances with tau; a missing explanation is near nothing."""
        from scipy.spatial.distance import cdist

        theirs = sample.explanations
        near: NDArray[np.bool_] = cdist(self.key(explanations), theirs.values, self.metric) <= self.tau
        near[:, theirs.missing] = False
        return near

    def __str__(self) -> str:
        metric = "" if self.metric == "euclidean" else f",metric={self.metric}"
        return f"near-explanation:tau={self.tau}{metric}"


class _Joined(Relation):
    """Both relations hold (&), or at least one of them does (|)."""

    def __init__(self, left: Relation, sign: str, right: Relation) -> None:
        self.left, self.sign, self.right = left, sign, right
        for part in (left, right):
            with _asking(part):
                look_at(part)
        self.groups = sign == "&" and left.groups and right.groups
        self.instance_only = left.instance_only and right.instance_only

    def fit(self, background: Any) -> "Relation":
        self.left, self.right = fitted(self.left, background), fitted(self.right, background)
        return self

    def key(self, explanations: Explanations) -> Any:
        return (key_of(self.left, explanations), key_of(self.right, explanations))

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        left, right = (holds_bits(part, sample, explanations) for part in (self.left, self.right))
        return left & right if self.sign == "&" else left | right

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


class _Not(Relation):
    """A relation does not hold."""

    def __init__(self, inner: Relation) -> None:
        self.inner = inner
        with _asking(inner):
            look_at(inner)
        self.instance_only = inner.instance_only

    def fit(self, background: Any) -> "Relation":
        self.inner = fitted(self.inner, background)
        return self

    def key(self, explanations: Explanations) -> Any:
        return key_of(self.inner, explanations)

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        return ~holds_bits(self.inner, sample, explanations) & ones(len(sample))

    def __str__(self) -> str:
        return f"~{self.inner}"


class FunctionRelation(Relation):
    """A plain function ``(x, explanation) -> bool``, asked about every pair: slow and simple."""

    instance_only = True

    def __init__(self, function: Callable[[Any, Any], bool]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "a function")

    def key(self, explanations: Explanations) -> Any:
        """Return the values: all that the function is given of an explanation."""
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Ask the function about every pair; a frame's row is given as a Series."""
        xs, values = _items(sample.instances(f"the relation {self}")), _items(explanations.values)
        answers = [
            [not gone and bool(self.function(x, value)) for x in xs]
            for value, gone in zip(values, explanations.missing, strict=True)
        ]
        return np.array(answers, dtype=bool).reshape(len(values), len(xs))


def _items(rows: Any) -> list[Any]:
    if hasattr(rows, "iloc"):
        return [rows.iloc[i] for i in range(len(rows))]
    return list(rows)
