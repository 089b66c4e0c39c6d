"""A batch of explanations, column by column, and the sample they belong to.

An explanation has an *identity*, which equality compares, and beside it what relations read: its
value, and the instance it explains. A discretizer sets the identity and nothing else.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import as_table, concat_rows, may_be_rounded, n_rows, take_rows, unmasked
from faithkit.errors import ContractError, InputError

T = TypeVar("T")


def _as_column(given: Any) -> Any:
    """Give words in NumPy's fixed-width arrays as Python's: widths differ between batches, words do not."""
    given = unmasked(given, "the explanations")
    return given.astype(object) if isinstance(given, np.ndarray) and given.dtype.kind in "US" else given


def _as_instances(given: Any) -> Any:
    return unmasked(given, "the explained rows")


def _as_mask(given: Any) -> NDArray[np.bool_]:
    return np.asarray(unmasked(given, "the marks of missing explanations"), dtype=bool)


@attrs.frozen(kw_only=True, eq=False)
class Explanations:
    """One explanation per row, as arrays and JSON values only.

    Parameters
    ----------
    kind : str
        "vector", "rule", "example", or any other word that explainer and relations agree on.
    values : 2-D array, DataFrame, or 1-D object array
        What the explainer says about each row.
    instances : array, DataFrame, sparse matrix or list of str, optional
        The explained rows, for relations that read them.
    identity : like `values`, optional
        What equality compares, where that is not `values` itself.
    missing : bool array, optional
        Rows without an explanation: shared with nobody, holding for nothing.
    shared : dict
        What all rows have in common: names, prototypes, a base value.
    relation : str, optional
        The name of the default applicability relation, which must be installed.
    discretizer : str, optional
        The name of the installed discretizer that is meant for them, "name:param=value,…" with parameters;
        used where nobody names another.
    remarks : object array, optional
        What to know about a row: why it has no explanation, such as "no counterfactual found", or what is
        wrong with the one it has, such as "below the threshold"; None where there is nothing to say.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.2, -0.1], [0.2, -0.1]])
    >>> len(phi), phi.kind
    (2, 'vector')
    """

    kind: str
    values: Any = attrs.field(converter=_as_column)
    instances: Any = attrs.field(default=None, converter=_as_instances)
    identity: Any = attrs.field(default=None, converter=_as_column)
    missing: NDArray[np.bool_] = attrs.field(
        default=attrs.Factory(lambda self: np.zeros(n_rows(self.values), dtype=bool), takes_self=True),
        converter=_as_mask,
    )
    shared: dict[str, Any] = attrs.field(factory=dict)
    relation: str | None = None
    discretizer: str | None = None
    remarks: NDArray[Any] | None = None

    def __attrs_post_init__(self) -> None:
        n = n_rows(self.values)
        for name in ("instances", "identity", "missing", "remarks"):
            part = getattr(self, name)
            if part is not None and (rows := n_rows(part)) != n:
                raise InputError(
                    f"{name} has {rows} rows where there are {n} explanations: give one per row."
                )
        if self.kind == "vector" and not _is_matrix(self.values):
            given = f"{np.ndim(self.values)}-D {getattr(self.values, 'dtype', type(self.values).__name__)}"
            raise InputError(
                f"explanations of kind 'vector' need a 2-D numeric array, got {given}: "
                "use Explanations.vectors, or another kind for values that are no numbers."
            )

    @classmethod
    def vectors(cls, values: Any, **fields: Any) -> "Explanations":
        """Make explanations of kind "vector" from a 2-D array of numbers."""
        matrix = as_matrix(values)
        if isinstance(values, list | tuple) and may_be_rounded(matrix):
            fields = {"identity": as_table(values), **fields}
        return cls(kind="vector", values=matrix, **fields)

    @classmethod
    def of(cls, values: Iterable[Hashable], kind: str = "value", **fields: Any) -> "Explanations":
        """Make explanations from any hashable values (rules, words, tuples); None is a missing one.

        Examples
        --------
        >>> Explanations.of(["good", None, "good"]).missing
        array([False,  True, False])
        """
        column = object_array(values)
        _check_comparable(column)
        gone = np.array([value is None for value in column], dtype=bool)
        return cls(kind=kind, values=column, missing=gone | fields.pop("missing", False), **fields)

    def __len__(self) -> int:
        return n_rows(self.values)

    def __repr__(self) -> str:
        return f"<Explanations of {len(self):,} rows, kind {self.kind}, {self.missing.sum():,} missing>"

    @property
    def identities(self) -> Any:
        """What equality compares: the identity if a discretizer set one, else the values."""
        return self.values if self.identity is None else self.identity

    def take(self, rows: Any) -> "Explanations":
        """Return the explanations of some rows."""
        names = ("values", "instances", "identity", "missing", "remarks")
        return attrs.evolve(self, **{name: take_rows(getattr(self, name), rows) for name in names})

    def identified(self, identity: Any) -> "Explanations":
        """Return the same explanations, compared by another identity."""
        return attrs.evolve(self, identity=as_identity(identity, len(self)))

    @classmethod
    def concat(cls, parts: Sequence["Explanations"]) -> "Explanations":
        """Join batches of one kind, in order; a feature that a batch of vectors does not name weighs 0."""
        parts = _named_alike(_of_one_kind(parts))
        columns = {
            name: concat_rows([getattr(part, name) for part in parts])
            for name in ("values", "instances", "missing")
        }
        if any(part.identity is not None for part in parts):
            columns["identity"] = concat_rows([part.identities for part in parts])
        if any(part.remarks is not None for part in parts):
            columns["remarks"] = np.concatenate([part.remarked for part in parts])
        return attrs.evolve(parts[0], **columns)

    def like(self, others: "Explanations") -> "Explanations":
        """Return the same, of the kind of others where nothing is explained: nobody could tell its own.

        Examples
        --------
        >>> Explanations.of([None]).like(Explanations.vectors([[0.2, -0.1]])).kind
        'vector'
        """
        if self.kind == others.kind or not self.missing.all():
            return self
        blank = others.take(np.zeros(len(self), dtype=np.int64))  # the values of missing rows are not read
        return attrs.evolve(blank, missing=self.missing, remarks=self.remarks, instances=self.instances)

    @property
    def remarked(self) -> NDArray[Any]:
        """The remark about every row; a missing one about which nothing was said has "no explanation"."""
        told = np.full(len(self), None, dtype=object) if self.remarks is None else self.remarks.copy()
        untold = np.array([remark is None for remark in told], dtype=bool)
        told[self.missing & untold] = "no explanation"
        return told

    def spread(self, rows: NDArray[np.int64], n: int, remarks: NDArray[Any]) -> "Explanations":
        """Put these explanations at the given ones of n rows; the others are missing, as remarked.

        Examples
        --------
        >>> found = Explanations.of(["a"]).spread(np.array([1]), 2, np.array(["ValueError", None]))
        >>> found.missing, found.remarked[0]
        (array([ True, False]), 'ValueError')
        """
        place = np.zeros(n, dtype=np.int64)  # a missing row needs some value in its place; nobody reads it
        place[rows] = np.arange(len(rows))
        gone = np.ones(n, dtype=bool)
        gone[rows] = False
        whole = self.take(place)
        told = np.where(gone, remarks, whole.remarked)
        return attrs.evolve(whole, missing=whole.missing | gone, remarks=told, instances=None)


def _of_one_kind(parts: "Sequence[Explanations]") -> "Sequence[Explanations]":
    """Refuse batches of several kinds; one without any explanation is of the kind of the others."""
    if len({part.kind for part in parts}) == 1:
        return parts
    told = [part for part in parts if not part.missing.all()] or parts
    kinds = {part.kind for part in told}
    if len(kinds) != 1:
        raise InputError(f"explanations of the kinds {sorted(kinds)} cannot be joined: give one kind.")
    return [part.like(told[0]) for part in parts]


def _named_alike(parts: "Sequence[Explanations]") -> "Sequence[Explanations]":
    """Give vectors of several batches the same columns, where each batch has names of its own."""
    if not all(_is_matrix(part.values) and "names" in part.shared for part in parts):
        return parts
    names = [list(part.shared["names"]) for part in parts]
    if all(name == names[0] for name in names):
        return parts
    every = sorted({one for name in names for one in name})
    return [_spread_over(part, every) for part in parts]


def _spread_over(part: "Explanations", names: list[str]) -> "Explanations":
    place = {name: column for column, name in enumerate(names)}
    values = np.zeros((len(part), len(names)), dtype=part.values.dtype)
    values[:, [place[name] for name in part.shared["names"]]] = part.values
    return attrs.evolve(part, values=values, shared={**part.shared, "names": names})


def _check_comparable(values: NDArray[Any]) -> None:
    """Refuse objects that are equal to nothing but themselves: no two explanations would ever be the same."""
    for kind in dict.fromkeys(map(type, values)):
        if kind.__hash__ is object.__hash__ and kind is not type(None):
            raise InputError(
                f"explanations of type {kind.__module__}.{kind.__qualname__} are equal to nothing but "
                "themselves, so that no two would ever be the same, and no adapter takes them: give what "
                "they say, as texts, tuples or vectors, or write an adapter (hook faithkit_adapters)."
            )


def _is_matrix(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf"


class _Argument:
    """An argument as a key: by type and value where it has a hash, else by identity."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        try:
            self._hash: int | None = hash((type(value), value))
        except TypeError:
            self._hash = None

    def __hash__(self) -> int:
        return id(self.value) if self._hash is None else self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Argument):
            return NotImplemented
        if self.value is other.value:
            return True
        alike = type(self.value) is type(other.value) and None not in (self._hash, other._hash)
        return bool(alike and self.value == other.value)


