"""Make wrong edits one at a time, and see which test fails: `python tests/mutants [TEXT …] [--jobs N] [--csv FILE]`.

With TEXT, only edits whose file or reason contains it. Each edit is made in a copy of the tree, where the tests that
`edits.toml` names run until one fails. Exits with 1 if an edit survives.
"""

import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue

from edits import ROOT, Edit, MutatedCopy, read_edits

SECONDS_PER_EDIT = 300
SURVIVED = "SURVIVED"
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".hypothesis", ".venv", "venv", "*_cache", "__pycache__", "_build", "dist"
)


def main() -> None:
    """Print one line per edit."""
    parser = argparse.ArgumentParser(prog="python tests/mutants", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "texts", nargs="*", metavar="TEXT", help="of the file or the reason; without, all edits"
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="edits at a time, each in its own copy"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table to FILE")
    options = parser.parse_args()
    edits = [edit for edit in read_edits() if is_selected(edit, options.texts)]
    if not edits:
        sys.exit(f"no edit whose file or reason contains {' or '.join(options.texts)}")
    with ExitStack() as stack:
        trees = SimpleQueue()
        for _ in range(options.jobs):
            tree = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faithkit-mutants-"))) / "tree"
            shutil.copytree(ROOT, tree, ignore=NOT_COPIED)
            trees.put(tree)
        check_copy(tree, edits)
        threads = stack.enter_context(ThreadPoolExecutor(options.jobs))
        rows = []
        for row in threads.map(lambda edit: judge(edit, trees), edits):
            rows.append(row)
            print(" | ".join(row), flush=True)
    if options.csv is not None:
        write_table(options.csv, rows)
    survivors = sum(row[2] == SURVIVED for row in rows)
    print(f"{len(rows)} edits, {survivors} survived")
    sys.exit(survivors > 0)


def is_selected(edit: Edit, texts: list[str]) -> bool:
    """Whether the file or the reason contains one of the texts."""
    return not texts or any(text in edit.file or text in edit.why for text in texts)


def check_copy(tree: Path, edits: list[Edit]) -> None:
    """Stop unless the copy is what Python imports, and its tests pass without an edit."""
    packages = sorted({Path(edit.file).parts[2 if edit.file.startswith("plugins") else 0] for edit in edits})
    code = f"import {', '.join(packages)}\nfor package in ({', '.join(packages)},): print(package.__file__)"
    imported = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tree,
        env=environment(tree),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    if elsewhere := [file for file in imported if not Path(file).resolve().is_relative_to(tree.resolve())]:
        sys.exit(f"Python imports {', '.join(elsewhere)}, expected files of the copy {tree}")
    tests = sorted({test for edit in edits for test in edit.tests})
    if (failure := failing_test(tree, tests, limit=None)) is not None:
        sys.exit(f"{failure} fails without any edit; mend it first")


def judge(edit: Edit, trees: SimpleQueue) -> tuple[str, str, str, str]:
    """Return the file, the reason, the test that fails and the seconds that it took."""
    tree, start = trees.get(), time.monotonic()
    try:
        with MutatedCopy(edit, tree):
            killer = failing_test(tree, edit.tests, SECONDS_PER_EDIT)
    finally:
        trees.put(tree)
    return edit.file, edit.why, killer or SURVIVED, f"{time.monotonic() - start:.0f}"


def failing_test(tree: Path, tests: list[str] | tuple[str, ...], limit: float | None) -> str | None:
    """Run tests until one fails and return its name; what never ends does not survive either."""
    options = [
        "-x",
        "-q",
        "-n",
        "0",
        "--no-header",
        "--tb=no",
        "-rfE",
        "-p",
        "no:cacheprovider",
        "--hypothesis-profile",
        "mutants",
    ]
    try:
        run = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=tree,
            env=environment(tree),
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return f"no end after {limit:.0f} s"
    if run.returncode == 0:
        return None
    if match := re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", run.stdout, re.MULTILINE):
        return match[1]
    sys.exit(f"pytest {' '.join(tests)}: {run.stdout}{run.stderr}")


def environment(tree: Path) -> dict[str, str]:
    """Return an environment in which the copy comes before everything that is installed."""
    folders = [tree, *sorted((tree / "plugins").iterdir())]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))}


def write_table(path: Path, rows: list[tuple[str, str, str, str]]) -> None:
    """Write one row per edit."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("file", "reason", "killed by", "seconds"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
