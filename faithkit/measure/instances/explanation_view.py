"""An explanation taken apart, so that reports can draw it: weights for or against a class, and conditions."""

import attrs

from faithkit.explanations.predicates import Predicate

Box = tuple[tuple[int, int], ...]  # the first cell and the one after the last, along every axis of a row


@attrs.frozen
class Weight:
    """A feature, a word or a patch with its weight for the class; negative weights are against it.

    `box` has the cells of the row that are meant, if rows are images or series.
    """

    name: str
    value: float
    box: Box | None = None


@attrs.frozen
class ExplanationView:
    """An explanation in the form that was compared, taken apart so that reports can draw it.

    Attributes
    ----------
    text : str
        All of it, in readable form.
    weights : tuple of Weight
        The largest first, without zeros; empty if the explanation has no weights.
    conditions : tuple of Predicate
        The conditions of a rule, or those under which weights apply to other rows.
    speaks_for : str or None
        The class that positive weights support, or that a rule was given for; None if unknown.
    noun : str
        What the weights belong to: features, words or patches.
    are_signs : bool
        Whether only the signs of weights were compared.
    is_rule : bool
        Whether the conditions are the explanation itself.
    are_importances : bool
        Whether the explanation consists of importances, even if a discretizer left no weights of them.
    """

    text: str
    weights: tuple[Weight, ...] = ()
    conditions: tuple[Predicate, ...] = ()
    speaks_for: str | None = None
    noun: str = "features"
    are_signs: bool = False
    is_rule: bool = False
    are_importances: bool = False

    @property
    def named_columns(self) -> list[str]:
        """The columns that the explanation names: those of its conditions, or else of its weights."""
        columns = [str(predicate.column) for predicate in self.conditions if hasattr(predicate, "column")]
        return columns or [weight.name for weight in self.weights]
