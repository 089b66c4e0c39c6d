"""What the documentation shows of the benchmarks: their outcomes and the machine, as CSV files.

A run replaces the rows of the benchmarks that it ran and leaves the others, so that libraries that do not go
together can be measured in two environments, and a run that was broken off is finished by running the rest.
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
            "ratio", "goal")  # fmt: skip
LIMITS = ("benchmark", "explainer and model", "rows", "rows asked", "ours, ms", "peak, MB", "model alone, ms",
          "times the limit", "goal")  # fmt: skip
GROWTH = ("benchmark", "curve", "who", "of", "size", "seconds", "megabytes")
MACHINE = ("what", "value")


def write(folder: Path, name: str, found: list[Outcome | Point | Multiple]) -> None:
    """Put the outcomes of one benchmark in the place of those that it had."""
    folder.mkdir(parents=True, exist_ok=True)
    contests = [_contest(one) for one in found if isinstance(one, Outcome)]
    points = [_point(one) for one in found if isinstance(one, Point)]
    limits = [_limit(one) for one in found if isinstance(one, Multiple)]
    if limits:
        _replace(folder / "limits.csv", LIMITS, name, limits)
    if contests:
        _replace(folder / "contests.csv", CONTESTS, name, contests)
    if points:
        _replace(folder / "growth.csv", GROWTH, name, points)
    peers = [distribution for one in contests if (distribution := _distribution(one[4]))]
    known = dict(_read(folder / "machine.csv")[1:]) | machine() | {name: version(name) for name in peers}
    _save(folder / "machine.csv", [MACHINE, *known.items()])


def _replace(path: Path, header: tuple[str, ...], name: str, rows: list[tuple[str, ...]]) -> None:
    others = [tuple(row) for row in _read(path)[1:] if row[0] != name]
    _save(path, [header, *sorted([*others, *rows], key=lambda row: row[0])])


def _contest(one: Outcome) -> tuple[str, ...]:
    distribution = _distribution(one.peer_name)
    peer = f"{one.peer.seconds * 1e3:.1f}", f"{one.peer.megabytes:.0f}"
    return (
        one.benchmark,
        one.contest,
        f"{one.ours.seconds * 1e3:.1f}",
        f"{one.ours.megabytes:.0f}",
        one.peer_name,
        version(distribution) if distribution else "",
        *peer,
        f"{one.ratio:.3g}" if one.ratio < 1000 else f"{one.ratio:.0f}",
        f"{one.wanted:g}" if one.wanted else "",
    )


def _limit(one: Multiple) -> tuple[str, ...]:
    return (
        one.benchmark,
        one.limit.name,
        str(one.limit.rows),
        str(one.limit.asked),
        f"{one.ours.seconds * 1e3:.1f}",
        f"{one.ours.megabytes:.0f}",
        f"{one.model * 1e3:.1f}",
        f"{one.times:.3g}",
        f"{one.limit.most:.3g}" if one.limit.most else "",
    )


def _point(one: Point) -> tuple[str, ...]:
    numbers = f"{one.run.seconds:.6g}", f"{one.run.megabytes:.6g}"
    return one.benchmark, one.curve, one.who, one.of, str(one.size), *numbers


def _distribution(peer: str) -> str | None:
    found = next((PEERS[word] for word in re.findall(r"[\w-]+", peer) if word in PEERS), None)
    return found if found and _version(found) else None


def machine() -> dict[str, str]:
    """Describe where this runs."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    facts = {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{pages * size / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    return facts | {name: known for name in OWN if (known := _version(name))}


def _processor() -> str:
    told = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    named = re.search(r"^Model name:\s*(.+)$", told, re.MULTILINE)
    return named[1].strip() if named else platform.processor() or platform.machine()


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
