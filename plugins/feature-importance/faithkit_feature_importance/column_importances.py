"""What the relations of importances share: one importance per column of a table, and its permutations."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.importances import read_importances
from faithkit_feature_importance.targets import NUMBERS


def signed_importances(
    component: str, explanations: faithkit.Explanations, names: list[str]
) -> NDArray[np.float64]:
    """Return the importances (rows, outputs, columns), with the columns in the order of `names`.

    Several outputs are those of the target "all" and of regressors with several numbers. What is no finite
    number becomes 0; infinite values are refused, except in rows without an explanation.

    Examples
    --------
    >>> phi = faithkit.Explanations.vectors([[0.2, -0.1]], shared={"names": ["job", "age"]})
    >>> signed_importances("near-in-top-features", phi, ["age", "job"]).tolist()
    [[[-0.1, 0.2]]]
    """
    values = read_importances(component, explanations, offsets=False)
    width = values.shape[1]
    has_several = explanations.shared.get("target") in ("all", NUMBERS)
    n_outputs = max(1, width // len(names)) if has_several else 1
    if width != n_outputs * len(names):
        raise faithkit.errors.InputError(
            f"{component}: {width} importances for the {len(names)} columns of the instances: give one for "
            "each, in the same order."
        )
    column_names = explanations.shared.get("names", [])[:width]
    if n_outputs == 1 and sorted(column_names) == sorted(names):
        # a log may list columns in another order
        values = values[:, [column_names.index(name) for name in names]]
    return np.nan_to_num(values, posinf=0.0, neginf=0.0).reshape(len(values), n_outputs, len(names))


def column_sizes(
    component: str, explanations: faithkit.Explanations, names: list[str]
) -> NDArray[np.float64]:
    """Return the absolute importance of each column, summed over outputs: (rows, columns)."""
    sizes: NDArray[np.float64] = np.abs(signed_importances(component, explanations, names)).sum(axis=1)
    return sizes


def permuted_sizes(
    explanations: faithkit.Explanations,
    sizes: NDArray[np.float64],
    is_compared: NDArray[np.bool_],
    names: list[str],
    seeds: NDArray[Any],
    narrower: str,
) -> faithkit.Explanations:
    """Permute the importances of each row among its columns, by the row's seed.

    If most explanations compare all columns, so would permuted ones: an error proposes the relation
    `narrower`.
    """
    compared = is_compared[~explanations.missing]
    if compared.all(axis=1).sum() > len(compared) / 2:
        raise faithkit.errors.InputError(
            f"most explanations name all {len(names)} columns, and so would random ones. A relation that "
            f"compares fewer has a control, such as {narrower}."
        )
    order = np.argsort(faithkit.plugin.row_uniforms(seeds, len(names)), axis=1)
    permuted = np.take_along_axis(sizes, order, axis=1)
    return attrs.evolve(explanations, values=permuted, identity=None, shared={"names": names})


def check_table(component: str, background: Any) -> None:
    """Raise an error if a relation that compares columns has no rows, or rows without columns."""
    if background is None:
        raise missing_instances_error(component)
    if isinstance(background, list) or hasattr(background, "tocsr"):
        raise faithkit.errors.InputError(
            f"{component} compares the columns of tables, and the instances are "
            f"{'texts' if isinstance(background, list) else 'a sparse matrix'}: name another relation."
        )


def missing_instances_error(component: str) -> faithkit.errors.InputError:
    """Return the error of a relation that needs the explained instances."""
    return faithkit.errors.InputError(
        f"{component} reads the explained instances, and none were given: pass X (CLI: --features)."
    )
