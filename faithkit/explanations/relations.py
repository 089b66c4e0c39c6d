"""Relations: for which instances an explanation holds.

Every measure is the tally of one relation. Relations compose with `&`, `|` and `~`. These are bit operations
on packed matrices, so a composed relation is as fast as its parts.
"""

import contextlib
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NoReturn

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.batches import spans
from faithkit.arrays.bitsets import Bits, check_packed, n_words, ones, pack_bits
from faithkit.arrays.containers import concat_rows, n_rows, take_rows
from faithkit.arrays.grouping import Groups, group
from faithkit.errors import ContractError, InputError, ParameterError
from faithkit.explanations.explanations import Explanations, Sample
from faithkit.third_party import guard

BATCH_ELEMENTS = 4_000_000  # elements of a Boolean batch; distances need eight bytes each


class Relation:
    """A relation between instances and explanations; subclasses define `key` and `holds`, or `packed`.

    `groups` is True if the relation is equality of keys. The kernel then counts by grouping; it calls
    `holds` for single explanations (`local`, `contradictions`) and in compositions. `instance_only` is True
    if `holds` reads only the instances of the sample, `sample.X`. Explanations can then be checked against
    rows without an explanation.

    `control` draws explanations of the same form without looking at the model: other words, the same weights
    on other features. Sufficiency is then compared with what these get; a row whose control is missing has
    none. Without `control`, or where it returns None, the kernel draws scopes of the same size in a table.

    `states_scope` is True if explanations say themselves where they apply, as rules do. They must then hold
    for their own row, and for more than a few others. `objections` names what else speaks against the
    explanations of a sample; it alone sees predictions.

    `max_owners` is set by relations that are slow on many rows: of more explained rows than that, so many
    chosen by content are checked, each against all rows.

    Examples
    --------
    >>> class SameSign(Relation):
    ...     def key(self, explanations):
    ...         return explanations.values
    ...     def holds(self, sample, explanations):
    ...         signs = np.sign(explanations.values[:, 0])
    ...         return signs[:, None] == np.sign(sample.explanations.values[:, 0])
    >>> phi = Explanations.vectors([[1.0], [2.0], [-1.0]])
    >>> SameSign().holds(Sample(None, phi), phi)[0]
    array([ True,  True, False])
    """

    groups = False
    instance_only = False
    states_scope = False
    max_owners: int | None = None
    phrase: str | None = None  # what explanations hold for: "rows that satisfy the rule"
    name: str | None = None
    declared_kinds: tuple[str, ...] = ()  # kinds of explanations that its component accepts

    @property
    def reads_instances(self) -> bool:
        """Whether where an explanation holds depends on the instance, and not on its explanation alone."""
        return self.instance_only

    def fit(self, background: Any, n: int) -> "Relation":
        """Learn from the background, and return self; by default, learn nothing.

        Parameters
        ----------
        background : rows or None
            At least as many rows as can be held. If the user gave fewer or none, these are the rows that can
            be held; None if there are no instances.
        n : int
            The number of rows that can be held: those of the sample and of its pool.
        """
        return self

    def key(self, explanations: Explanations) -> Any:
        """Return everything that `holds` reads of the explanations; equal keys are counted once."""
        raise NotImplementedError

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Return a Boolean matrix with one row per explanation and one column per instance."""
        raise NotImplementedError

    # optional and faster: the same matrix as packed bits (uint64, padded with zeros)
    packed: Callable[[Sample, Explanations], Bits] | None = None

    # optional: explanations of the same form, chosen without the model and drawn with one seed per row
    control: Callable[[Sample, Explanations, NDArray[Any]], Explanations | None] | None = None

    # optional: what speaks against the explanations of a sample, from a `faithkit.plugin.ObjectionContext`
    objections: Callable[[Any], Sequence[Any]] | None = None

    def __and__(self, other: "Relation") -> "Relation":
        return _Joined(self, "&", _check_operand(self, other))

    def __or__(self, other: "Relation") -> "Relation":
        return _Joined(self, "|", _check_operand(self, other))

    def __invert__(self) -> "Relation":
        return _Not(self)

    def __bool__(self) -> NoReturn:
        raise InputError(f"{self} is used with and, or, not or if: relations compose with &, | and ~.")

    def __str__(self) -> str:
        return self.name or type(self).__name__


def _check_operand(relation: Relation, other: Any) -> Relation:
    if isinstance(other, Relation):
        return other
    type_name = f"a {type(other).__name__}"
    operand = repr(other) if isinstance(other, str) else getattr(other, "__name__", type_name)
    raise InputError(
        f"{relation} cannot be composed with {operand}, which is no relation: "
        "wrap a name or a function first, as faithkit.relation(…)."
    )


def _blame_relation(relation: Relation) -> contextlib.AbstractContextManager[None]:
    """Add the relation's name to the errors that it raises."""
    advice = "Check that it suits these rows and explanations, or use another one."
    return guard(f"the relation {relation}", advice, ContractError)


