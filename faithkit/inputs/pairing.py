"""Pair the columns of logged importances with the features that they are about.

After pairing, column j of the importances is about column j of X, so whatever reads both goes by position.
`shared["names"]` names the explanation columns as the user wrote them, and `shared["features"]` the features
in the same order. It is None if no pairs were found, or if the columns have no order of their own, as those
of dicts: then only names can pair them. Offsets (`shared["offsets"]`) are about no feature, and stay last.
"""

import contextlib
from collections.abc import Sequence

import attrs
import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.explanations.explanations import Explanations
from faithkit.inputs.rows import Rows, column_names
from faithkit.wording import join_few

DEFAULT_RELATION = "near-in-top-features"
_SEVERAL_OUTPUTS = ("all", "numbers")  # such explanations have all features once for each class or output
_COMPARISONS = frozenset("<>=≤≥≠")  # 'age <= 30' is a condition, and no other name of 'age'

Affix = tuple[str, str]  # what explanation columns have in front of the feature's name, and behind it


def pair_columns(
    explanations: Explanations, X: Rows | None, wildcards: Sequence[str] = (), is_table: bool = True
) -> Explanations:
    """Return importances with their columns in the order of their features, and with a default relation.

    Columns are paired by name if all explanation columns have the name of a feature, or that name after one
    common prefix or suffix; if no name says so, by position. Names that match in part are refused. Nothing is
    paired if there are more or fewer explanation columns than features, or if X is no table.

    Parameters
    ----------
    explanations : Explanations
    X : rows or None
    wildcards : sequence of str
        The patterns that chose several of these columns: their order is that of a file, and pairs nothing.
    is_table : bool
        Whether the explanations were the columns of a table. Any other names, such as those that an explainer
        gave, may match in part, and then nothing is paired.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, 0.1]], shared={"names": ["phi_sex", "phi_age"]})
    >>> paired = pair_columns(phi, pd.DataFrame({"age": [31], "sex": ["f"]}))
    >>> paired.values.tolist(), paired.shared, paired.relation
    ([[0.1, 0.5]], {'names': ['phi_age', 'phi_sex'], 'features': ['age', 'sex']}, 'near-in-top-features')
    """
    if not _are_importances(explanations, X):
        return explanations
    features = column_names(X)
    if explanations.shared.get("features") == features:  # paired when the log was read
        return explanations
    try:
        positions = _pair(explanations, features, X, wildcards)
    except InputError:
        if is_table:
            raise
        positions = None
    if positions is None:
        return attrs.evolve(explanations, shared={**explanations.shared, "features": None})
    paired = _reorder(explanations, positions)
    relation = explanations.relation or DEFAULT_RELATION
    return attrs.evolve(paired, shared={**paired.shared, "features": features}, relation=relation)


def align_columns(explanations: Explanations, X: Rows | None) -> Explanations:
    """Return an explainer's importances in the order of X if their names are those of its columns.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, 0.1]], shared={"names": ["sex", "age"]})
    >>> align_columns(phi, pd.DataFrame({"age": [31], "sex": ["f"]})).values
    array([[0.1, 0.5]])
    """
    if not _are_importances(explanations, X):
        return explanations
    names, features = _names(explanations), column_names(X)
    if names is None or names == features or sorted(names) != sorted(features):
        return explanations
    return _reorder(explanations, list(map(names.index, features)))


def read_pairs(explanations: Explanations) -> tuple[tuple[str, str], ...] | None:
    """Return each explanation column with its feature; a column without a name has its number.

    Examples
    --------
    >>> phi = Explanations.vectors([[0.5, 0.1]])
    >>> read_pairs(pair_columns(phi, pd.DataFrame({"age": [31], "sex": ["f"]}))), read_pairs(phi)
    ((('0', 'age'), ('1', 'sex')), None)
    """
    features = explanations.shared.get("features")
    if features is None:
        return None
    names = _names(explanations) or list(map(str, range(len(features))))
    return tuple(zip(names, features, strict=True))


def explain_no_default(explanations: Explanations, X: Rows | None) -> str:
    """Say why explanations have no default relation, and what to do.

    Examples
    --------
    >>> X = np.zeros((1, 3))
    >>> explain_no_default(pair_columns(Explanations.vectors([[0.5, 0.1]]), X), X)
    '2 explanation columns cannot be paired with 3 features: give one importance for each feature (X=, CLI:
    --features), or name a relation that says where the explanations apply (relation=, CLI: --relation)'
    """
    remedy = "name a relation that says where the explanations apply (relation=, CLI: --relation)"
    is_unpaired = "features" in explanations.shared and _are_importances(explanations, X)
    if not is_unpaired:
        return (
            f"explanations of kind {explanations.kind!r} need a relation that says where they apply "
            "(relation=, CLI: --relation)"
        )
    width, features, target_by_name = _width(explanations), column_names(X), dict[str, str]()
    with contextlib.suppress(InputError):
        target_by_name = _match(_names(explanations) or [], features)
    if target_by_name:
        odd = join_few(repr(name) for name in features if name not in target_by_name.values())
        return f"no explanation column is about {odd}: leave it out (X=, CLI: --features), or {remedy}"
    if width == len(features):
        return f"no name says which explanation column is about which feature: name both alike, or {remedy}"
    return (
        f"{width} explanation {'column' if width == 1 else 'columns'} cannot be paired with "
        f"{len(features)} {'feature' if len(features) == 1 else 'features'}: give one importance for each "
        f"feature (X=, CLI: --features), or {remedy}"
    )


