"""Models in files of the house's older program."""

import json
from pathlib import Path


class Cards:
    """Score cards: points for each day of delay, and how many are refused, as JSON."""

    runs_code = False

    def load(self, path):
        """Return the model in a file: a function from rows to labels."""
        card = json.loads(Path(path).read_text())
        each, limit = card["points"], card["limit"]

        def decide(rows):
            return ["refused" if each * row[0] > limit else "paid" for row in rows]

        return decide

    def example(self, folder):
        """Write a file for the conformance kit, and return its path and rows that the model takes."""
        path = Path(folder) / "claims.card"
        path.write_text(json.dumps({"points": 2.0, "limit": 100.0}))
        return str(path), [[10.0], [60.0]]
