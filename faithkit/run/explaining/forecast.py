"""How long a run will take, and what would be faster."""

import joblib

from faithkit.run.explaining.execution import Execution

LONG = 60.0  # seconds: beyond, people want to know
WORTH = 20  # rows: fewer tell nothing about a model


def forecast(who: str, rows: int, per_row: float, execution: Execution, at_most: bool = False) -> str:
    """Say how long the rows that are left will take, and what would be faster.

    Rows that advance together end together, so that by the first of them it is no more than a limit.

    Examples
    --------
    >>> print(forecast("anchors", 16_000, 0.05, Execution(n_jobs=joblib.cpu_count(), store="kept")))
    anchors: 16,000 rows more take about 13 min (50 ms a row). 1,200 rows (CLI: --samples) take a minute.
    """
    seconds = rows * per_row
    about = "at most" if at_most else "about"
    found = [f"{who}: {rows:,} rows more take {about} {duration(seconds)} ({duration(per_row)} a row)."]
    cores = joblib.cpu_count()
    if execution.n_jobs == 1 and cores > 1:
        found.append(f"n_jobs={cores} (CLI: --n-jobs {cores}) takes {about} {duration(seconds / cores)}.")
    in_a_minute = int(float(f"{LONG / per_row:.2g}"))
    if WORTH <= in_a_minute < rows:
        found.append(f"{in_a_minute:,} rows (CLI: --samples) take a minute.")
    if execution.store is None:
        found.append("A store (CLI: --store) keeps what is done.")
    return " ".join(found)


def duration(seconds: float) -> str:
    """Return a length of time as people say it.

    >>> [duration(s) for s in (0.0004, 0.05, 0.6, 2.3, 59.7, 61, 810, 86_000, 900_000)]
    ['0.4 ms', '50 ms', '600 ms', '2.3 s', '60 s', '61 s', '14 min', '24 h', '10 days']
    """
    if seconds < 1:
        return f"{_two_digits(seconds * 1000)} ms"
    if seconds < 120:
        return f"{_two_digits(seconds)} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.0f} days"


def _two_digits(number: float) -> str:
    return f"{number:.2g}" if number < 10 else f"{number:.0f}"
