"""`faithkit monitor`: compare a stream of logs with a reference at every look, and raise an alarm."""

from typing import TYPE_CHECKING, Any

import click

import faithkit

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithkit_monitor.batches import Columns
    from faithkit_monitor.monitor import Monitor

ALARM = 3  # the exit code


@faithkit.plugin.reporting
@click.argument("state", type=click.Path())
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@click.option(
    "--reference",
    metavar="LOG",
    type=click.Path(),
    help="Compare new rows with those of this log; the state is made of it.",
)
@click.option(
    "--prediction",
    metavar="NAMES",
    help="Read the predictions from this column; several, with wildcards, are scores or outputs: 'p_*'.",
)
@click.option(
    "--explanation",
    metavar="NAMES",
    multiple=True,
    help="Read the explanations from these columns, with wildcards: 'phi_*'. Can be given several times.",
)
@click.option(
    "--discretize",
    "discretizer",
    metavar="NAME",
    help="Use this discretizer, which says what explanations count as equal.  [default: original]",
)
@click.option(
    "--confidence",
    type=float,
    metavar="SHARE",
    help="Give all intervals together this confidence.  [default: 0.95]",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="Start the random split of the reference from this number.  [default: 0]",
)
@click.option(
    "--outcome",
    type=click.Choice(["labels", "numbers", "scores"]),
    help="Say what predictions are.  [default: numbers if they have fractions, else labels]",
)
@click.option(
    "--agree",
    metavar="within:N",
    help="Take predictions that are numbers as equal if they differ by at most N: within:2000.",
)
def monitor(
    deliver: "Callable[[Monitor], None]",
    state: str,
    logs: tuple[str, ...],
    reference: str | None,
    prediction: str | None,
    explanation: tuple[str, ...],
    **options: Any,
) -> None:
    """Compare each LOG with the reference of STATE, once, and say whether anything has changed.

    LOG is a file, a pattern, a folder of files, or a folder that is partitioned by date (date=2026-11-14/),
    of which every new day is added. STATE is one file, which holds counts and no rows. The first run makes
    it, with --reference; its options need not be repeated. Without LOG, STATE is shown as it is. The command
    ends with code 3 once an alarm was raised.
    """
    from faithkit_monitor.monitor import Monitor

    chosen = {name: value for name, value in options.items() if value is not None}
    columns = _columns(prediction, explanation, is_needed=reference is not None)
    if reference is not None and columns is not None:
        _create(state, reference, columns, chosen)
    elif chosen:
        names = " and ".join(f"--{name.replace('discretizer', 'discretize')}" for name in chosen)
        raise click.UsageError(f"{names} cannot change once the state is made: give --reference, too.")
    settled = _settled_columns(Monitor.open(state), columns)
    errors = [error for log in logs for error in _add(state, log, settled)]
    latest = Monitor.open(state)
    deliver(latest)
    if latest.alarm is not None:
        click.echo(f"alarm: raised at {latest.alarm['look']}.", err=True)
    if errors:
        raise faithkit.errors.InputError(" ".join(errors))
    if latest.alarm is not None:
        raise click.exceptions.Exit(ALARM)


def _columns(prediction: str | None, explanation: tuple[str, ...], is_needed: bool) -> "Columns | None":
    from faithkit_monitor.batches import Columns

    if prediction is not None and explanation:
        return Columns(prediction, explanation)
    if is_needed or prediction is not None or explanation:
        raise click.UsageError("--prediction and --explanation go together, and --reference needs them.")
    return None


def _create(state: str, reference: str, columns: "Columns", chosen: dict[str, Any]) -> None:
    """Make a state of a log, or check that it was made of the same log."""
    from faithkit_monitor.batches import batches
    from faithkit_monitor.monitor import Monitor

    counting = {name: chosen[name] for name in ("discretizer", "outcome", "agree") if name in chosen}
    parts = [batch.count(columns, **counting) for batch in batches(reference)]
    more = {name: chosen[name] for name in ("confidence", "seed") if name in chosen}
    Monitor.of_counts(state, parts, columns=columns.to_dict(), **more)


def _settled_columns(monitor: "Monitor", columns: "Columns | None") -> "Columns":
    """Return the columns that a state was made with, and refuse others."""
    from faithkit_monitor.batches import Columns

    known = monitor.settings["columns"]
    if known is not None and columns is not None:
        monitor.check_settled({"columns": columns.to_dict()})
    if known is None and columns is None:
        raise faithkit.errors.InputError(
            f"the state {monitor.path} was made in Python, and knows no columns: name them with --prediction "
            "and --explanation."
        )
    return columns or Columns(known["prediction"], tuple(known["explanation"]))


def _add(state: str, log: str, columns: "Columns") -> list[str]:
    """Add every batch that a path names, and return what went wrong with any."""
    from faithkit_monitor.batches import batches
    from faithkit_monitor.monitor import Monitor

    errors = []
    try:
        parts, known = batches(log), {look.name for look in Monitor.open(state).looks}
        n_known = sum(batch.is_daily and batch.name in known for batch in parts)
        if n_known:
            click.echo(f"{n_known:,} of {len(parts):,} days are in already.", err=True)
    except faithkit.FaithkitError as error:
        return [str(error)]
    for batch in parts:
        monitor = Monitor.open(state)
        try:
            counts = batch.count(columns, **monitor.counting)
            monitor.add_counts(counts, batch.name, batch.partition, skip_known=batch.is_daily)
        except faithkit.FaithkitError as error:
            errors.append(str(error))
    return errors
