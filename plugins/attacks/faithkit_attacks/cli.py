"""`faithkit attacks`: lies about a model beside the truth, and which measures catch them."""

import warnings
from pathlib import Path

import click


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
    help="Take made-up applicants, which need no file, or people of the census data Adult.",
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
@click.option("--csv", "csv_file", metavar="FILE", help="Write the table to this file, - for stdout.")
@click.option(
    "--debug", is_flag=True, expose_value=False, callback=_set_debug, help="Show the traceback of an error."
)
def attacks(
    attacks: tuple[str, ...], listing: bool, data: str, samples: int, seed: int, csv_file: str | None
) -> None:
    """Measure lies about models (all that are known, if none is named), and the truth beside each.

    Every measure is applied to both. It catches the lie where the two intervals have nothing in common, and
    the lie's is the worse one.
    """
    from faithkit_attacks.catalogue import chosen

    wanted = chosen(attacks)
    if listing:
        width = max(len(attack.name) for attack in wanted)
        for attack in wanted:
            click.echo(f"{attack.name:<{width}}  {attack.summary}")
        return
    _tell([attack.name for attack in wanted], data, samples, seed, csv_file)


def _tell(names: list[str], data: str, samples: int, seed: int, csv_file: str | None) -> None:
    import faithkit
    from faithkit_attacks.catalogue import chosen
    from faithkit_attacks.measuring import find
    from faithkit_attacks.table import as_csv, as_text
    from faithkit_attacks.worlds import WORLDS

    world, findings = WORLDS[data](samples, seed), []
    for attack in chosen(tuple(names)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", faithkit.FaithkitWarning)  # it is known that these lie
            findings.append(find(attack, world, seed))
        if csv_file != "-":
            click.echo(as_text(findings[-1]) + "\n")
    if csv_file == "-":
        click.echo(as_csv(findings), nl=False)
    elif csv_file is not None:
        _write(csv_file, as_csv(findings))


def _write(file: str, text: str) -> None:
    import faithkit

    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise faithkit.errors.InputError(
            f"cannot write {file}: {error.strerror}. Name a file in a folder that you can write to."
        ) from None
