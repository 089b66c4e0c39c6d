"""`faithkit attacks`: compare lies about models with the truth, and show what catches them."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from faithkit_attacks.attack_catalogue import Attack


def _set_debug(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and isinstance(ctx.obj, dict):
        ctx.obj["debug"] = True


@click.command()
@click.argument("attacks", nargs=-1, metavar="[ATTACK]…")
@click.option("--list", "listing", is_flag=True, help="List the attacks.")
@click.option(
    "--data",
    type=click.Choice(["applicants", "adult"]),
    default="applicants",
    show_default=True,
    help="Use synthetic applicants, which need no file, or people of the census data Adult.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=2),
    default=400,
    show_default=True,
    metavar="N",
    help="Explain N rows.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31),
    default=0,
    show_default=True,
    metavar="N",
    help="Start all random choices from this number.",
)
@click.option(
    "--out", "csv_file", metavar="FILE", help="Write the table to this file as CSV; - means stdout."
)
@click.option(
    "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
)
def attacks(
    attacks: tuple[str, ...], listing: bool, data: str, samples: int, seed: int, csv_file: str | None
) -> None:
    """Measure lies about models, each next to its honest twin. By default, measure all of them.

    Both are evaluated by the defaults, and the verdicts shown. A measure catches the lie if the two
    intervals do not overlap and the lie has the worse one; an objection, if the twin has none; a warning too,
    unless the lie is called faithful all the same.
    """
    from faithkit_attacks.attack_catalogue import select_attacks

    selected_attacks = select_attacks(attacks)
    if listing:
        width = max(len(attack.name) for attack in selected_attacks)
        for attack in selected_attacks:
            click.echo(f"{attack.name:<{width}}  {attack.summary}")
        return
    _measure_attacks(selected_attacks, data, samples, seed, csv_file)


def _measure_attacks(
    attacks: "list[Attack]", data: str, samples: int, seed: int, csv_file: str | None
) -> None:
    import faithkit
    from faithkit_attacks.attack_catalogue import why_not_installed
    from faithkit_attacks.attack_table import format_csv, format_text
    from faithkit_attacks.measuring import READER, measure_attack
    from faithkit_attacks.scenarios import SCENARIOS

    left_out = {attack.name: reason for attack in attacks if (reason := attack.why_not())}
    if len(left_out) == len(attacks):
        raise faithkit.errors.UnknownComponentError(next(iter(left_out.values())))
    scenario, results = SCENARIOS[data](samples, seed), []
    for attack in attacks:
        if attack.name in left_out:
            continue
        with warnings.catch_warnings():
            # these lies are deliberate, so warnings about them say nothing new
            warnings.simplefilter("ignore", faithkit.errors.FaithkitWarning)
            results.append(measure_attack(attack, scenario, seed))
        if csv_file != "-":
            click.echo(format_text(results[-1]) + "\n")
    for name, reason in {**left_out, READER: why_not_installed("diagnostic", READER)}.items():
        if reason is not None:
            click.echo(f"{name} was not measured: {reason}", err=True)
    if csv_file == "-":
        click.echo(format_csv(results), nl=False)
    elif csv_file is not None:
        _write_file(csv_file, format_csv(results))


def _write_file(file: str, text: str) -> None:
    import faithkit

    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise faithkit.errors.InputError(
            f"cannot write {file}: {error.strerror}. Name a file in a folder that you can write to."
        ) from None
