"""One sound loader, and heirs of it with one fault each."""

import itertools
import json
from pathlib import Path


class Sound:
    """A threshold in a file."""

    runs_code = False

    def load(self, path):
        limit = json.loads(Path(path).read_text())["limit"]
        return lambda rows: ["no" if row[0] > limit else "yes" for row in rows]

    def example(self, folder):
        path = Path(folder) / "model.limit"
        path.write_text('{"limit": 3}')
        return path, [[1.0], [5.0]]


class ShowsAnother(Sound):
    """Its example has another suffix than its types."""

    def example(self, folder):
        path, rows = super().example(folder)
        return path.rename(path.with_suffix(".json")), rows


class ShowsNoRows(Sound):
    """Its example is a path alone."""

    def example(self, folder):
        return super().example(folder)[0]


class DoesNotSay(Sound):
    """Nobody knows whether code runs."""

    runs_code = None


class GivesTheFile(Sound):
    """It returns what the file holds, which cannot predict."""

    def load(self, path):
        return json.loads(Path(path).read_text())


class Wavers(Sound):
    """Another model each time."""

    turns = itertools.count()

    def load(self, path):
        model = super().load(path)
        return model if next(self.turns) % 2 else lambda rows: model(rows)[::-1]


class TakesAHalf(Sound):
    """What is missing of a file is made up."""

    def load(self, path):
        try:
            return super().load(path)
        except ValueError:
            return lambda rows: ["yes"] * len(rows)
