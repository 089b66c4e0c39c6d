"""How far a run is: on stderr, with rate and time left, and only where a person is looking."""

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_bar(wanted: bool, total: int, done: int) -> Iterator[Callable[[int], None]]:
    """Show a bar and yield a function that advances it; silent when stderr is no terminal."""
    if not wanted or not sys.stderr.isatty() or done >= total:
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("explaining"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("explaining", total=total, completed=done, rate="")

        def advance(rows: int) -> None:
            bar.advance(task, rows)
            speed = bar.tasks[0].speed
            bar.update(task, rate="" if speed is None else f"{speed:.3g} rows/s")

        yield advance