def fit_relation(relation: Relation, background: Any, n: int) -> Relation:
    """Fit a relation on the background, for n rows that can be held, and check what its `fit` returns."""
    with _blame_relation(relation):
        result = relation.fit(background, n)
    if not isinstance(result, Relation):
        raise ContractError(
            f"{relation}.fit returned a {type(result).__name__}; expected the relation: return self."
        )
    return result


def key_of(relation: Relation, explanations: Explanations) -> Any:
    """Return the relation's keys of the explanations, one row for each."""
    kinds = relation.declared_kinds
    if kinds and explanations.kind not in kinds:
        raise InputError(
            f"the relation {relation} takes explanations of kind {' or '.join(kinds)}, and these are of kind "
            f"{explanations.kind!r}: use another one, or another explainer."
        )
    with _blame_relation(relation):
        key = relation.key(explanations)
        n_keys = n_rows(key)
    if n_keys != len(explanations):
        raise InputError(f"{relation}.key gave {n_keys} rows for {len(explanations)} explanations.")
    return key


def group_explanations(
    relation: Relation, explanations: Explanations, missing_apart: bool | None = None
) -> Groups:
    """Group explanations with equal keys.

    By default, each missing one is apart if the relation groups, because it equals no other; else all of them
    form one group, because none holds for a row.
    """
    missing_apart = relation.groups if missing_apart is None else missing_apart
    return group(key_of(relation, explanations), explanations.missing, missing_apart)


