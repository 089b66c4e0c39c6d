"""`faithkit new`: a package that keeps the contract from the first minute, to be changed into your own."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import click

from faithkit.cli.shared.options import option
from faithkit.cli.shared.streams import Verb, say
from faithkit.errors import InputError

FIELDS = {
    "explainer": 'inputs=("table",)',
    "relation": 'kinds=("vector",)',
    "discretizer": 'kinds=("vector",)',
    "estimator": "",
    "diagnostic": "",
}
"""The kinds that can be begun, and what their components declare besides name, factory and summary."""

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{distribution}"
version = "0.1.0"
description = "{summary}"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["faithkit>=0.1"]

[project.entry-points.faithkit]
{name} = "{package}"

[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""
_README = """\
# {distribution}

{summary}

    python -m pip install --editable .
    faithkit check {distribution}
    python -m pytest
"""
_MODULE = '''\
"""What this package offers to faithkit; nothing heavy is imported to list it."""

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1
'''
_HOOK = '''

@hookimpl
def faithkit_{kind}s():
    """Offer {article} {kind}."""
    yield Component(
        name="{name}",
        factory="{package}.{kind}:{class_name}",
        summary="{summary}",{fields}
    )
'''
_TEST = '''\
"""The contract, check by check."""

from faithkit.testing import parametrize_with_checks


@parametrize_with_checks("{distribution}")
def test_the_plugin_keeps_the_contract(check):
    check.run()
'''


@click.command(cls=Verb)
@click.argument("kind", type=click.Choice([*FIELDS, "plugin"]))
@click.argument("name")
@option("--folder FOLDER", default=".", help="Write the package into this folder instead of the current one.")
def command(kind: str, name: str, folder: str) -> None:
    """Write a package with an explainer, a relation, a discretizer, an estimator or a diagnostic called NAME.

    It passes `faithkit check` as it is; change it into your own step by step. A plugin has one of each.
    """
    if not _NAME.fullmatch(name):
        proposal = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-0123456789") or "my-explainer"
        raise InputError(
            f"the name {name!r:.80} is not made of lower-case letters, digits and single dashes: write for "
            f"example {proposal!r}."
        )
    kinds = list(FIELDS) if kind == "plugin" else [kind]
    place = Path(folder) / f"faithkit-{name}"
    if place.exists():
        raise InputError(f"there is a {place} already, and it is left as it is: choose another name.")
    for path, text in _files(kinds, name).items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text, encoding="utf-8")
        say(f"wrote {place / path}")
    options = {"discretizer": "--discretize", "diagnostic": "--diagnose"}
    say(f"\nNext:\n  python -m pip install --editable {place}\n  faithkit check faithkit-{name}")
    say(f"  faithkit evaluate {options.get(kinds[0], f'--{kinds[0]}')} {name}")


def _files(kinds: list[str], name: str) -> dict[str, str]:
    """Return the files of a package by their paths in it."""
    package = f"faithkit_{name.replace('-', '_')}"
    class_name = "".join(part.capitalize() for part in name.split("-"))
    starters = {kind: import_module(f"faithkit.cli.starters.{kind}") for kind in kinds}
    summaries = {kind: (starter.Mine.__doc__ or "").partition("\n")[0] for kind, starter in starters.items()}
    words = {
        "distribution": f"faithkit-{name}",
        "name": name,
        "package": package,
        "summary": summaries[kinds[0]],
        "class_name": class_name,
    }
    hooks = (
        _HOOK.format_map(
            words
            | {
                "kind": kind,
                "article": "an" if kind.startswith("e") else "a",
                "summary": summaries[kind],
                "fields": f"\n        {FIELDS[kind]}," if FIELDS[kind] else "",
            }
        )
        for kind in kinds
    )
    modules = {
        f"{package}/{kind}.py": _renamed(inspect.getsource(starter), name, class_name)
        for kind, starter in starters.items()
    }
    return {
        "pyproject.toml": _PROJECT.format_map(words),
        "README.md": _README.format_map(words),
        f"{package}/__init__.py": _MODULE + "".join(hooks),
        **modules,
        "tests/test_contract.py": _TEST.format_map(words),
    }


def _renamed(source: str, name: str, class_name: str) -> str:
    return re.sub(r"\bmine\b", name, re.sub(r"\bMine\b", class_name, source))
