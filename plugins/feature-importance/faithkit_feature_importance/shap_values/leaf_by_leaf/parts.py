"""Trees cut into parts, each so small that a table can hold all that a row may look like to it.

A part is what hangs below one node. To its leaves a row is a pattern of few bits: for each player on the path
to the node whether it meets all conditions there, and for each split below the node whether it goes to the
left. One look into the table of a part serves all of its leaves.
"""

from collections.abc import Iterator

import attrs

from faithkit_feature_importance.shap_values.leaf_by_leaf.conditions import Answers, Split
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import Tree, UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.tables import KINDS, MOST_PLAYERS

MOST_BITS = 7  # of a part with several leaves: larger tables lie further from the processor


def is_deep(bits: int) -> bool:
    """Whether a part with so many bits is a single leaf, for which a table per player would be too large."""
    return bits > MOST_BITS


@attrs.frozen
class Leaf:
    """What a leaf adds to an output, and what its players must do for it, as bits of the part's pattern.

    Parameters
    ----------
    demands : dict
        For every player: which bits must be set, and which must not.
    value : float
    output : int
    """

    demands: dict[int, tuple[int, int]]
    value: float
    output: int


@attrs.frozen
class Part:
    """Some leaves of a tree.

    Parameters
    ----------
    bits : list of Answers
        The condition that each bit of a pattern stands for.
    leaves : list of Leaf
    """

    bits: list[Answers]
    leaves: list[Leaf]

    @property
    def cells(self) -> int:
        """How many cells its tables have: one for each pattern, player and output; fewer for a deep leaf."""
        if is_deep(len(self.bits)):
            return len(self.leaves) * KINDS << len(self.bits)
        pairs = {(player, leaf.output) for leaf in self.leaves for player in leaf.demands}
        return len(pairs) << len(self.bits)


class Walk:
    """A walk through trees whose columns belong to players.

    Parameters
    ----------
    player : dict
        The player to whom each column belongs that the trees compare.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import read_ensemble
    >>> stump = DecisionTreeClassifier().fit([[0.0, 5.0], [1.0, 5.0]], [0, 1])
    >>> list(Walk({0: 0}).parts(read_ensemble(stump).trees[0]))
    [Part(bits=[(0,)], leaves=[Leaf(demands={0: (0, 1)}, value=1.0, output=0)])]
    """

    def __init__(self, player: dict[int, int]) -> None:
        self.player = player
        self.splits: dict[Split, int] = {}  # in the order in which they are met

    def parts(self, tree: Tree) -> Iterator[Part]:
        """Return the parts of a tree that add something.

        Raises
        ------
        UnreadableError
            Where a leaf has too many players.
        """
        at = [self._split(tree, node) for node in range(len(tree.left))]
        below = _below(tree, at)
        waiting: list[tuple[int, dict[int, Answers]]] = [(0, {})]
        while waiting:
            node, path = waiting.pop()
            inner = below[node]
            if inner is not None and (not inner or len(path) + len(inner) <= MOST_BITS):
                if leaves := list(self._leaves(tree, at, node, path, inner)):
                    yield Part([*path.values(), *((2 * split,) for split in inner)], leaves)
                continue
            player = self.player[int(tree.column[node])]
            for child, answer in ((tree.left[node], 2 * at[node]), (tree.right[node], 2 * at[node] + 1)):
                answers = tuple(sorted({*path.get(player, ()), answer}))
                waiting.append((int(child), path | {player: answers}))

    def _split(self, tree: Tree, node: int) -> int:
        """Return the number of the split at a node, −1 at a leaf; equal splits have one number."""
        if tree.left[node] < 0:
            return -1
        categories = tree.categories.get(node)
        threshold = float(tree.threshold[node]) if categories is None else 0.0
        told = (int(tree.column[node]), threshold, bool(tree.missing_left[node]), categories)
        return self.splits.setdefault(told, len(self.splits))

    def _leaves(
        self, tree: Tree, at: list[int], top: int, path: dict[int, Answers], inner: list[int]
    ) -> Iterator[Leaf]:
        """Return the leaves below a node, what they demand told by the bits of its part."""
        start = {player: (1 << bit, 0) for bit, player in enumerate(path)}
        if len(start) > MOST_PLAYERS:
            raise UnreadableError(f"a path of its trees has {len(path)} columns, more than {MOST_PLAYERS}")
        waiting = [(top, start)]
        while waiting:
            node, demands = waiting.pop()
            if at[node] < 0:
                values = zip(tree.outputs, tree.values[node].tolist(), strict=True)
                yield from (Leaf(demands, value, output) for output, value in values if value and demands)
                continue
            bit = 1 << (len(path) + inner.index(at[node]))
            player = self.player[int(tree.column[node])]
            on, off = demands.get(player, (0, 0))
            waiting.append((int(tree.left[node]), demands | {player: (on | bit, off)}))
            waiting.append((int(tree.right[node]), demands | {player: (on, off | bit)}))


def _below(tree: Tree, at: list[int]) -> list[list[int] | None]:
    """Return the distinct splits at and below every node; None where they are too many for a part."""
    found: list[list[int] | None] = [None] * len(at)
    waiting, order = [0], []
    while waiting:
        node = waiting.pop()
        order.append(node)
        if at[node] >= 0:
            waiting += [int(tree.left[node]), int(tree.right[node])]
    for node in reversed(order):
        if at[node] < 0:
            found[node] = []
            continue
        left, right = found[tree.left[node]], found[tree.right[node]]
        if left is not None and right is not None:
            splits = list(dict.fromkeys([at[node], *left, *right]))
            found[node] = splits if len(splits) <= MOST_BITS else None
    return found
