"""A plugin with adapters, as tests use it: reasons of another library, and a model."""

from faithkit import Explanations
from faithkit.plugin import Component, RowContext, hookimpl

FAITHKIT_API = 1


class Reason:
    """The explanation that another library returns for a row."""

    def __init__(self, text):
        self.text = text


class LateReason(Reason):
    """Derives from it."""


class Box:
    """A model without predict."""

    def ask(self, X):
        return [row[0] > 0 for row in X]


class Reasons:
    """Takes reasons.

    Parameters
    ----------
    upper : bool
        Whether they are written in capitals.
    most : int
        How many are read.
    """

    def __init__(self, upper: bool = False, most: int = 10**9):
        self.upper, self.most = upper, most

    def example(self):
        return [Reason("a")], RowContext(n=1)

    def explanations(self, value, context):
        texts = [reason.text for reason in value[: self.most]]
        if texts and texts[0] == "by prediction":
            return Explanations.of(context.predictions.tolist())
        return Explanations.of(text.upper() if self.upper else text for text in texts)


class Boxes:
    """Takes boxes as models."""

    def example(self):
        return Box(), RowContext()

    def model(self, value, context):
        return value.ask


@hookimpl
def faithkit_adapters():
    home = "reasons_plugin"
    yield Component(name="reasons", factory=f"{home}:Reasons", summary="Reasons.", types=(f"{home}.Reason",))
    yield Component(name="boxes", factory=f"{home}:Boxes", summary="Boxes.", types=(f"{home}.Box",))
