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

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.measure.containers import concat_rows, n_rows, take_rows, unmasked
from faithkit.wording import few

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
        The name of the default applicability relation.
    discretizer : str, optional
        The name of the discretizer that is meant for them, "name:param=value,…" with parameters; used where
        nobody names another.
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
        return cls(kind="vector", values=as_matrix(values), **fields)

    @classmethod
    def of(cls, values: Iterable[Hashable], kind: str = "value", **fields: Any) -> "Explanations":
        """Make explanations from any hashable values (rules, words, tuples); None is a missing one.

        Examples
        --------
        >>> Explanations.of(["good", None, "good"]).missing
        array([False,  True, False])
        """
        column = object_array(values)
        gone = np.array([value is None for value in column], dtype=bool)
        return cls(kind=kind, values=column, missing=gone | fields.pop("missing", False), **fields)

    def __len__(self) -> int:
        return n_rows(self.values)

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
        """Join batches of one kind, in order."""
        kinds = {part.kind for part in parts}
        if len(kinds) != 1:
            raise InputError(f"explanations of the kinds {sorted(kinds)} cannot be joined: give one kind.")
        columns = {
            name: concat_rows([getattr(part, name) for part in parts])
            for name in ("values", "instances", "missing")
        }
        if any(part.identity is not None for part in parts):
            columns["identity"] = concat_rows([part.identities for part in parts])
        if any(part.remarks is not None for part in parts):
            columns["remarks"] = np.concatenate([part.remarked for part in parts])
        return attrs.evolve(parts[0], **columns)

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


def _is_matrix(values: Any) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 2 and values.dtype.kind in "biuf"


@attrs.frozen(eq=False)
class Sample:
    """The instances a relation is asked about, and their own explanations; labels are never part of it."""

    X: Any
    explanations: Explanations
    _memo: dict[Hashable, Any] = attrs.field(factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.explanations)

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` gives, computed once for this sample and key."""
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def instances(self, who: str) -> Any:
        """Return the instances, or say that `who` needs them."""
        if self.X is None:
            raise InputError(f"{who} reads the instances, and none were given: pass X (CLI: --features).")
        return self.X


def as_explanations(given: Any) -> Explanations:
    """Take explanations as people have them: a 2-D array, a DataFrame, a list of hashables.

    A row without any value, such as one of nothing but NaN, has no explanation.

    Examples
    --------
    >>> as_explanations([("age", "sex"), ("age",)]).kind
    'value'
    >>> as_explanations([[0.5, np.nan], [np.nan, np.nan]]).missing
    array([False,  True])
    """
    if isinstance(given, Explanations):
        return given
    found = _understood(given)
    return attrs.evolve(found, missing=found.missing | _without_value(found.values))


def _without_value(values: Any) -> NDArray[np.bool_]:
    if values.ndim == 1:
        return np.asarray(pd.isna(values))
    cells = pd.DataFrame(values, copy=False)
    if not cells.shape[1]:
        return np.zeros(len(cells), dtype=bool)
    first: NDArray[np.bool_] = cells.iloc[:, 0].isna().to_numpy()
    return cells.isna().all(axis=1).to_numpy() if first.any() else first


def _understood(given: Any) -> Explanations:
    given = unmasked(given, "the explanations")
    if isinstance(given, pd.Series):
        plain = isinstance(given.dtype, np.dtype) and given.dtype.kind in "biuf"
        given = given.to_numpy() if plain else given.to_numpy(dtype=object, na_value=None)
    if isinstance(given, pd.DataFrame):
        return _from_frame(given)
    if isinstance(given, np.ndarray):
        return _from_array(given)
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | dict | set | frozenset):
        raise InputError(
            f"explanations of type {type(given).__name__} are not understood: give a 2-D array, a DataFrame, "
            "a list of hashable values, or Explanations."
        )
    with foreign("going through the explanations"):
        values = list(given)
    if any(isinstance(value, list | np.ndarray) for value in values):
        return _from_rows(values)
    return Explanations.of(values)


def _from_rows(rows: list[Any]) -> Explanations:
    """Take a list of vectors, in which None is a missing one."""
    _check_unmasked(rows)
    gone = np.array([row is None for row in rows], dtype=bool)
    width = len(next(row for row in rows if isinstance(row, list | np.ndarray)))
    filled = [[np.nan] * width if row is None else row for row in rows]
    return Explanations.vectors(filled, missing=gone)


def _check_unmasked(rows: Iterable[Any]) -> None:
    for row in rows:
        unmasked(row, "the explanations")


def _from_frame(frame: pd.DataFrame) -> Explanations:
    _check_names(frame)
    shared = {"names": [str(name) for name in frame.columns]}
    if all(pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes):
        return _from_numbers(frame, shared)
    if frame.shape[1] == 1:
        return attrs.evolve(as_explanations(frame.iloc[:, 0]), shared=shared)
    return Explanations(kind="value", values=frame.reset_index(drop=True), shared=shared)


def _check_names(frame: pd.DataFrame) -> None:
    """Refuse columns that nobody could tell apart: in words, the last one would stand for all."""
    names = pd.Index([str(name) for name in frame.columns])
    if not names.is_unique:
        twice = few(repr(name) for name in names[names.duplicated()].unique())
        raise InputError(
            f"the explanations have more than one column named {twice}; expected distinct names. "
            "Rename or drop them."
        )


def _from_numbers(frame: pd.DataFrame, shared: dict[str, Any]) -> Explanations:
    dtypes = set(frame.dtypes)
    if len(dtypes) == 1 and isinstance(dtype := dtypes.pop(), np.dtype):
        return Explanations(kind="vector", values=frame.to_numpy(dtype=dtype), shared=shared)
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    # integers beyond 2**53 would fall together as floats: equality then compares the columns as they are
    exact = None if not (np.abs(values) >= 2.0**53).any() else frame.reset_index(drop=True)
    return Explanations(kind="vector", values=values, identity=exact, shared=shared)


def _from_array(array: NDArray[Any]) -> Explanations:
    if array.ndim == 2 and array.dtype.kind in "biuf":
        return Explanations.vectors(array)
    if array.ndim == 2:
        return _from_frame(pd.DataFrame(array).infer_objects())
    if array.ndim == 1:
        return Explanations.of(array.tolist())
    raise InputError(f"explanations in a {array.ndim}-D array are not understood: give one row per instance.")


def as_matrix(values: Any) -> NDArray[Any]:
    """Return values as a 2-D numeric array, or say what is wrong with them."""
    _check_unmasked(values if isinstance(values, list | tuple) else [values])
    try:
        matrix = np.asarray(values)
    except ValueError:
        matrix = np.empty(0, dtype=object)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        lengths = sorted({len(row) for row in values if hasattr(row, "__len__")})
        told = f"rows of {lengths} values" if len(lengths) > 1 else f"{matrix.ndim}-D {matrix.dtype}"
        raise InputError(
            f"vectors must form a 2-D array of numbers, got {told}: give every row the same number of values."
        )
    return matrix


def by_name(identities: Any, explanations: Explanations) -> Any:
    """Return identities with their columns in the order of their names, if they have any.

    A log may have them in any other, and what is made of the content of rows must not depend on it.

    Examples
    --------
    >>> phi = as_explanations(pd.DataFrame({"sex": [1.0], "age": [2.0]}))
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
