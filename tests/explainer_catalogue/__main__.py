"""Run the catalogue: `python tests/explainer_catalogue [NAME …] [--seeds N] [--jobs N] [--write]`.

It prints a line per entry, then the rules that are broken. With --write it writes docs/catalogue.csv, for
which it needs all entries, all seeds and the real tables (FAITHKIT_DATA).
"""

import argparse
import csv
import os
import sys
import time
from pathlib import Path


def _run(name, n_seeds):
    from explainer_catalogue.catalogue import entries, run_entry

    entry = next(entry for entry in entries if entry.name == name)
    start = time.monotonic()
    runs = run_entry(entry, range(n_seeds))
    return runs.truth, runs.chance, runs.checked, runs.verdicts, time.monotonic() - start


def main() -> None:
    """Run entries, print them, and check the rules."""
    from explainer_catalogue.catalogue import FILE, HEADER, SEEDS, Runs, broken_rules, entries, table_row
    from joblib import Parallel, delayed

    parser = argparse.ArgumentParser(
        prog="python tests/explainer_catalogue", description=__doc__.splitlines()[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; by default all entries")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--write", action="store_true", help="write docs/catalogue.csv")
    options = parser.parse_args()
    chosen = [
        entry
        for entry in entries
        if entry.is_here and (not options.names or any(part in entry.name for part in options.names))
    ]
    is_whole = len(chosen) == len(entries) and options.seeds == len(SEEDS)
    if options.write and not is_whole:
        sys.exit("the table needs all entries, all seeds, and the real tables (FAITHKIT_DATA)")
    calls = (delayed(_run)(entry.name, options.seeds) for entry in chosen)
    results = Parallel(options.jobs, return_as="generator")(calls)
    all_runs = []
    for entry, (*values, seconds) in zip(chosen, results, strict=True):
        all_runs.append(Runs(entry, *values))
        print(" | ".join(table_row(all_runs[-1])), f"| {seconds:.1f} s", flush=True)
    for sentence in broken_rules(all_runs):
        print("BROKEN:", sentence)
    if options.write:
        with FILE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(HEADER)
            writer.writerows(map(table_row, all_runs))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # to compile what shap calls a few times takes longer
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
