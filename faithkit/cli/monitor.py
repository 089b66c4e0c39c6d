"""`faithkit monitor`: a stream of logs, compared with a reference at every look, and an alarm."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.delivery import deliver, every
from faithkit.cli.options import begin, option, output, predicting
from faithkit.cli.places import check_paths, placed, placed_all, placed_folder
from faithkit.cli.streams import Verb, tell
from faithkit.supervision import MISSED

if TYPE_CHECKING:
    from faithkit.run.monitoring.batches import Columns
    from faithkit.run.monitoring.monitor import Monitor


@click.command(cls=Verb)
@click.argument("state", metavar="STATE", callback=placed_folder)
@click.argument("logs", metavar="[LOG]...", nargs=-1, callback=placed_all)
@option(
    "--reference LOG",
    callback=placed,
    help="Compare new rows with those of this log; the state is made of it.",
)
@option(
    "--prediction NAMES",
    help="Read the predictions from this column; several, with wildcards, are scores or outputs: 'p_*'.",
)
@option(
    "--explanation NAMES",
    multiple=True,
    help="Read the explanations from these columns, with wildcards: 'phi_*'. Can be given several times.",
)
@option(
    "--discretize NAME",
    "discretizer",
    help="Use this discretizer, which says what explanations count as equal.  [default: original]",
)
@option(
    "--confidence SHARE", type=float, help="Give all intervals this confidence, together.  [default: 0.95]"
)
@option("--seed N", type=int, help="Start the draw of the pool from this number.  [default: 0]")
@predicting
@output
def command(
    state: str,
    logs: tuple[str, ...],
    reference: str | None,
    prediction: str | None,
    explanation: tuple[str, ...],
    output: dict[str, Any],
    **options: Any,
) -> None:
    """Compare each LOG with the reference of STATE, once, and say whether anything has changed.

    LOG is a CSV or Parquet file, a folder of them, or one that is partitioned by date (date=2026-11-14/), of
    which every new day is added. STATE is one file, which holds counts and no rows; the first run makes it,
    with --reference, and what is asked for then need not be asked for again. Without LOG, STATE is shown as
    it is. The command ends with code 3 once an alarm was raised.
    """
    from faithkit.run.monitoring.logs import settle, settled_columns

    asked = {name: value for name, value in options.items() if value is not None}
    begin(asked)
    paths = check_paths(output, kept=[state])
    columns = _columns(prediction, explanation, needed=reference is not None)
    if reference is not None and columns is not None:
        settle(state, reference, columns, **asked)
    known = settled_columns(state, columns, **asked)
    every([*(partial(_add, state, log, known) for log in logs), partial(_show, state, paths)])


def _columns(prediction: str | None, explanation: tuple[str, ...], needed: bool) -> "Columns | None":
    from faithkit.run.monitoring.batches import Columns

    if prediction is not None and explanation:
        return Columns(prediction, explanation)
    if needed or prediction is not None or explanation:
        raise click.UsageError("--prediction and --explanation go together, and --reference needs them.")
    return None


def _add(state: str, log: str, columns: "Columns") -> None:
    """Add what a path names, batch by batch, each whatever became of the others."""
    from faithkit.run.monitoring.batches import batches
    from faithkit.run.monitoring.logs import add_batch
    from faithkit.run.monitoring.monitor import Monitor

    found, known = batches(log), {look.name for look in Monitor.open(state).looks}
    before = sum(batch.daily and batch.name in known for batch in found)
    if before:
        tell(f"{before:,} of {len(found):,} days are in already.")
    every(partial(add_batch, state, batch, columns) for batch in found)


def _show(state: str, paths: dict[str, str]) -> None:
    """Show what the state tells by now, whoever added to it, and end with code 3 if an alarm was raised."""
    from faithkit.run.monitoring.monitor import Monitor

    found = Monitor.open(state)
    every([partial(deliver, found, paths), partial(_judge, found)])


def _judge(found: "Monitor") -> None:
    if found.alarm is not None:
        tell(f"alarm: raised at {found.alarm['look']}.")
        raise click.exceptions.Exit(MISSED)
