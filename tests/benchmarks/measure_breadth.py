"""How much of the kernel one call runs through: functions, files and depth; and the lines of every wing.

Run it as `python tests/benchmarks/measure_breadth.py`. It prints a table for the notes of a release.
"""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import faithkit

KERNEL = Path(faithkit.__file__).parent
LABELS, WORDS = ["yes", "no", "no"] * 20, ["a", "b", "c", "d"] * 15
AGES = np.arange(20.0, 80.0)[:, None]


class Breadth:
    """The functions of the kernel that a call runs through, and how deep they call each other."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, int]] = set()
        self.depth = self.deepest = 0

    def watch(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call of the kernel, or the end of one."""
        code = frame.f_code
        if not code.co_filename.startswith(str(KERNEL)):
            return
        if event == "call":
            self.functions.add((code.co_filename, code.co_firstlineno))
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        elif event == "return":
            self.depth -= 1

    def of(self, call: Callable[[], object]) -> str:
        """Return one line about a call; modules are imported before."""
        call()
        sys.setprofile(self.watch)
        try:
            call()
        finally:
            sys.setprofile(None)
        files = {name for name, _ in self.functions}
        return f"{len(self.functions):4} functions, {len(files):3} files, {self.deepest:3} deep"


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    print("score   ", Breadth().of(lambda: faithkit.score(LABELS, WORDS)))
    print("evaluate", Breadth().of(lambda: faithkit.evaluate(_older, AGES, explainer=_decades)))
    wings = sorted(path for path in KERNEL.iterdir() if path.is_dir() and path.name != "__pycache__")
    for name, files in [(wing.name, list(wing.rglob("*.py"))) for wing in wings] + [
        ("(root)", list(KERNEL.glob("*.py"))),
        ("all", list(KERNEL.rglob("*.py"))),
    ]:
        lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
        print(f"{name:13}{lines:7,} lines in {len(files):3} files")


def _older(rows: Any) -> list[bool]:
    return [row[0] > 50 for row in rows]


def _decades(rows: Any) -> list[int]:
    return [int(row[0] // 10) for row in rows]


if __name__ == "__main__":
    main()