def _are_importances(explanations: Explanations, X: Rows | None) -> bool:
    """Whether explanations may have one number for each column of a table."""
    is_table = isinstance(X, np.ndarray | pd.DataFrame) and X.ndim == 2
    has_several = explanations.shared.get("target") in _SEVERAL_OUTPUTS
    return is_table and explanations.kind == "vector" and not has_several


def _width(explanations: Explanations) -> int:
    """Return the number of explanation columns without offsets."""
    return int(explanations.values.shape[1] - explanations.shared.get("offsets", 0))


def _names(explanations: Explanations) -> list[str] | None:
    """Return the names of the explanation columns without offsets; None if they have none."""
    names = explanations.shared.get("names")
    return None if names is None else list(map(str, names))[: _width(explanations)]


def _pair(
    explanations: Explanations, features: list[str], X: Rows, wildcards: Sequence[str]
) -> list[int] | None:
    """Return the position of each feature's explanation column; None if nothing is paired."""
    names, width = _names(explanations), _width(explanations)
    is_ordered = "features" not in explanations.shared
    if names is None or not isinstance(X, pd.DataFrame):
        return list(range(width)) if is_ordered and width == len(features) else None
    target_by_name = _match(names, features)
    if width != len(features):
        return None
    if target_by_name:
        name_by_target = {target: name for name, target in target_by_name.items()}
        return [names.index(name_by_target[feature]) for feature in features]
    if not is_ordered:
        return None
    if wildcards:
        raise InputError(
            f"no name says which explanation column is about which feature, and {_quote(wildcards)} would "
            f"pair them in the order of the file. {_both_lists(names, features)} Write the columns of both "
            "one by one, in the same order, or give an explanation column the name of its feature, such as "
            f"'phi_{features[0]}'."
        )
    return list(range(width))


def _match(names: list[str], features: list[str]) -> dict[str, str]:
    """Return the feature of each name; nothing if no name says so; raise an error if only some do."""
    targets_by_affix = _targets_by_affix(names, set(features))
    complete = [targets for targets in targets_by_affix.values() if len(targets) == len(names)]
    for targets in complete[1:]:
        name = next((name for name in names if targets[name] != complete[0][name]), None)
        if name is not None:
            raise InputError(
                f"the explanation column {name!r} may be about {complete[0][name]!r} or {targets[name]!r}. "
                f"{_both_lists(names, features)} {_REMEDY}"
            )
    if complete:
        _check_distinct(features)
        return complete[0]
    partial = [targets for affix, targets in targets_by_affix.items() if _is_common(affix, names)]
    if not partial:
        return {}
    targets = max(partial, key=len)
    odd_names = [name for name in names if name not in targets]
    odd_features = [feature for feature in features if feature not in targets.values()]
    without = f", and no explanation column for {_quote(odd_features)}" if odd_features else ""
    raise InputError(
        "explanation columns and features match by name only in part: there is no feature for "
        f"{_quote(odd_names)}{without}. {_both_lists(names, features)} {_REMEDY}"
    )


_REMEDY = (
    "Rename these columns, or leave them out (CLI: --explanation '…,!name', --features '…,!name'). Without "
    "features (X=, CLI: --features) nothing is paired."
)


def _targets_by_affix(names: list[str], features: set[str]) -> dict[Affix, dict[str, str]]:
    """Return which feature each name is about if explanation columns have a prefix, or a suffix.

    Examples
    --------
    >>> _targets_by_affix(["phi_age", "phi_sex"], {"age"})
    {('phi_', ''): {'phi_age': 'age'}}
    """
    targets: dict[Affix, dict[str, str]] = {}
    for name in names:
        for cut in range(len(name)):
            for affix, rest in (
                ((name[:cut], ""), name[cut:]),
                (("", name[len(name) - cut :]), name[: len(name) - cut]),
            ):
                if rest in features and _COMPARISONS.isdisjoint("".join(affix)):
                    targets.setdefault(affix, {})[name] = rest
    return targets


def _is_common(affix: Affix, names: list[str]) -> bool:
    """Whether several explanation columns have a prefix or suffix, or it is empty: else it is chance."""
    prefix, suffix = affix
    return affix == ("", "") or sum(name.startswith(prefix) and name.endswith(suffix) for name in names) > 1


def _check_distinct(features: list[str]) -> None:
    duplicates = [name for name in dict.fromkeys(features) if features.count(name) > 1]
    if duplicates:
        raise InputError(
            f"several features are called {_quote(duplicates)}, so explanation columns cannot be paired with "
            "them: give each column of X a name of its own."
        )


def _both_lists(names: list[str], features: list[str]) -> str:
    return f"Explanation columns: {_quote(names)}. Features: {_quote(features)}."


def _quote(names: Sequence[str]) -> str:
    return join_few(map(repr, names))


def _reorder(explanations: Explanations, positions: list[int]) -> Explanations:
    """Return explanations with their columns in another order; offsets stay last."""
    width = explanations.values.shape[1]
    order = [*positions, *range(len(positions), width)]
    if order == list(range(width)):
        return explanations
    shared, identity = explanations.shared, explanations.identity
    if "names" in shared:
        shared = {**shared, "names": [shared["names"][position] for position in order]}
    if isinstance(identity, pd.DataFrame) and identity.shape[1] == width:
        identity = identity.iloc[:, order]
    elif isinstance(identity, np.ndarray) and identity.ndim == 2 and identity.shape[1] == width:
        identity = np.take(identity, order, axis=1)
    values = np.take(explanations.values, order, axis=1)  # in the order of rows, unlike values[:, order]
    return attrs.evolve(explanations, values=values, identity=identity, shared=shared)
