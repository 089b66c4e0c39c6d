"""How results reach the person: the table on stdout, or files that are whole or not there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Writers = dict[str, Callable[[Any], str]]


def _json(found: Any) -> str:
    text: str = found.to_json()
    return text


def _csv(found: Any) -> str:
    text: str = found.to_frame().to_csv(index=False)
    return text


def _html(found: Any) -> str:
    from faithkit.report.html import page

    return page(found)


WRITERS: Writers = {"json_path": _json, "csv_path": _csv, "html_path": _html}


def check_paths(**paths: str | None) -> dict[str, str]:
    """Refuse what cannot be written before anything is computed, and return the paths that were given."""
    from faithkit.errors import InputError

    given = {name: path for name, path in paths.items() if path is not None}
    if list(given.values()).count("-") > 1:
        raise click.UsageError("only one of --json, --csv and --html can be - (stdout).")
    for path in given.values():
        folder = Path(path).parent
        if path != "-" and (Path(path).is_dir() or not folder.is_dir()):
            what = f"{path} is a folder" if Path(path).is_dir() else f"there is no folder {folder}"
            raise InputError(f"cannot write {path}: {what}.")
    return given


def deliver(found: Any, paths: dict[str, str]) -> None:
    """Print the result, unless a file format takes its place on stdout; then write the files."""
    from faithkit.files import write_whole

    if "-" not in paths.values():
        click.echo(repr(found), nl=False)
    for name, path in paths.items():
        text = WRITERS[name](found)
        if path == "-":
            click.echo(text, nl=False)
        else:
            write_whole(path, text)
