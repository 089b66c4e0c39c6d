"""A loader for the model files of a legacy program."""

import json
from pathlib import Path


class Cards:
    """Load score cards: JSON files with the points for each day of delay, and the limit."""

    runs_code = False

    def load(self, path):
        """Return the model of a file: a function from rows to labels."""
        card = json.loads(Path(path).read_text())
        points, limit = card["points"], card["limit"]

        def decide(rows):
            return ["refused" if points * row[0] > limit else "paid" for row in rows]

        return decide

    def example(self, folder):
        """Write a file for the conformance kit; return its path, and rows for the model."""
        path = Path(folder) / "claims.card"
        path.write_text(json.dumps({"points": 2.0, "limit": 100.0}))
        return str(path), [[10.0], [60.0]]
