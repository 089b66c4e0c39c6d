"""Run benchmarks: `python tests/benchmarks [NAME …]`; without names, all of them."""

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

harness = importlib.import_module("harness")
for file in sorted(HERE.glob("bench_*.py")):
    importlib.import_module(file.stem)


def main(names: list[str]) -> None:
    """Print one line per contest."""
    known = harness.benchmarks()
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    print(harness.HEADER)
    for name in names or known:
        try:
            contests = known[name]()
        except ImportError as error:
            print(f"{name}: left out, {error.name} is not installed (pip install -e .[bench])")
            continue
        for contest in contests:
            print(harness.report(name, contest), flush=True)


main(sys.argv[1:])