def holds_bits(relation: Relation, sample: Sample, explanations: Explanations) -> Bits:
    """Evaluate a relation on a sample and return its matrix as checked, packed bits.

    A missing explanation holds for no row, and a relation that groups for no row without an explanation,
    whatever the relation returns.
    """
    m, n = len(explanations), len(sample)
    if relation.packed is not None:
        with _blame_relation(relation):
            packed = relation.packed(sample, explanations)
        bits = check_packed(packed, m, n, str(relation))
    else:
        bits = np.empty((m, n_words(n)), dtype=np.uint64)
        for start, stop in spans(m, BATCH_ELEMENTS // max(1, n)):
            batch = explanations.take(slice(start, stop))
            bits[start:stop] = pack_bits(_evaluate_holds(relation, sample, batch))
    if explanations.missing.any():
        bits = bits.copy()
        bits[explanations.missing] = 0
    if relation.groups and sample.explanations.missing.any():
        bits = bits & pack_bits(~sample.explanations.missing[None])
    return bits


def draw_control(relation: Relation, sample: Sample, seeds: NDArray[Any]) -> Explanations | None:
    """Return one control explanation for each row of a sample, drawn by the relation; None if it has none."""
    assert relation.control is not None
    explanations = sample.explanations
    with _blame_relation(relation):
        control = relation.control(sample, explanations, seeds)
    if control is None:
        return None
    is_same_form = (
        isinstance(control, Explanations)
        and control.kind == explanations.kind
        and len(control) == len(explanations)
        and control.missing[explanations.missing].all()
    )
    if not is_same_form:
        raise ContractError(
            f"{relation}.control returned {control!r:.80}; expected {len(explanations)} explanations of kind "
            f"{explanations.kind!r}, missing where the originals are: use attrs.evolve(explanations, …)."
        )
    return attrs.evolve(control, block=explanations.block)


def _evaluate_holds(relation: Relation, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
    shape = (len(explanations), len(sample))
    with _blame_relation(relation):
        matrix = relation.holds(sample, explanations)
    if not isinstance(matrix, np.ndarray) or matrix.shape != shape or matrix.dtype != bool:
        received = (
            f"{matrix.dtype} {matrix.shape}" if isinstance(matrix, np.ndarray) else type(matrix).__name__
        )
        raise ContractError(
            f"{relation}.holds returned {received}; expected bool {shape}: "
            "one row per explanation, one column per instance."
        )
    return matrix


class SameExplanation(Relation):
    """The explanation of x equals π: the relation of consistency.

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
        codes, sample_codes = _joint_codes(sample, explanations)
        return np.asarray(codes[:, None] == sample_codes[None, :])

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        """Set one bit per instance instead of comparing every pair."""
        return _equality_bits(*_joint_codes(sample, explanations))


def _equality_bits(codes: NDArray[np.int64], sample_codes: NDArray[np.int64]) -> Bits:
    """Return the packed matrix of equal codes, with one row for each of `codes`."""
    distinct, row = np.unique(codes, return_inverse=True)
    position = np.searchsorted(distinct, sample_codes).clip(max=len(distinct) - 1)
    columns = np.flatnonzero(distinct[position] == sample_codes)
    bits = np.zeros((len(distinct), 8 * n_words(len(sample_codes))), dtype=np.uint8)
    single_bits = np.left_shift(1, 7 - (columns & 7)).astype(np.uint8)
    np.add.at(bits, (position[columns], columns >> 3), single_bits)  # no bit is set twice, so adding sets it
    return bits.view(np.uint64)[row]


def _joint_codes(sample: Sample, explanations: Explanations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return codes of the explanations and of the sample's; equal identities share a code."""
    sample_groups = sample.once(_group_sample)
    sample_identities = take_rows(sample.explanations.identities, sample_groups.first)
    missing = np.concatenate([sample.explanations.missing[sample_groups.first], explanations.missing])
    codes = group(concat_rows([sample_identities, explanations.identities]), missing).codes
    return codes[len(sample_groups) :], codes[: len(sample_groups)][sample_groups.codes]


def _group_sample(sample: Sample) -> Groups:
    return group(sample.explanations.identities, sample.explanations.missing)


class WithinBlock(Relation):
    """A relation restricted to rows of the explanation's own block.

    Examples
    --------
    >>> from faithkit.arrays.bitsets import unpack_bits
    >>> words = Explanations.of(["good", "good", "good"], block=np.array([0, 1, 0]))
    >>> rows = Sample(None, words)
    >>> unpack_bits(holds_bits(WithinBlock(SameExplanation()), rows, words), len(rows))[0]
    array([ True, False,  True])
    """

    def __init__(self, relation: Relation) -> None:
        self.relation, self.groups = relation, relation.groups

    def key(self, explanations: Explanations) -> Any:
        """Return the keys of the other relation, and the blocks."""
        return key_of(self.relation, explanations), explanations.block

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        """Join the bits of the other relation with those of equal blocks."""
        block, sample_block = explanations.block, sample.explanations.block
        assert block is not None
        assert sample_block is not None
        return holds_bits(self.relation, sample, explanations) & _equality_bits(block, sample_block)

    def __str__(self) -> str:
        return str(self.relation)


METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "hamming")


class NearExplanation(Relation):
    """The explanation of x lies within `tau` of π: d(e(x), π) ≤ τ.

    Parameters
    ----------
    tau : float
        The largest distance that counts as near; 0 means equality.
    metric : str
        euclidean, cityblock, chebyshev, cosine or hamming.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.0], [0.5], [2.0]])
    >>> NearExplanation(tau=0.5).holds(Sample(None, phi), phi)[0]
    array([ True,  True, False])
    """

    name = "near-explanation"
    declared_kinds = ("vector",)

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
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Compare distances with tau; a missing explanation is near no other one."""
        from scipy.spatial.distance import cdist

        distances = cdist(self.key(explanations), sample.explanations.values, self.metric)
        near: NDArray[np.bool_] = distances <= self.tau
        near[:, sample.explanations.missing] = False
        return near

    def __str__(self) -> str:
        metric = "" if self.metric == "euclidean" else f",metric={self.metric}"
        return f"near-explanation:tau={self.tau}{metric}"


class _Joined(Relation):
    """A relation that holds if both operands hold (&), or at least one of them (|)."""

    def __init__(self, left: Relation, sign: str, right: Relation) -> None:
        self.left, self.sign, self.right = left, sign, right
        self.groups = sign == "&" and left.groups and right.groups
        self.instance_only = left.instance_only and right.instance_only
        self.states_scope = left.states_scope and right.states_scope
        self.max_owners = min(
            (part.max_owners for part in (left, right) if part.max_owners is not None), default=None
        )
        if left.objections is not None or right.objections is not None:
            self.objections = self._list_objections

    def _list_objections(self, context: Any) -> list[Any]:
        methods = [part.objections for part in (self.left, self.right) if part.objections is not None]
        return [objection for method in methods for objection in method(context)]

    def fit(self, background: Any, n: int) -> "Relation":
        self.left, self.right = (fit_relation(part, background, n) for part in (self.left, self.right))
        return self

    @property
    def reads_instances(self) -> bool:
        parts = [self.left.reads_instances, self.right.reads_instances]
        return any(parts) if self.sign == "&" else all(parts)

    def key(self, explanations: Explanations) -> Any:
        return (key_of(self.left, explanations), key_of(self.right, explanations))

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        left, right = (holds_bits(operand, sample, explanations) for operand in (self.left, self.right))
        return left & right if self.sign == "&" else left | right

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"


class _Not(Relation):
    """A relation that holds where another one does not."""

    def __init__(self, inner: Relation) -> None:
        self.inner = inner
        self.instance_only, self.max_owners = inner.instance_only, inner.max_owners

    def fit(self, background: Any, n: int) -> "Relation":
        self.inner = fit_relation(self.inner, background, n)
        return self

    @property
    def reads_instances(self) -> bool:
        return self.inner.reads_instances

    def key(self, explanations: Explanations) -> Any:
        return key_of(self.inner, explanations)

    def packed(self, sample: Sample, explanations: Explanations) -> Bits:
        return ~holds_bits(self.inner, sample, explanations) & ones(len(sample))

    def __str__(self) -> str:
        return f"~{self.inner}"


class FunctionRelation(Relation):
    """A relation from a function ``(x, explanation) -> bool``, called for every pair: simple and slow."""

    instance_only = True

    def __init__(self, function: Callable[[Any, Any], bool]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "a function")

    def key(self, explanations: Explanations) -> Any:
        """Return the values: the function receives nothing else of an explanation."""
        return explanations.values

    def holds(self, sample: Sample, explanations: Explanations) -> NDArray[np.bool_]:
        """Call the function for every pair; a row of a DataFrame is passed as a Series."""
        rows, values = _row_list(sample.instances(f"the relation {self}")), _row_list(explanations.values)
        answers = [
            [not is_missing and bool(self.function(x, value)) for x in rows]
            for value, is_missing in zip(values, explanations.missing, strict=True)
        ]
        return np.array(answers, dtype=bool).reshape(len(values), len(rows))


def _row_list(rows: Any) -> list[Any]:
    if hasattr(rows, "iloc"):
        return [rows.iloc[i] for i in range(len(rows))]
    return list(rows)
