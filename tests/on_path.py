"""Distributions written into a folder that is put on the path: as if installed, without installing any."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def install(folder, distribution, code, *, version="1.0", value=None, verbs=(), **modules):
    """Write a distribution with one plugin: its module, other modules, and what pip would say of it.

    Each of its verbs is a function of the same name in its module.
    """
    module = distribution.replace("-", "_")
    for name, text in {module: code, **modules}.items():
        (folder / f"{name}.py").write_text(text)
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
    commands = "".join(f"{verb} = {module}:{verb}\n" for verb in verbs)
    (info / "entry_points.txt").write_text(
        f"[faithkit]\nmain = {value or module}\n[faithkit.commands]\n{commands}"
    )


def install_house(folder):
    """Write what pip would say of the plugin of the how-to pages, by its project file."""
    project = tomllib.loads((ROOT / "docs" / "howto" / "house.toml").read_text())["project"]
    info = folder / "house-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house\nVersion: 1.0\n")
    lines = [
        line
        for group, points in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))


def faithkit_with(folder, *arguments, **variables):
    """Run the command line in a process of its own, with a folder on the path."""
    path = os.pathsep.join(filter(None, [str(folder), str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-m", "faithkit", *arguments],
        env={**os.environ, "PYTHONPATH": path, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
