"""`Explanations`, a batch of explanations stored by column, and `Sample`, the rows they belong to.

Equality compares the *identity* of an explanation. Relations read its value and the instance it explains.
A discretizer sets the identity and nothing else.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import (
    Rows,
    as_table,
    concat_rows,
    may_be_rounded,
    n_rows,
    strip_mask,
    take_rows,
)
from faithkit.errors import ContractError, InputError

T = TypeVar("T")

_INHERITED_HASH: Any = object.__hash__  # equal to nothing but itself


def _to_column(values: Any) -> Any:
    """Convert fixed-width NumPy texts to Python texts: widths differ between batches."""
    values = strip_mask(values, "the explanations")
    return values.astype(object) if isinstance(values, np.ndarray) and values.dtype.kind in "US" else values


def _to_instances(rows: Any) -> Any:
    return strip_mask(rows, "the explained rows")


def _to_remarks(remarks: Any) -> Any:
    return object_array(remarks) if isinstance(remarks, list | tuple) else remarks


def _to_mask(marks: Any) -> NDArray[np.bool_]:
    return np.asarray(strip_mask(marks, "the marks of missing explanations"), dtype=bool)


class InfiniteImportanceError(InputError):
    """An explanation of numbers holds an infinite one.

    Those who read a part of the rows raise it again, with the number of the row among all.

    Examples
    --------
    >>> print(InfiniteImportanceError(7))
    row 7 has an infinite importance, which says nothing about the model: fix the explainer, or give NaN ...
    """

    problem = (
        "an infinite importance, which says nothing about the model: fix the explainer, or give NaN where "
        "there is no number."
    )

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} has {self.problem}")
        self.row = row

    def __reduce__(self) -> tuple[type, tuple[int]]:
        """Pickle with the row, as from a worker."""
        return type(self), (self.row,)


@attrs.frozen(kw_only=True, eq=False)
class Explanations:
    """A batch with one explanation per row, as arrays and JSON values only.

    Parameters
    ----------
    kind : str
        "vector", "rule", "example", or any other word that the explainer and its relations use.
    values : 2-D array, DataFrame, or 1-D object array
        The explanation of each row.
    instances : array, DataFrame, sparse matrix or list of str, optional
        The explained rows, for relations that read them.
    identity : like `values`, optional
        What equality compares, if not `values`.
    missing : bool array, optional
        The rows without an explanation. A missing explanation equals no other one and holds for no row. A
        vector of nothing but NaN is missing, whether or not it is marked.
    shared : dict
        Data that all rows share: names, prototypes, a base value.
    relation : str, optional
        The name of the default applicability relation. It must be installed.
    discretizer : str, optional
        The name of the default discretizer, with parameters as "name:param=value,…". It must be installed.
    remarks : list or object array, optional
        A remark about each row, or None. It says why the row has no explanation ("no counterfactual found")
        or what is wrong with its explanation ("below the threshold").
    block : int array, optional
        The block of each row, where the user gave `blocks`. Explanations hold only for rows of their block.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.2, -0.1], [0.2, -0.1]])
    >>> len(phi), phi.kind
    (2, 'vector')

    In a vector, NaN is no number; a row of nothing but NaN is no explanation:

    >>> Explanations.vectors([[0.2, np.nan], [np.nan, np.nan]]).missing
    array([False,  True])
    """

    kind: str
    values: Any = attrs.field(converter=_to_column)
    instances: Any = attrs.field(default=None, converter=_to_instances)
    identity: Any = attrs.field(default=None, converter=_to_column)
    missing: NDArray[np.bool_] = attrs.field(
        default=attrs.Factory(lambda self: np.zeros(n_rows(self.values), dtype=bool), takes_self=True),
        converter=_to_mask,
    )
    shared: dict[str, Any] = attrs.field(factory=dict)
    relation: str | None = None
    discretizer: str | None = None
    remarks: NDArray[Any] | None = attrs.field(default=None, converter=_to_remarks)
    block: NDArray[np.int64] | None = None

    def __attrs_post_init__(self) -> None:
        n = n_rows(self.values)
        for name in ("instances", "identity", "missing", "remarks", "block"):
            column = getattr(self, name)
            if column is not None and (n_column_rows := n_rows(column)) != n:
                raise InputError(
                    f"{name} has {n_column_rows} rows where there are {n} explanations: give one per row."
                )
        if self.kind == "vector" and not _is_matrix(self.values):
            received = f"{np.ndim(self.values)}-D {getattr(self.values, 'dtype', type(self.values).__name__)}"
            raise InputError(
                f"explanations of kind 'vector' need a 2-D numeric array, got {received}: "
                "use Explanations.vectors, or another kind for values that are no numbers."
            )
        if self.kind == "vector":
            blank_rows = _find_blank_rows(self.values)
            if blank_rows is not None:
                object.__setattr__(self, "missing", self.missing | blank_rows)
            _check_no_infinities(self.values, self.missing)

    @classmethod
    def vectors(cls, values: Any, **fields: Any) -> "Explanations":
        """Build explanations of kind "vector" from a 2-D array of numbers."""
        matrix = as_matrix(values)
        if isinstance(values, list | tuple) and may_be_rounded(matrix):
            fields = {"identity": as_table(values), **fields}
        return cls(kind="vector", values=matrix, **fields)

    @classmethod
    def of(cls, values: Iterable[Hashable], kind: str = "value", **fields: Any) -> "Explanations":
        """Build explanations from hashable values (rules, words, tuples); None and NaN mean missing.

        Examples
        --------
        >>> Explanations.of(["good", None, "good"]).missing
        array([False,  True, False])
        """
        column = object_array(values)
        _check_comparable(column)
        is_missing = np.asarray(pd.isna(column), dtype=bool)
        return cls(kind=kind, values=column, missing=is_missing | fields.pop("missing", False), **fields)

    def __len__(self) -> int:
        return n_rows(self.values)

    def __repr__(self) -> str:
        return f"<Explanations of {len(self):,} rows, kind {self.kind}, {self.missing.sum():,} missing>"

    @property
    def identities(self) -> Any:
        """What equality compares: the identity that a discretizer set, or else the values."""
        return self.values if self.identity is None else self.identity

    def take(self, rows: Any) -> "Explanations":
        """Return the explanations of the selected rows."""
        names = ("values", "instances", "identity", "missing", "remarks", "block")
        return attrs.evolve(self, **{name: take_rows(getattr(self, name), rows) for name in names})

    def identified(self, identity: Any) -> "Explanations":
        """Return a copy with another identity."""
        return attrs.evolve(self, identity=as_identity(identity, len(self)))

    @classmethod
    def concat(cls, batches: Sequence["Explanations"]) -> "Explanations":
        """Join batches of one kind, in order; a feature that a batch of vectors lacks gets the weight 0."""
        batches = _align_columns(_unify_kinds(batches))
        columns = {
            name: concat_rows([getattr(batch, name) for batch in batches])
            for name in ("values", "instances", "missing", "block")
        }
        if any(batch.identity is not None for batch in batches):
            columns["identity"] = concat_rows([batch.identities for batch in batches])
        if any(batch.remarks is not None for batch in batches):
            columns["remarks"] = np.concatenate([batch.remarked for batch in batches])
        return attrs.evolve(batches[0], **columns)

    def like(self, reference: "Explanations") -> "Explanations":
        """Return a copy with the kind of `reference`, if all explanations are missing.

        A batch without explanations does not reveal its own kind.

        Examples
        --------
        >>> Explanations.of([None]).like(Explanations.vectors([[0.2, -0.1]])).kind
        'vector'
        """
        if self.kind == reference.kind or not self.missing.all():
            return self
        blank = reference.take(np.zeros(len(self), dtype=np.int64))  # nobody reads the values of missing rows
        return attrs.evolve(blank, missing=self.missing, remarks=self.remarks, instances=self.instances)

    @property
    def remarked(self) -> NDArray[Any]:
        """The remark about every row; "no explanation" for a missing one without a remark."""
        remarks = np.full(len(self), None, dtype=object) if self.remarks is None else self.remarks.copy()
        is_blank = np.array([remark is None for remark in remarks], dtype=bool)
        remarks[self.missing & is_blank] = "no explanation"
        return remarks

    def spread(self, rows: NDArray[np.int64], n: int, remarks: NDArray[Any]) -> "Explanations":
        """Place these explanations at `rows` of n rows; all other rows are missing, with remarks.

        Examples
        --------
        >>> batch = Explanations.of(["a"]).spread(np.array([1]), 2, np.array(["ValueError", None]))
        >>> batch.missing, batch.remarked[0]
        (array([ True, False]), 'ValueError')
        """
        source_rows = np.zeros(n, dtype=np.int64)  # missing rows repeat row 0; nobody reads their values
        source_rows[rows] = np.arange(len(rows))
        is_absent = np.ones(n, dtype=bool)
        is_absent[rows] = False
        padded = self.take(source_rows)
        all_remarks = np.where(is_absent, remarks, padded.remarked)
        return attrs.evolve(padded, missing=padded.missing | is_absent, remarks=all_remarks, instances=None)


def _unify_kinds(batches: "Sequence[Explanations]") -> "Sequence[Explanations]":
    """Return batches of one kind; a batch without any explanation takes the kind of the others."""
    if len({batch.kind for batch in batches}) == 1:
        return batches
    explained_batches = [batch for batch in batches if not batch.missing.all()] or batches
    kinds = {batch.kind for batch in explained_batches}
    if len(kinds) != 1:
        raise InputError(f"explanations of the kinds {sorted(kinds)} cannot be joined: give one kind.")
    return [batch.like(explained_batches[0]) for batch in batches]


def _align_columns(batches: "Sequence[Explanations]") -> "Sequence[Explanations]":
    """Give vectors of several batches the same columns if their feature names differ."""
    if not all(_is_matrix(batch.values) and "names" in batch.shared for batch in batches):
        return batches
    batch_names = [list(batch.shared["names"]) for batch in batches]
    if all(names == batch_names[0] for names in batch_names):
        return batches
    all_names = sorted({name for names in batch_names for name in names})
    return [_reorder_columns(batch, all_names) for batch in batches]


def _reorder_columns(batch: "Explanations", names: list[str]) -> "Explanations":
    column_by_name = {name: column for column, name in enumerate(names)}
    values = np.zeros((len(batch), len(names)), dtype=batch.values.dtype)
    values[:, [column_by_name[name] for name in batch.shared["names"]]] = batch.values
    return attrs.evolve(batch, values=values, shared={**batch.shared, "names": names})


def _check_comparable(values: NDArray[Any]) -> None:
    """Raise an error for types without their own equality: no two explanations would ever be equal."""
    for cls in dict.fromkeys(map(type, values)):
        if cls.__hash__ is _INHERITED_HASH and cls is not type(None):
            raise InputError(
                f"explanations of type {cls.__module__}.{cls.__qualname__} are equal to nothing but "
                "themselves, so that no two would ever be the same, and no adapter takes them: give what "
                "they say, as texts, tuples or vectors, or write an adapter (hook faithkit_adapters)."
            )


def _is_matrix(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf"


def _find_blank_rows(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Return which rows are nothing but NaN; None if there are none, which the first column tells quickly."""
    if values.dtype.kind != "f" or not values.shape[1] or not np.isnan(values[:, 0]).any():
        return None
    is_blank: NDArray[np.bool_] = np.isnan(values).all(axis=1)
    return is_blank


