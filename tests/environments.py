"""Virtual environments as fresh as a new machine's, made in a second.

Installing NumPy, pandas and scikit-learn anew would take minutes and a network. So an environment is made empty,
and the libraries that a test asks for are linked into it from the one that runs the tests: these, what they
require, and nothing else. faithkit itself is never linked. It comes from a wheel, as a user would get it.
"""

import os
import subprocess
import sys
import venv
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


class Environment:
    """A virtual environment: `run` runs a command line as a person in it would."""

    def __init__(self, folder, libraries):
        venv.create(folder, with_pip=False, symlinks=True)
        self.folder = folder
        self.site = next((folder / "lib").glob("python*")) / "site-packages"
        for library in find_required(["pip", *libraries]).values():
            link(library, self.site)

    def run(self, command, cwd=None, code=0, **variables):
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        inherited["PATH"] = f"{self.folder / 'bin'}{os.pathsep}{inherited['PATH']}"
        process = subprocess.run(
            command,
            shell=isinstance(command, str),
            cwd=cwd or self.folder,
            env={**inherited, "VIRTUAL_ENV": str(self.folder), **variables},
            capture_output=True,
            text=True,
        )
        assert process.returncode == code, f"{command}\n{process.stdout}\n{process.stderr}"
        return process

    def install(self, *wheels):
        """Install wheels beside the linked libraries, without asking any index."""
        self.run(["python", "-m", "pip", "install", "-q", "--no-index", *map(str, wheels)])


def find_required(names):
    """Return the distributions of these names and of all that they require here."""
    distributions: dict[str, Distribution] = {}
    waiting = [Requirement(name) for name in names]
    while waiting:
        requirement = waiting.pop()
        if requirement.name in distributions or (
            requirement.marker and not requirement.marker.evaluate({"extra": ""})
        ):
            continue
        try:
            distributions[requirement.name] = distribution(requirement.name)
        except PackageNotFoundError:  # optional, or for another system
            continue
        waiting += map(Requirement, distributions[requirement.name].requires or ())
    return distributions


def link(library, site):
    """Link a distribution's packages, modules and metadata into another environment."""
    tops = {path.parts[0] for path in library.files or () if path.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        if not (site / top).exists():
            (site / top).symlink_to(library.locate_file(top))


def read_requirements(project):
    """Return what a project's pyproject.toml asks for, but for faithkit."""
    import tomllib

    requirements = tomllib.loads((project / "pyproject.toml").read_text())["project"]["dependencies"]
    return [text for text in requirements if not Requirement(text).name.startswith("faithkit")]


def build_wheels(folder, *projects):
    """Build wheels with the hatchling that is installed here, and return their paths by distribution."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "-w", str(folder), *map(str, projects)], check=True, capture_output=True)
    return {path.name.split("-")[0].replace("_", "-"): path for path in sorted(folder.glob("*.whl"))}