@attrs.frozen(eq=False)
class Sample:
    """The instances a relation is asked about, and their own explanations; labels are never part of it."""

    X: Any
    explanations: Explanations
    _memo: dict[Hashable, Any] = attrs.field(factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.explanations)

    def __repr__(self) -> str:
        instances = "no instances" if self.X is None else type(self.X).__name__
        return f"<Sample of {len(self):,} rows: {instances}, {self.explanations!r}>"

    def once(self, make: Callable[..., T], *arguments: Any) -> T:
        """Return what `make` gives of this sample and the arguments, computed once for all of them.

        Whatever else it depends on has to be an argument, so that nobody gets what was made for another
        threshold. Arguments are the same if they are equal and of one type, or else the same object.

        Parameters
        ----------
        make : callable
            A function ``(sample, *arguments) -> anything`` of a module, a class, or a method; one that is
            defined anew for every call, such as a lambda, is computed anew.
        *arguments
            All that it reads beside the sample.

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
        if not callable(make):
            raise ContractError(
                f"the first argument of Sample.once is {make!r:.60}; expected a function of the sample, and "
                "behind it what else the function reads: sample.once(neighbours, k)."
            )
        key = (make, *map(_Argument, arguments))
        if key not in self._memo:
            self._memo[key] = make(self, *arguments)
        found: T = self._memo[key]
        return found

    def instances(self, who: str) -> Any:
        """Return the instances, or say that `who` needs them."""
        if self.X is None:
            raise InputError(f"{who} reads the instances, and none were given: pass X (CLI: --features).")
        return self.X


def check_unmasked(rows: Iterable[Any]) -> None:
    """Refuse vectors of which a mask hides some values."""
    for row in rows:
        unmasked(row, "the explanations")


def as_matrix(values: Any) -> NDArray[Any]:
    """Return values as a 2-D numeric array, or say what is wrong with them."""
    check_unmasked(values if isinstance(values, list | tuple) else [values])
    try:
        matrix = np.asarray(values)
    except ValueError:
        matrix = np.empty(0, dtype=object)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        lengths = sorted({len(row) for row in values if hasattr(row, "__len__")})
        told = f"rows of {lengths} values" if len(lengths) > 1 else f"{matrix.ndim}-D {matrix.dtype}"
        advice = "the same number of values" if len(lengths) > 1 else "one number for each feature"
        raise InputError(f"vectors must form a 2-D array of numbers, got {told}: give every row {advice}.")
    return matrix


def by_name(identities: Any, explanations: Explanations) -> Any:
    """Return identities with their columns in the order of their names, if they have any.

    A log may have them in any other, and what is made of the content of rows must not depend on it.

    Examples
    --------
    >>> phi = Explanations.vectors([[1.0, 2.0]], shared={"names": ["sex", "age"]})
    >>> by_name(phi.identities, phi)
    array([[2., 1.]])
    """
    names = explanations.shared.get("names", ())
    is_matrix = isinstance(identities, np.ndarray) and identities.ndim == 2
    return identities[:, np.argsort(names)] if is_matrix and len(names) == identities.shape[1] else identities


def as_identity(given: Any, n: int) -> Any:
    """Check that an identity has one row per explanation, and return it in columnar form."""
    given = unmasked(given, "the identities")
    columns = (np.ndarray, pd.DataFrame)
    side_by_side = isinstance(given, tuple) and given and all(isinstance(part, columns) for part in given)
    identity = given if side_by_side or isinstance(given, columns) else object_array(given)
    for part in identity if isinstance(identity, tuple) else (identity,):
        if n_rows(part) != n:
            raise InputError(
                f"identities for {n_rows(part)} rows where there are {n} explanations: give one per row."
            )
    return identity


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return a 1-D array of Python objects, whatever the objects are (tuples stay tuples)."""
    return np.fromiter(values, dtype=object)
