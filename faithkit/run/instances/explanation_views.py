"""Decompose explanations for display: weights, conditions, and the class that they support."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from faithkit.explanations.explanations import Explanations
from faithkit.explanations.rules import Rule
from faithkit.measure.protocols import get_optional_attribute
from faithkit.measure.witnesses import Box, ExplanationView, Weight
from faithkit.run.instances.readable_rows import format_explanation, identity_at, word_weights
from faithkit.wording import join_few

PATCH = re.compile(r"\[(\d+(?::\d+)?(?:, \d+(?::\d+)?)*)\]$")  # "[0:2, 4:6]", or one pixel "[0, 4]"
OWN_PREDICTION = "the prediction of the row"
SPEAKS_FOR = {
    "positive": "the second class",
    "all": "the class that is named before it",
    "prediction": "a higher prediction",
}


def view_explanation(
    explanation: Explanations,
    rule: Rule | None,
    discretizer: Any = None,
    owner_labels: Sequence[str] = (),
    shape: tuple[int, ...] = (),
) -> ExplanationView:
    """Decompose one explanation, in the form that was compared.

    Parameters
    ----------
    explanation : Explanations
        A batch of one.
    rule : Rule or None
        The rule that says where it applies.
    discretizer : Discretizer, optional
    owner_labels : sequence of str
        The predictions of the rows that have it.
    shape : tuple of int
        The shape of a row with several axes, such as an image.

    Examples
    --------
    >>> shared = {"names": ["age", "sex", "job"], "target": "positive", "class": "churn"}
    >>> explanation = Explanations.vectors([[0.25, 0.0, -0.5]], shared=shared)
    >>> view = view_explanation(explanation, None)
    >>> [(weight.name, weight.value) for weight in view.weights], view.speaks_for
    ([('job', -0.5), ('age', 0.25)], 'churn')
    """
    text, is_rule = format_explanation(explanation, 0, discretizer), explanation.kind == "rule"
    are_importances = explanation.kind in ("vector", "words") and not explanation.missing[0]
    weights = _weights(explanation, discretizer) if are_importances else []
    if len(shape) > 1:
        weights = [attrs.evolve(weight, box=_box(weight.name, shape)) for weight in weights]
    has_patches = any(weight.box is not None for weight in weights)
    noun = "words" if explanation.kind == "words" else "patches" if has_patches else "features"
    return ExplanationView(
        text=text,
        weights=tuple(sorted(weights, key=lambda weight: -abs(weight.value))),
        conditions=() if rule is None else rule.predicates,
        speaks_for=_class_of_weights(explanation.shared, owner_labels)
        if are_importances
        else join_few(owner_labels) or None,
        noun=noun,
        are_signs=explanation.identity is not None and all(abs(weight.value) == 1 for weight in weights),
        is_rule=is_rule,
        are_importances=are_importances,
    )


def _weights(explanation: Explanations, discretizer: Any) -> list[Weight]:
    """Return the nonzero weights; none if a discretizer replaced the weights."""
    is_original = explanation.identity is None or discretizer is None
    if not is_original and not get_optional_attribute(discretizer, "keeps_signs"):
        return []
    if explanation.kind == "words":
        pairs = word_weights(explanation.values[0]) or []
    else:
        identity = identity_at(explanation, 0)
        numbers = np.asarray(explanation.values[0] if is_original else identity, dtype=np.float64)
        n_features = explanation.values.shape[1] - explanation.shared.get("offsets", 0)
        names = explanation.shared.get("names") or [str(column) for column in range(len(numbers))]
        pairs = list(zip(names, numbers.tolist(), strict=False))[:n_features]
    return [Weight(str(name), float(number)) for name, number in pairs if number and np.isfinite(number)]


def _class_of_weights(shared: Mapping[str, Any], owner_labels: Sequence[str]) -> str | None:
    """Return the class that positive weights support, as declared in `Explanations.shared`."""
    target = shared.get("target")
    if target == "predicted":
        return owner_labels[0] if len(owner_labels) == 1 else OWN_PREDICTION
    return shared.get("class") or SPEAKS_FOR.get(str(target))


def _box(name: str, shape: tuple[int, ...]) -> Box | None:
    """Return the box of a patch, or of the pixel with a number; None for any other name.

    Examples
    --------
    >>> _box("[0:2, 4:6]", (8, 8)), _box("yes: [1, 4]", (8, 8)), _box("9", (8, 8)), _box("ink", (8, 8))
    (((0, 2), (4, 6)), ((1, 2), (4, 5)), ((1, 2), (1, 2)), None)
    """
    match = PATCH.search(name)
    if match is None:
        is_pixel = name.isdecimal() and int(name) < np.prod(shape)
        pixel = np.unravel_index(int(name), shape) if is_pixel else ()
        return tuple((int(start), int(start) + 1) for start in pixel) or None
    ranges = [list(map(int, part.split(":"))) for part in match[1].split(", ")]
    return tuple((ends[0], ends[-1] + (len(ends) == 1)) for ends in ranges)
