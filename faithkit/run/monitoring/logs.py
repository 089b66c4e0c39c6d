"""Logs on disk, monitored: a state that was made of one, and batches of others in the same columns."""

from typing import Any

from faithkit.errors import FaithkitError, InputError
from faithkit.run.monitoring.batches import Batch, Columns, batches
from faithkit.run.monitoring.making import asked_outcome, check_asked, chosen, make
from faithkit.run.monitoring.monitor import Monitor
from faithkit.run.monitoring.tallies import Tallies


def settle(
    state: str,
    reference: str,
    columns: Columns,
    discretizer: str = "original",
    outcome: str | None = None,
    agree: str | None = None,
    **asked: Any,
) -> None:
    """Make a state of a log, or see that it was made of the same one."""
    way, said = chosen(discretizer), asked_outcome(outcome, agree)
    counted = Tallies.united(batch.read(columns, way, said) for batch in batches(reference))
    make(state, counted, way, columns=columns.to_dict(), **asked)


def settled_columns(
    state: str, given: Columns | None, outcome: str | None = None, agree: str | None = None, **asked: Any
) -> Columns:
    """Return the columns that a state was made with, and refuse what is asked for otherwise."""
    settings, said = Monitor.open(state).settings, asked_outcome(outcome, agree)
    if "discretizer" in asked:
        asked["discretizer"] = chosen(asked["discretizer"]).text
    if said is not None:
        asked["outcome"] = said.to_dict()
    known = settings["columns"]
    if known is not None and given is not None:
        asked["columns"] = given.to_dict()
    check_asked(state, settings, asked)
    if known is None and given is None:
        raise InputError(
            f"the state {state} was made in Python, and knows no columns: name them with --prediction and "
            "--explanation."
        )
    return given or Columns(known["prediction"], tuple(known["explanation"]))


def add_batch(state: str, batch: Batch, columns: Columns) -> None:
    """Count a batch and add it to a state; a day of a folder may be in already, for it is named every day."""
    monitor = Monitor.open(state)
    try:
        found = batch.read(columns, monitor.discretizer, monitor.outcome)
    except FaithkitError as error:  # of many logs: which one was it?
        raise error if batch.name in str(error) else type(error)(f"{batch.name}: {error}") from error
    monitor.extended(found, batch.name, batch.partition, again=batch.daily)
