"""The adapter `lime-weights`: lists of lime's `Explanation`, one for each row or text."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import faithkit
from faithkit_feature_importance.adapters.named_vectors import (
    NO_TEXTS,
    check_digits,
    prefix_names,
    reject_parameters,
    to_vectors,
    weighted_words,
)
from faithkit_feature_importance.adapters.output_choice import Outputs, Positions, check_target

ADAPTER = "lime-weights"
_NO_CLASSES = "chooses among classes, and the model predicts numbers"


class LimeWeights:
    """Adapter of lime's explanations: a list with an `Explanation` of each row.

    Parameters
    ----------
    target : str, int or None
        The explained class: "positive" (the second of two), "predicted", "all" side by side, a label, or a
        position from 0. By default positive for two classes, predicted for more. It must be among the classes
        that lime explained (its `labels` or `top_labels`).
    digits : int, optional
        To how many decimals the weights of words are rounded. By default they are not rounded.

    Notes
    -----
    The weights of a table become vectors. A feature that lime left out has the weight 0. The weights of texts
    become sorted pairs of words and weights, as in `lime-text`. Intercepts are dropped.

    Examples
    --------
    >>> value, context = LimeWeights().example()
    >>> explanations = LimeWeights().explanations(value, context)
    >>> explanations.values.tolist(), explanations.shared
    ([[0.0, 0.5], [-0.25, 0.0]], {'target': 'positive', 'class': 'yes', 'names': ['age', 'job']})
    """

    def __init__(self, target: str | int | None = None, digits: int | None = None) -> None:
        self.target = check_target(ADAPTER, target)
        self.digits = check_digits(ADAPTER, digits)

    def example(self) -> tuple[Any, faithkit.plugin.RowContext]:
        """Return the weights of the second of two classes, for two rows."""
        from lime.explanation import Explanation
        from lime.lime_tabular import TableDomainMapper

        explanations = []
        for weights in ([(1, 0.5)], [(0, -0.25)]):
            columns = TableDomainMapper(["age", "job=clerk"], ["31.00", "True"], np.zeros(2), [1])
            explanations.append(Explanation(columns, class_names=["no", "yes"]))
            explanations[-1].local_exp = {1: weights}
        return explanations, faithkit.plugin.RowContext(n=2)

    def explanations(self, value: Any, context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        """Return a vector for each row of a table, and words with their weights for each text."""
        rows = list(value) if isinstance(value, Sequence) else [value]
        for mixture, kinds in (
            ("texts and tables", {_is_text(explanation) for explanation in rows}),
            ("labels and numbers", {explanation.mode for explanation in rows}),
            ("different classes", {_count_classes(explanation) for explanation in rows}),
        ):
            if len(kinds) > 1:
                raise faithkit.errors.InputError(
                    f"{ADAPTER}: the list is of {mixture}: give explanations of one model."
                )
        if _is_text(rows[0]):
            return self._texts(rows, context)
        reject_parameters(ADAPTER, digits=(self.digits, NO_TEXTS))
        return self._tables(rows, context)

    def _tables(self, rows: list[Any], context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        names = _names(rows, context)
        outputs, positions = self._choose_classes(rows, context)
        values = np.zeros((len(rows), positions.shape[1], len(names)))
        for row, (explanation, classes) in enumerate(zip(rows, positions.tolist(), strict=True)):
            for output, class_number in enumerate(classes):
                for column, weight in _weights(row, explanation, class_number):
                    values[row, output, column] = weight
        flat = values.reshape(len(rows), -1)
        return to_vectors(
            ADAPTER, flat, prefix_names(outputs, self.target, names), context, **outputs.shared(self.target)
        )

    def _texts(self, rows: list[Any], context: faithkit.plugin.RowContext) -> faithkit.Explanations:
        outputs, positions = self._choose_classes(rows, context)
        values = [
            weighted_words(*self._words_and_weights(row, explanation, classes, outputs), self.digits)
            for row, (explanation, classes) in enumerate(zip(rows, positions.tolist(), strict=True))
        ]
        return faithkit.Explanations.of(values, kind="words", shared=outputs.shared(self.target))

    def _words_and_weights(
        self, row: int, explanation: Any, classes: list[int], outputs: Outputs
    ) -> tuple[list[str], list[float]]:
        """Return the words of a text and their weights, for each chosen class."""
        indexed, words, weights = explanation.domain_mapper.indexed_string, [], []
        for prefix, class_number in zip(outputs.prefixes(self.target), classes, strict=True):
            for number, weight in _weights(row, explanation, class_number):
                words.append(f"{prefix}{indexed.word(number)}")
                weights.append(weight)
        return words, weights

    def _choose_classes(
        self, rows: list[Any], context: faithkit.plugin.RowContext
    ) -> tuple[Outputs, Positions]:
        """Return the outputs of the model, and the numbers of the chosen classes for each row."""
        first = rows[0]
        if first.mode == "regression":  # lime stores a regressor's weights under a dummy label
            reject_parameters(ADAPTER, target=(self.target, _NO_CLASSES))
            return Outputs(ADAPTER, 1), np.full((len(rows), 1), first.dummy_label)
        outputs = Outputs.of(ADAPTER, _count_classes(first), context, first.class_names)
        scores = [explanation.predict_proba for explanation in rows]
        predicted = (
            None if any(score is None for score in scores) else [int(np.argmax(score)) for score in scores]
        )
        return outputs, outputs.choose(self.target, context, len(rows), predicted)


def _is_text(explanation: Any) -> bool:
    return hasattr(explanation.domain_mapper, "indexed_string")


def _count_classes(explanation: Any) -> int:
    """Return the number of classes of the model."""
    classes = (
        explanation.class_names
        if explanation.class_names is not None
        else getattr(explanation, "predict_proba", None)
    )
    return len(classes) if classes is not None else max(explanation.local_exp, default=0) + 1


def _weights(row: int, explanation: Any, class_number: int) -> list[tuple[int, float]]:
    if class_number not in explanation.local_exp:
        available = ", ".join(str(int(label)) for label in explanation.local_exp)
        raise faithkit.errors.InputError(
            f"{ADAPTER}: row {row} has weights for the label number {available}, and number {class_number} "
            f"is chosen: choose another target, or let lime explain it (labels=({class_number},), or "
            "top_labels)."
        )
    return [(int(number), float(weight)) for number, weight in explanation.local_exp[class_number]]


def _names(rows: list[Any], context: faithkit.plugin.RowContext) -> list[str]:
    """Return the names of the features: those of X, or those of lime without the category of each row."""
    names_by_row = [
        list(map(_strip_category, explanation.domain_mapper.feature_names, _feature_values(explanation)))
        for explanation in rows
    ]
    widths = sorted({len(names) for names in names_by_row})
    if len(widths) > 1:
        raise faithkit.errors.InputError(
            f"{ADAPTER}: rows of {widths[0]} and of {widths[1]} features: give explanations of one table."
        )
    if context.features is not None and len(context.features) == widths[0]:
        return list(context.features)
    return (
        names_by_row[0]
        if all(names == names_by_row[0] for names in names_by_row)
        else [str(j) for j in range(widths[0])]
    )


def _feature_values(explanation: Any) -> list[Any]:
    values, width = (
        list(explanation.domain_mapper.feature_values),
        len(explanation.domain_mapper.feature_names),
    )
    return values if len(values) == width else [None] * width  # a sparse row has fewer values


def _strip_category(name: Any, value: Any) -> str:
    """Return "job" for "job=clerk": lime names categories in this way, with the value True."""
    return str(name).rpartition("=")[0] if value == "True" and "=" in str(name) else str(name)
