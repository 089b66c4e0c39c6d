"""Adapters with one fault each, and a sound one."""

from faithkit import Explanations
from faithkit.plugin import RowContext


class Note:
    """An object of another library."""

    def __init__(self, text):
        self.text = text


class Sound:
    """Takes notes as they are."""

    def example(self):
        """Return two notes."""
        return [Note("debt"), Note("age")], RowContext(n=2)

    def explanations(self, value, context):
        """Return what they say."""
        return Explanations.of(note.text for note in value)


class TakesAnother(Sound):
    """Shows an example of a type that it does not name."""

    def example(self):
        """Return something else."""
        return [RowContext()], RowContext(n=1)


class TakesNothing:
    """Has an example, and no method for it."""

    def example(self):
        """Return two notes."""
        return [Note("debt"), Note("age")], RowContext(n=2)


class GivesAList(Sound):
    """Returns no Explanations."""

    def explanations(self, value, context):
        """Return a list."""
        return [note.text for note in value]


class ForgetsARow(Sound):
    """Returns too few."""

    def explanations(self, value, context):
        """Leave out the last."""
        return Explanations.of(note.text for note in value[:-1])


class UsesItUp(Sound):
    """Changes what it reads."""

    def explanations(self, value, context):
        """Add to what notes say."""
        for note in value:
            note.text += "!"
        return Explanations.of(note.text for note in value)


class ShowsNoRows(Sound):
    """Has an example without a word about it."""

    def example(self):
        """Return notes alone."""
        return [Note("debt")]
