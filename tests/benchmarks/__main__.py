"""Run benchmarks: `python tests/benchmarks [NAME …] [--write docs/benchmarks]`; without names, all of them.

With --write, the tables that the documentation shows get the rows of the benchmarks that ran.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

harness = importlib.import_module("harness")
tables = importlib.import_module("tables")
LEFT_OUT = []
for file in sorted(HERE.glob("bench_*.py")):
    try:
        importlib.import_module(file.stem)
    except ImportError as error:
        LEFT_OUT.append((file.stem, error))


def main() -> None:
    """Print one line per contest, and per point of a curve."""
    parser = argparse.ArgumentParser(prog="python tests/benchmarks", description="Run benchmarks.")
    known = harness.benchmarks()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="of the tables for the documentation")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    print(harness.HEADER)
    for stem, error in LEFT_OUT:
        print(f"{stem}: left out, {error}")
    for name in options.names or known:
        run(name, known[name], options.write)


def run(name, prepare, folder) -> None:
    """Run one benchmark, unless a library is missing."""
    start = time.monotonic()
    try:
        prepared = prepare()
    except ImportError as error:
        print(f"{name}: left out, {error.name} is not installed (pip install -e .[bench])", flush=True)
        return
    results = []
    for task in prepared:
        if isinstance(task, harness.Contest):
            results.append(harness.decide(name, task))
            print(results[-1].line(), flush=True)
            continue
        if isinstance(task, harness.Limit):
            results.append(harness.multiple(name, task))
            print(results[-1].line(), flush=True)
            continue
        for size in task.sizes:
            results.append(harness.measure(name, task, size))
            print(results[-1].line(), flush=True)
    print(f"  {name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    if folder is not None:
        tables.write(folder, name, results)


main()
