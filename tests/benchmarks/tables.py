"""What the documentation shows of the benchmarks: their outcomes and the machines, as CSV files.

A run replaces the rows of the benchmarks that it ran and leaves the others. So libraries that do not go
together can be measured in two environments, and each row names the processor that it was measured on.
"""

import csv
import os
import platform
import re
import subprocess
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from harness import Multiple, Outcome, Point

# how a contest calls a peer, and the distribution that it comes from
PEERS = {
    "polars": "polars", "duckdb": "duckdb", "quantus": "quantus", "explainiverse": "explainiverse",
    "anchor-exp": "anchor-exp", "lime": "lime", "shap": "shap", "dice-ml": "dice-ml", "cdist": "scipy",
    "NumPy": "numpy", "scikit-learn": "scikit-learn", "woodelf": "woodelf-explainer",
}  # fmt: skip
OWN = ("faithkit", "numpy", "pandas", "pyarrow", "scikit-learn", "scipy")

CONTESTS = ("benchmark", "contest", "ours, ms", "peak, MB", "peer", "version", "peer, ms", "its peak, MB",
            "ratio", "goal", "processor")  # fmt: skip
LIMITS = ("benchmark", "explainer and model", "rows", "rows asked", "ours, ms", "peak, MB", "model alone, ms",
          "times the limit", "goal", "processor")  # fmt: skip
GROWTH = ("benchmark", "curve", "who", "of", "size", "seconds", "megabytes", "processor")
MACHINES = ("processor", "cores", "memory", "system", "Python", *OWN)


def write(folder: Path, name: str, results: list[Outcome | Point | Multiple]) -> None:
    """Replace the rows of one benchmark, and the row of this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    for file, header, kind, to_row in (
        ("contests.csv", CONTESTS, Outcome, _contest),
        ("growth.csv", GROWTH, Point, _point),
        ("limits.csv", LIMITS, Multiple, _limit),
    ):
        rows = [(*to_row(result), _processor()) for result in results if isinstance(result, kind)]
        if rows:
            _replace(folder / file, header, name, rows)
    _replace(folder / "machines.csv", MACHINES, _processor(), [_machine()])


def _replace(path: Path, header: tuple[str, ...], name: str, rows: list[tuple[str, ...]]) -> None:
    others = [tuple(row) for row in _read(path)[1:] if row[0] != name]
    _save(path, [header, *sorted([*others, *rows], key=lambda row: row[0])])


def _contest(outcome: Outcome) -> tuple[str, ...]:
    distribution = _distribution(outcome.peer_name)
    peer = f"{outcome.peer.seconds * 1e3:.1f}", f"{outcome.peer.megabytes:.0f}"
    return (
        outcome.benchmark,
        outcome.contest,
        f"{outcome.ours.seconds * 1e3:.1f}",
        f"{outcome.ours.megabytes:.0f}",
        outcome.peer_name,
        version(distribution) if distribution else "",
        *peer,
        f"{outcome.ratio:.3g}" if outcome.ratio < 1000 else f"{outcome.ratio:.0f}",
        f"{outcome.goal:g}" if outcome.goal else "",
    )


def _limit(multiple: Multiple) -> tuple[str, ...]:
    return (
        multiple.benchmark,
        multiple.limit.name,
        str(multiple.limit.rows),
        str(multiple.limit.rows_asked),
        f"{multiple.ours.seconds * 1e3:.1f}",
        f"{multiple.ours.megabytes:.0f}",
        f"{multiple.model * 1e3:.1f}",
        f"{multiple.times:.3g}",
        f"{multiple.limit.most:.3g}" if multiple.limit.most else "",
    )


def _point(point: Point) -> tuple[str, ...]:
    numbers = f"{point.run.seconds:.6g}", f"{point.run.megabytes:.6g}"
    return point.benchmark, point.curve, point.library, point.of, str(point.size), *numbers


def _distribution(peer: str) -> str | None:
    name = next((PEERS[word] for word in re.findall(r"[\w-]+", peer) if word in PEERS), None)
    return name if name and _version(name) else None


def _machine() -> tuple[str, ...]:
    """Describe where this runs."""
    gigabytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    system = f"{platform.system()} {platform.machine()}"
    facts = _processor(), str(os.cpu_count()), f"{gigabytes:.0f} GiB", system, platform.python_version()
    return *facts, *(_version(name) or "" for name in OWN)


def _processor() -> str:
    report = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    name = re.search(r"^Model name:\s*(.+)$", report, re.MULTILINE)
    return name[1].strip() if name else platform.processor() or platform.machine()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _read(path: Path) -> list[list[str]]:
    if not path.exists():
        return [[]]
    with path.open(newline="") as file:
        return list(csv.reader(file))


def _save(path: Path, rows: Iterable[Iterable[str]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
