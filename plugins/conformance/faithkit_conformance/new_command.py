"""`faithkit new`: write a small plugin package that already passes `faithkit check`."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import click

from faithkit.errors import InputError
from faithkit.plugin import option

FIELDS = {
    "explainer": 'inputs=("table",)',
    "relation": 'kinds=("vector",)',
    "discretizer": 'kinds=("vector",)',
    "estimator": "",
    "diagnostic": "",
}
"""The kinds of component that can be written, each with the extra fields of its `Component`."""

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
dependencies = ["faithkit>=0.3.0.dev0"]

[project.optional-dependencies]
dev = ["faithkit-conformance>=0.3.0.dev0", "pytest"]

[project.entry-points.faithkit]
{name} = "{package}"

[tool.hatch.build.targets.wheel]
packages = ["{package}"]
"""
_README = """\
# {distribution}

{summary}

    python -m pip install --editable '.[dev]'
    faithkit check {distribution}
    python -m pytest
"""
_MODULE = '''\
"""The components of this package; importing this module must stay fast."""

from collections.abc import Iterable

from faithkit.plugin import Component, hookimpl

FAITHKIT_API = 1
'''
_HOOK = '''

@hookimpl
def faithkit_{kind}s() -> Iterable[Component]:
    """Offer {article} {kind}."""
    yield Component(
        name="{name}",
        factory="{package}.{kind}:{class_name}",
        summary="{summary}",{fields}
    )
'''
_TEST = '''\
"""The contract, check by check."""

from faithkit_conformance import parametrize_with_checks


@parametrize_with_checks("{distribution}")
def test_the_plugin_keeps_the_contract(check):
    check.run()
'''


@click.command()
@click.argument("kind", type=click.Choice([*FIELDS, "plugin"]))
@click.argument("name")
@option(
    "--folder FOLDER", "Output", "Write the package into this folder instead of the current one.", default="."
)
def command(kind: str, name: str, folder: str) -> None:
    """Write a package with an explainer, a relation, a discretizer, an estimator or a diagnostic called NAME.

    The package passes `faithkit check`; change it step by step. For the kind plugin, it has one of each.
    """
    if not _NAME.fullmatch(name):
        proposal = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-0123456789") or "my-explainer"
        raise InputError(
            f"the name {name!r:.80} is not made of lower-case letters, digits and single dashes: write for "
            f"example {proposal!r}."
        )
    kinds = list(FIELDS) if kind == "plugin" else [kind]
    project = Path(folder) / f"faithkit-{name}"
    if project.exists():
        raise InputError(f"there is a {project} already: choose another name.")
    for path, text in _files(kinds, name).items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
        click.echo(f"wrote {project / path}")
    options = {"discretizer": "--discretize", "diagnostic": "--diagnose"}
    click.echo(f"\nNext:\n  python -m pip install --editable {project}\n  faithkit check faithkit-{name}")
    click.echo(f"  faithkit evaluate {options.get(kinds[0], f'--{kinds[0]}')} {name}")


def _files(kinds: list[str], name: str) -> dict[str, str]:
    """Return the text of each file of a package, by its path in the package."""
    package = f"faithkit_{name.replace('-', '_')}"
    class_name = "".join(word.capitalize() for word in name.split("-"))
    templates = {kind: import_module(f"faithkit_conformance.starters.{kind}") for kind in kinds}
    summaries = {
        kind: (module.Starter.__doc__ or "").partition("\n")[0] for kind, module in templates.items()
    }
    fields = {
        "distribution": f"faithkit-{name}",
        "name": name,
        "package": package,
        "summary": summaries[kinds[0]],
        "class_name": class_name,
    }
    hooks = (
        _HOOK.format_map(
            fields
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
        f"{package}/{kind}.py": _rename(inspect.getsource(module), name, class_name)
        for kind, module in templates.items()
    }
    return {
        "pyproject.toml": _PROJECT.format_map(fields),
        "README.md": _README.format_map(fields),
        f"{package}/__init__.py": _MODULE + "".join(hooks),
        **modules,
        "tests/test_contract.py": _TEST.format_map(fields),
    }


def _rename(source: str, name: str, class_name: str) -> str:
    return re.sub(r"\bstarter\b", name, re.sub(r"\bStarter\b", class_name, source))
