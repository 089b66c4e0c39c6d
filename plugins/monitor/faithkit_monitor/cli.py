"""`faithkit monitor`: compare a stream of logs with a reference at every look, and raise an alarm."""

from typing import TYPE_CHECKING, Any

import click

import faithkit

if TYPE_CHECKING:
    from collections.abc import Callable

    from faithkit_monitor.log_batches import Columns
    from faithkit_monitor.monitor import Monitor

ALARM = 3  # the exit code
EXAMPLES = """\b
Examples:
  faithkit monitor loans.state --reference may.parquet --prediction decision --explanation 'phi_*'
  faithkit monitor loans.state june.parquet july.parquet"""


@faithkit.plugin.report_command
@click.argument("state", type=click.Path())
@click.argument("logs", metavar="[LOG]...", nargs=-1, type=click.Path())
@faithkit.plugin.option(
    "--reference LOG",
    "Checks and gates",
    "Compare new rows with those of this log, from which the state is created.",
    type=click.Path(),
)
@faithkit.plugin.option(
    "--prediction NAMES",
    "Data",
    "Read the predictions from this column, or scores and outputs from several, with wildcards: 'p_*'.",
)
@faithkit.plugin.option(
    "--explanation NAMES",
    "Data",
    "Read the explanations from these columns, with wildcards ('phi_*'); can be given several times.",
    multiple=True,
)
@faithkit.plugin.option(
    "--discretize NAME",
    "Measure",
    "Use this discretizer, which decides which explanations count as equal.  [default: original]",
    "discretizer",
)
@faithkit.plugin.option(
    "--confidence SHARE",
    "Measure",
    "Give all intervals together this confidence.  [default: 0.95]",
    type=float,
)
@faithkit.plugin.option(
    "--seed N", "Running", "Start the random split of the reference from this number.  [default: 0]", type=int
)
@faithkit.plugin.option(
    "--outcome",
    "Measure",
    "Treat predictions as labels, numbers or scores.  [default: numbers if they have fractions, else labels]",
    type=click.Choice(["labels", "numbers", "scores"]),
)
@faithkit.plugin.option(
    "--agree within:N",
    "Measure",
    "Treat predicted numbers as equal if they differ by at most N: within:2000.",
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
    """Compare each LOG with the reference of STATE, once, and report whether anything has changed.

    LOG is a file, a pattern, a folder of files, or a folder that is partitioned by date (date=2026-11-14/),
    of which every new day is added. STATE is one file, which holds counts and no rows. The first run creates
    it, with --reference; later runs use the same options. Without LOG, STATE is only shown. The exit code is
    3 once an alarm was raised.
    """
    from faithkit_monitor.monitor import Monitor

    chosen_options = {name: value for name, value in options.items() if value is not None}
    columns = _parse_columns(prediction, explanation, is_needed=reference is not None)
    if reference is not None and columns is not None:
        _create(state, reference, columns, chosen_options)
    elif chosen_options:
        names = " and ".join(f"--{name.replace('discretizer', 'discretize')}" for name in chosen_options)
        raise click.UsageError(f"{names} cannot change once the state exists: give --reference as well.")
    log_columns = _resolve_columns(Monitor.open(state), columns)
    additions = [_add(state, log, log_columns) for log in logs]
    errors = [error for _, messages in additions for error in messages]
    latest = Monitor.open(state)
    deliver(latest)
    if latest.alarm is not None:
        click.echo(f"alarm: raised at {latest.alarm['look']}.", err=True)
    if errors:
        added = [name for names, _ in additions for name in names]
        raise faithkit.errors.InputError(" ".join([*errors, _describe_additions(added)]))
    if latest.alarm is not None:
        raise click.exceptions.Exit(ALARM)


monitor.epilog = EXAMPLES


def _parse_columns(prediction: str | None, explanation: tuple[str, ...], is_needed: bool) -> "Columns | None":
    from faithkit_monitor.log_batches import Columns

    if prediction is not None and explanation:
        return Columns(prediction, explanation)
    if is_needed or prediction is not None or explanation:
        raise click.UsageError("--prediction and --explanation go together, and --reference needs them.")
    return None


def _create(state: str, reference: str, columns: "Columns", options: dict[str, Any]) -> None:
    """Create a state from a reference log, or check that it was created from the same log."""
    from faithkit_monitor.log_batches import list_batches
    from faithkit_monitor.monitor import Monitor

    count_options = {name: options[name] for name in ("discretizer", "outcome", "agree") if name in options}
    counts = [batch.count(columns, **count_options) for batch in list_batches(reference)]
    state_options = {name: options[name] for name in ("confidence", "seed") if name in options}
    Monitor.of_counts(state, counts, columns=columns.to_dict(), **state_options)


def _resolve_columns(monitor: "Monitor", columns: "Columns | None") -> "Columns":
    """Return the columns that a state was created with; raise an error if others are given."""
    from faithkit_monitor.log_batches import Columns

    stored = monitor.settings["columns"]
    if stored is not None and columns is not None:
        monitor.check_settings({"columns": columns.to_dict()})
    if stored is None and columns is None:
        raise faithkit.errors.InputError(
            f"the state {monitor.path} was created in Python and stores no columns: name them with "
            "--prediction and --explanation."
        )
    return columns or Columns(stored["prediction"], tuple(stored["explanation"]))


def _add(state: str, log: str, columns: "Columns") -> tuple[list[str], list[str]]:
    """Add every batch at a path; return the names of those that were added, and the error messages."""
    from faithkit_monitor.log_batches import list_batches
    from faithkit_monitor.monitor import Monitor

    names: list[str] = []
    errors: list[str] = []
    try:
        log_batches, looks = list_batches(log), {look.name for look in Monitor.open(state).looks}
        n_added = sum(batch.is_daily and batch.name in looks for batch in log_batches)
        if n_added:
            click.echo(f"{n_added:,} of {len(log_batches):,} days were added before.", err=True)
    except faithkit.errors.FaithkitError as error:
        return [], [str(error)]
    for batch in log_batches:
        monitor = Monitor.open(state)
        try:
            counts = batch.count(columns, **monitor.counting)
            if monitor.add_counts(counts, batch.name, skip_known=batch.is_daily) is not monitor:
                names.append(batch.name)
        except faithkit.errors.FaithkitError as error:
            errors.append(str(error))
    return names, errors


def _describe_additions(names: list[str]) -> str:
    from faithkit_monitor.tallies import SHOWN

    if len(names) > SHOWN:
        return f"This run added {len(names):,} batches."
    return f"This run added {', '.join(names) or 'nothing'}."
