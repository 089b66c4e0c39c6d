"""Trees that are told as nodes within nodes."""

from typing import Any

import numpy as np

from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Integers


def unfolded(root: Any, left: str, right: str) -> tuple[list[Any], Integers, Integers]:
    """Return the nodes of a tree, the root first, and the numbers of their children, −1 where there are none.

    Parameters
    ----------
    root : dict
    left, right : str
        Under which keys a node has its children.

    Examples
    --------
    >>> nodes, left, right = unfolded({"no": {"value": 1}, "yes": {"value": 2}}, "no", "yes")
    >>> len(nodes), left.tolist(), right.tolist()
    (3, [1, -1, -1], [2, -1, -1])
    """
    nodes, first = [root], []
    for node in nodes:  # which grows on the way
        first.append(len(nodes) if left in node else -1)
        nodes += [node[left], node[right]] if left in node else []
    children = np.array(first, dtype=np.int64)
    return nodes, children, np.where(children < 0, -1, children + 1)
