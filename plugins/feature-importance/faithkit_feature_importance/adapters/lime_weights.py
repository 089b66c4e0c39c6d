"""What the lime package returns: an `Explanation` of each row, of a table or of texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import faithkit
from faithkit_feature_importance.adapters.columns import check_digits, no_choice, pairs, prefixed, vectors
from faithkit_feature_importance.adapters.outputs import Outputs, Positions, check_target

WHO = "lime-weights"
_NO_CLASSES = "chooses among classes, and the model predicts numbers"
_NO_TEXTS = "is about the words of texts, and these are vectors, which the discretizer fp rounds"


class LimeWeights:
    """LIME's weights as lime has them: a list with an `Explanation` of each row.

    Parameters
    ----------
    target : str, int or None
        The class that is meant: "positive" (the second of two), "predicted", "all" side by side, a label, or
        a number from 0. By default positive for two classes, predicted for more. It must be one of those that
        lime was asked about (its `labels` or `top_labels`).
    digits : int, optional
        To how many decimals the weights of a text's words are rounded; by default they are not.

    Notes
    -----
    The weights of a table become vectors, by feature: one that lime left out has the weight 0. Those of texts
    become words with their weights, in one order, as `lime-text` has them. Intercepts are left out.

    Examples
    --------
    >>> given, about = LimeWeights().example()
    >>> found = LimeWeights().explanations(given, about)
    >>> found.values.tolist(), found.shared
    ([[0.0, 0.5], [-0.25, 0.0]], {'target': 'positive', 'names': ['age', 'job']})
    """

    def __init__(self, target: str | int | None = None, digits: int | None = None) -> None:
        self.target = check_target(WHO, target)
        self.digits = check_digits(WHO, digits)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the weights of the second of two classes, for two rows."""
        from lime.explanation import Explanation
        from lime.lime_tabular import TableDomainMapper

        found = []
        for weights in ([(1, 0.5)], [(0, -0.25)]):
            columns = TableDomainMapper(["age", "job=clerk"], ["31.00", "True"], np.zeros(2), [1])
            found.append(Explanation(columns, class_names=["no", "yes"]))
            found[-1].local_exp = {1: weights}
        return found, faithkit.plugin.RowContext(n=2)

    def explanations(self, given: Any, about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row of a table, and words with their weights for each text."""
        rows = list(given) if isinstance(given, Sequence) else [given]
        for what, found in (
            ("texts and tables", {_is_text(one) for one in rows}),
            ("labels and numbers", {one.mode for one in rows}),
            ("different classes", {_width(one) for one in rows}),
        ):
            if len(found) > 1:
                raise faithkit.errors.InputError(
                    f"{WHO}: the list is of {what}: give explanations of one model."
                )
        if _is_text(rows[0]):
            return self._texts(rows, about)
        no_choice(WHO, digits=(self.digits, _NO_TEXTS))
        return self._tables(rows, about)

    def _tables(self, rows: list[Any], about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        names = _names(rows, about)
        outputs, chosen = self._chosen(rows, about)
        values = np.zeros((len(rows), chosen.shape[1], len(names)))
        for row, (one, places) in enumerate(zip(rows, chosen.tolist(), strict=True)):
            for position, place in enumerate(places):
                for column, weight in _weights(row, one, place):
                    values[row, position, column] = weight
        flat = values.reshape(len(rows), -1)
        return vectors(WHO, flat, prefixed(outputs, self.target, names), about, **outputs.shared(self.target))

    def _texts(self, rows: list[Any], about: faithkit.plugin.RowContext) -> faithkit.Explanations:
        outputs, chosen = self._chosen(rows, about)
        found = [
            pairs(*self._words(row, one, places, outputs), self.digits)
            for row, (one, places) in enumerate(zip(rows, chosen.tolist(), strict=True))
        ]
        return faithkit.Explanations.of(found, kind="words")

    def _words(
        self, row: int, one: Any, places: list[int], outputs: Outputs
    ) -> tuple[list[str], list[float]]:
        """Return the words of a text and their weights, for each class that is chosen."""
        read, words, weights = one.domain_mapper.indexed_string, [], []
        for prefix, place in zip(outputs.prefixes(self.target), places, strict=True):
            for number, weight in _weights(row, one, place):
                words.append(f"{prefix}{read.word(number)}")
                weights.append(weight)
        return words, weights

    def _chosen(self, rows: list[Any], about: faithkit.plugin.RowContext) -> tuple[Outputs, Positions]:
        """Return the labels' numbers, as lime has them, that are read of each row."""
        first = rows[0]
        if first.mode == "regression":  # the number's weights stand where the second class's would
            no_choice(WHO, target=(self.target, _NO_CLASSES))
            return Outputs(WHO, 1), np.full((len(rows), 1), first.dummy_label)
        outputs = Outputs.of(WHO, _width(first), about, first.class_names)
        scores = [one.predict_proba for one in rows]
        told = None if any(score is None for score in scores) else [int(np.argmax(score)) for score in scores]
        return outputs, outputs.chosen(self.target, about, len(rows), told)


def _is_text(one: Any) -> bool:
    return hasattr(one.domain_mapper, "indexed_string")


def _width(one: Any) -> int:
    """Return how many classes the model has."""
    known = one.class_names if one.class_names is not None else getattr(one, "predict_proba", None)
    return len(known) if known is not None else max(one.local_exp, default=0) + 1


def _weights(row: int, one: Any, place: int) -> list[tuple[int, float]]:
    if place not in one.local_exp:
        there = ", ".join(str(int(label)) for label in one.local_exp)
        raise faithkit.errors.InputError(
            f"{WHO}: row {row} has weights for the label number {there}, and number {place} is meant: choose "
            f"another target, or ask lime about it (labels=({place},), or top_labels)."
        )
    return [(int(number), float(weight)) for number, weight in one.local_exp[place]]


def _names(rows: list[Any], about: faithkit.plugin.RowContext) -> list[str]:
    """Return the features' names: those of X, or as lime was told them, without each row's own category."""
    told = [list(map(_name, one.domain_mapper.feature_names, _cells(one))) for one in rows]
    widths = sorted({len(names) for names in told})
    if len(widths) > 1:
        raise faithkit.errors.InputError(
            f"{WHO}: rows of {widths[0]} and of {widths[1]} features: give explanations of one table."
        )
    if about.features is not None and len(about.features) == widths[0]:
        return list(about.features)
    return told[0] if all(names == told[0] for names in told) else [str(j) for j in range(widths[0])]


def _cells(one: Any) -> list[Any]:
    cells, width = list(one.domain_mapper.feature_values), len(one.domain_mapper.feature_names)
    return cells if len(cells) == width else [None] * width  # of a sparse row there are fewer


def _name(name: Any, cell: Any) -> str:
    """Return "job" for "job=clerk": so lime names a category, and says True for its value."""
    return str(name).rpartition("=")[0] if cell == "True" and "=" in str(name) else str(name)
