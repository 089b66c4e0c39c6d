"""Answers as pipelines for texts give them: for each row {"label": …, "score": …}, or one of it per label."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.inputs.models.model_names import called
from faithkit.inputs.models.score_function import ScoreFunction
from faithkit.wording import few


def is_records(answer: Any) -> bool:
    """Whether an answer has labels with their scores, for each row.

    >>> is_records([{"label": "good", "score": 0.9}]), is_records([[{"label": "good", "score": 0.9}]])
    (True, True)
    >>> is_records(["good"]), is_records([[]])
    (False, False)
    """
    first = answer[0] if isinstance(answer, list | tuple) and answer else None
    first = first[0] if isinstance(first, list | tuple) and first else first
    return isinstance(first, Mapping) and {"label", "score"} <= set(first)


def best_labels(answer: Sequence[Any]) -> list[Any]:
    """Return the label of the highest score of each row.

    >>> best_labels([[{"label": "bad", "score": 0.1}, {"label": "good", "score": 0.9}]])
    ['good']
    """
    return [max(scores, key=scores.__getitem__) for scores in map(_scores, answer)]


def scored(function: Any, answer: Sequence[Any]) -> ScoreFunction | None:
    """Return the model whose answers have the scores of all labels; None where they have the best only."""
    labels = list(_scores(answer[0]))
    labels.sort(key=None if all(isinstance(label, int | float) for label in labels) else str)
    if len(labels) < 2 or any(set(labels) != set(_scores(row)) for row in answer):
        return None
    return ScoreFunction(_Matrix(function, tuple(labels)), labels)


@attrs.frozen(eq=False)
class _Matrix:
    """The scores in records, with a column for each label."""

    function: Callable[[Any], Any]
    labels: tuple[Any, ...]

    @property
    def __name__(self) -> str:
        return called(self.function)

    def __call__(self, X: Any) -> np.ndarray:
        ask = getattr(self.function, "predict", self.function)
        return np.array([self._row(_scores(row)) for row in ask(X)], dtype=np.float64)

    def _row(self, scores: dict[Any, float]) -> list[float]:
        if set(scores) != set(self.labels):
            raise InputError(
                f"{called(self.function)} gave scores of {few(map(str, scores))} where it had given those of "
                f"{few(map(str, self.labels))}: let it give all labels, with top_k=None."
            )
        return [scores[label] for label in self.labels]


def _scores(row: Any) -> dict[Any, float]:
    told = [row] if isinstance(row, Mapping) else row
    try:
        scores = {one["label"]: float(one["score"]) for one in told}
    except (KeyError, TypeError, ValueError):
        scores = {}
    if not scores:
        raise InputError(
            f'the answer has {row!r} for a row; expected {{"label": …, "score": …}}, or a list of them, as '
            "for the others."
        )
    return scores
