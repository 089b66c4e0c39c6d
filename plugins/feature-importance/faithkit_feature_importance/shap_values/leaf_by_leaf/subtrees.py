"""Cut trees into subtrees that are small enough for a table of all patterns.

A subtree has all leaves below one node. For these leaves, a row is a pattern of a few bits: for each player
on the path to the node, whether the row meets all conditions there; for each split below the node, whether
the row goes to the left. One lookup in the table of a subtree serves all of its leaves.
"""

from collections.abc import Iterator

import attrs

from faithkit_feature_importance.shap_values.errors import UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.conditions import Answers, Split
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Tree
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaf_tables import MAX_PLAYERS, N_TABLES

MAX_BITS = 7  # of a subtree with several leaves: larger tables would not stay in the processor's cache


def is_deep(bits: int) -> bool:
    """Return whether a subtree with so many bits is a single leaf; a table per player would be too large."""
    return bits > MAX_BITS


@attrs.frozen
class Leaf:
    """The value that a leaf adds to an output, and the bits of the pattern that its players require.

    Parameters
    ----------
    requirements : dict
        For every player: the bits that must be set, and those that must not be set.
    value : float
    output : int
    """

    requirements: dict[int, tuple[int, int]]
    value: float
    output: int


@attrs.frozen
class Subtree:
    """The leaves of a tree below one node.

    Parameters
    ----------
    bits : list of Answers
        The condition of each bit of a pattern.
    leaves : list of Leaf
    """

    bits: list[Answers]
    leaves: list[Leaf]

    @property
    def n_table_entries(self) -> int:
        """The size of its tables: one entry per pattern, player and output; fewer for a deep leaf."""
        if is_deep(len(self.bits)):
            return len(self.leaves) * N_TABLES << len(self.bits)
        pairs = {(player, leaf.output) for leaf in self.leaves for player in leaf.requirements}
        return len(pairs) << len(self.bits)


class SubtreeCutter:
    """Cut trees whose columns belong to players into subtrees.

    Parameters
    ----------
    player : dict
        The player of each column that the trees compare.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble
    >>> stump = DecisionTreeClassifier().fit([[0.0, 5.0], [1.0, 5.0]], [0, 1])
    >>> list(SubtreeCutter({0: 0}).cut(read_ensemble(stump).trees[0]))
    [Subtree(bits=[(0,)], leaves=[Leaf(requirements={0: (0, 1)}, value=1.0, output=0)])]
    """

    def __init__(self, player: dict[int, int]) -> None:
        self.player = player
        self.splits: dict[Split, int] = {}  # numbered in the order of their first occurrence

    def cut(self, tree: Tree) -> Iterator[Subtree]:
        """Yield the subtrees of a tree with leaves that add something.

        Raises
        ------
        UnreadableError
            If a leaf has too many players.
        """
        split_numbers = [self._split_number(tree, node) for node in range(len(tree.left))]
        splits_below = _splits_below(tree, split_numbers)
        stack: list[tuple[int, dict[int, Answers]]] = [(0, {})]
        while stack:
            node, path = stack.pop()
            inner_splits = splits_below[node]
            if inner_splits is not None and (not inner_splits or len(path) + len(inner_splits) <= MAX_BITS):
                if leaves := list(self._leaves_below(tree, split_numbers, node, path, inner_splits)):
                    yield Subtree([*path.values(), *((2 * split,) for split in inner_splits)], leaves)
                continue
            player = self.player[int(tree.column[node])]
            for child, answer in (
                (tree.left[node], 2 * split_numbers[node]),
                (tree.right[node], 2 * split_numbers[node] + 1),
            ):
                answers = tuple(sorted({*path.get(player, ()), answer}))
                stack.append((int(child), path | {player: answers}))

    def _split_number(self, tree: Tree, node: int) -> int:
        """Return the number of the split at a node, −1 at a leaf. Equal splits share a number."""
        if tree.left[node] < 0:
            return -1
        categories = tree.categories.get(node)
        threshold = float(tree.threshold[node]) if categories is None else 0.0
        split = (int(tree.column[node]), threshold, bool(tree.missing_left[node]), categories)
        return self.splits.setdefault(split, len(self.splits))

    def _leaves_below(
        self,
        tree: Tree,
        split_numbers: list[int],
        root: int,
        path: dict[int, Answers],
        inner_splits: list[int],
    ) -> Iterator[Leaf]:
        """Yield the leaves below a node, with their requirements as bits of the subtree's pattern."""
        path_requirements = {player: (1 << bit, 0) for bit, player in enumerate(path)}
        if len(path_requirements) > MAX_PLAYERS:
            raise UnreadableError(f"a path of its trees has {len(path)} columns, more than {MAX_PLAYERS}")
        stack = [(root, path_requirements)]
        while stack:
            node, requirements = stack.pop()
            if split_numbers[node] < 0:
                values = zip(tree.outputs, tree.values[node].tolist(), strict=True)
                yield from (
                    Leaf(requirements, value, output) for output, value in values if value and requirements
                )
                continue
            bit = 1 << (len(path) + inner_splits.index(split_numbers[node]))
            player = self.player[int(tree.column[node])]
            required_on, required_off = requirements.get(player, (0, 0))
            stack.append((int(tree.left[node]), requirements | {player: (required_on | bit, required_off)}))
            stack.append((int(tree.right[node]), requirements | {player: (required_on, required_off | bit)}))


def _splits_below(tree: Tree, split_numbers: list[int]) -> list[list[int] | None]:
    """Return the distinct splits at and below every node; None if they are too many for a subtree."""
    splits_below: list[list[int] | None] = [None] * len(split_numbers)
    stack, order = [0], []
    while stack:
        node = stack.pop()
        order.append(node)
        if split_numbers[node] >= 0:
            stack += [int(tree.left[node]), int(tree.right[node])]
    for node in reversed(order):
        if split_numbers[node] < 0:
            splits_below[node] = []
            continue
        left, right = splits_below[tree.left[node]], splits_below[tree.right[node]]
        if left is not None and right is not None:
            splits = list(dict.fromkeys([split_numbers[node], *left, *right]))
            splits_below[node] = splits if len(splits) <= MAX_BITS else None
    return splits_below
