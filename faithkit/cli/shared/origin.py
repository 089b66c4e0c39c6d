"""The origin of a result on the command line: its data, its model and the command."""

import hashlib
import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
import click

from faithkit.cli.shared.paths import resolve_model_path, resolve_path
from faithkit.cli.shared.verb import ARGUMENTS, OUTPUT, RUNNING, heading_of

if TYPE_CHECKING:
    from faithkit.run.provenance import Origin

KEPT = ("seed", "on_error", "contradictions")  # of the options about running and output: they change a result


def build_origin(data: str, model: str | None = None, is_held_out: bool = False) -> "Origin":
    """Return the origin of a result: file names without folders, and the command."""
    from faithkit.run.provenance import Origin

    model_file = model if model is not None and os.path.exists(model) else None
    return Origin(
        command=command_text(click.get_current_context()),
        data=_base_name(data),
        model_file=None if model_file is None else _base_name(model_file),
        model_fingerprint=None if model_file is None else _file_fingerprint(model_file),
        is_held_out=is_held_out,
    )


def add_origin(result: Any, inputs: dict[str, Any], prepared: Any) -> Any:
    """Return a result or a comparison with its origin, and the model's accuracy if the target is known."""
    origin = build_origin(inputs["data"], inputs["model"], prepared.is_held_out)
    result = result.with_origin(**attrs.asdict(origin))
    return result if prepared.target is None else result.with_target(prepared.target)


def command_text(ctx: click.Context) -> str:
    """Return the command of a context without folders, executor and outputs.

    Examples
    --------
    >>> from faithkit.cli import main
    >>> import click
    >>> from faithkit.cli.score import command
    >>> words = ["logs/may.csv", "--prediction", "p", "--explanation", "phi_*", "--out", "out/may.html"]
    >>> with command.make_context("score", words) as ctx:
    ...     command_text(ctx)
    "faithkit score may.csv --prediction p --explanation 'phi_*'"
    """
    values, _, _ = ctx.command.make_parser(ctx).parse_args(list(ctx.meta[ARGUMENTS]))
    words = (word for param in ctx.command.params if _is_kept(param) for word in _words(param, values))
    return shlex.join(["faithkit", str(ctx.info_name), *words])


def _is_kept(param: click.Parameter) -> bool:
    return param.name in KEPT or heading_of(param) not in (RUNNING, OUTPUT)


def _words(param: click.Parameter, values: dict[str, Any]) -> Iterator[str]:
    """Yield the words that a parameter was typed with; none if it was left out."""
    if param.name not in values:
        return
    value = values[param.name]
    for item in value if isinstance(value, list) else [value]:
        if isinstance(param, click.Option):
            yield param.opts[0]
        if isinstance(item, str):
            is_path = param.callback in (resolve_path, resolve_model_path)
            yield _base_name(item) if is_path else item


def _base_name(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


def _file_fingerprint(path: str) -> str | None:
    """Return a fingerprint of a file's content, 32 hex digits; None for a folder."""
    if os.path.isdir(path):
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