def _check_no_infinities(values: NDArray[Any], missing: NDArray[np.bool_]) -> None:
    """Refuse infinite numbers; nobody reads the values of missing rows."""
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # as of nearly all explanations, and quicker than looking at each
            return
    is_infinite = np.isinf(values).any(axis=1) & ~missing
    if is_infinite.any():
        raise InfiniteImportanceError(int(is_infinite.argmax()))


def _memo_key(argument: Any) -> Hashable:
    """Return the type and the value of an argument with a hash, or the identity of any other object."""
    try:
        hash(argument)
    except TypeError:
        return id(argument)
    return type(argument), argument


@attrs.frozen(eq=False)
class Sample:
    """The instances that a relation reads, and their explanations; labels are never part of it."""

    X: Rows
    explanations: Explanations
    _memo: dict[Hashable, tuple[Any, tuple[Any, ...]]] = attrs.field(factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.explanations)

    def __repr__(self) -> str:
        instances = "no instances" if self.X is None else type(self.X).__name__
        return f"<Sample of {len(self):,} rows: {instances}, {self.explanations!r}>"

    def take(self, rows: NDArray[Any]) -> "Sample":
        """Return the selected rows."""
        return Sample(take_rows(self.X, rows), self.explanations.take(rows))

    def once(self, compute: Callable[..., T], *arguments: Any) -> T:
        """Return ``compute(sample, *arguments)``, computed once and then cached.

        Pass everything else that the result depends on as an argument: a result for one threshold must not
        be reused for another. Two arguments match if they have one type and are equal, or are one object.

        Parameters
        ----------
        compute : callable
            A function ``(sample, *arguments) -> anything`` of a module, a class, or a method. A function that
            is defined at every call, such as a lambda, is computed every time.
        *arguments
            Everything that it reads apart from the sample.

        Examples
        --------
        >>> def longer(sample, limit):
        ...     return [len(text) > limit for text in sample.X]
        >>> sample = Sample(["a film", "good"], Explanations.of(["film", "good"]))
        >>> sample.once(longer, 5), sample.once(longer, 3)
        ([True, False], [True, True])
        >>> sample.once(longer, 5) is sample.once(longer, 5)
        True
        """
        if not callable(compute):
            raise ContractError(
                f"the first argument of Sample.once is {compute!r:.60}; expected a function of the sample, "
                "and behind it what else the function reads: sample.once(neighbours, k)."
            )
        key = (compute, *map(_memo_key, arguments))
        if key not in self._memo:
            # with the arguments, because an identity is unique only while its object exists
            self._memo[key] = compute(self, *arguments), arguments
        result: T = self._memo[key][0]
        return result

    def instances(self, reader: str) -> Any:
        """Return the instances, or raise an error that says that `reader` needs them."""
        if self.X is None:
            raise InputError(f"{reader} reads the instances, and none were given: pass X (CLI: --features).")
        return self.X


def check_no_mask(rows: Iterable[Any]) -> None:
    """Raise an error if a mask hides values of a vector."""
    for row in rows:
        strip_mask(row, "the explanations")


def as_matrix(values: Any) -> NDArray[Any]:
    """Return values as a 2-D numeric array, or raise an error that says what is wrong with them."""
    check_no_mask(values if isinstance(values, list | tuple) else [values])
    try:
        matrix = np.asarray(values)
    except ValueError:
        matrix = np.empty(0, dtype=object)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        lengths = sorted({len(row) for row in values if hasattr(row, "__len__")})
        received = f"rows of {lengths} values" if len(lengths) > 1 else f"{matrix.ndim}-D {matrix.dtype}"
        advice = "the same number of values" if len(lengths) > 1 else "one number for each feature"
        raise InputError(
            f"vectors must form a 2-D array of numbers, got {received}: give every row {advice}."
        )
    return matrix


def sort_columns_by_name(identities: Any, explanations: Explanations) -> Any:
    """Return identities with their columns sorted by name, if the columns have names.

    A log may order its columns differently, and results must not depend on that order.

    Examples
    --------
    >>> phi = Explanations.vectors([[1.0, 2.0]], shared={"names": ["sex", "age"]})
    >>> sort_columns_by_name(phi.identities, phi)
    array([[2., 1.]])
    """
    names = explanations.shared.get("names", ())
    is_matrix = isinstance(identities, np.ndarray) and identities.ndim == 2
    return identities[:, np.argsort(names)] if is_matrix and len(names) == identities.shape[1] else identities


def as_identity(identity: Any, n: int) -> Any:
    """Return the identity as columns, one row per explanation, or raise an error."""
    identity = strip_mask(identity, "the identities")
    array_types = (np.ndarray, pd.DataFrame)
    is_tuple_of_parts = (
        isinstance(identity, tuple) and identity and all(isinstance(part, array_types) for part in identity)
    )
    if not is_tuple_of_parts and not isinstance(identity, array_types):
        identity = object_array(identity)
    for part in identity if isinstance(identity, tuple) else (identity,):
        if n_rows(part) != n:
            raise InputError(
                f"identities for {n_rows(part)} rows where there are {n} explanations: give one per row."
            )
    return identity


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return a 1-D array of Python objects of any type; tuples stay tuples."""
    return np.fromiter(values, dtype=object)
