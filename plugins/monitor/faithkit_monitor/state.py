"""The state of a monitor: one SQLite file, to which looks are added.

A look is one transaction: even if the process is killed, it is either complete or absent. Writers wait for
each other. The file contains numbers, names and JSON.
"""

import contextlib
import json
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs

import faithkit

APPLICATION = 0x6661_6974  # "fait"
FORMAT = 1  # of these tables and of the settings in them; versions up to 0.2.0 wrote none
TIMEOUT = 60.0  # seconds that a writer waits for another

TABLES = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE pool (explanation BLOB, prediction TEXT, instances INTEGER NOT NULL, "
    "PRIMARY KEY (explanation, prediction)) WITHOUT ROWID",
    "CREATE TABLE looks (number INTEGER PRIMARY KEY, value TEXT NOT NULL)",
)

Json = dict[str, Any]


@attrs.frozen
class State:
    """A state file, which may not exist yet."""

    path: Path

    def create(self, settings: Mapping[str, Any], pool: Iterable[tuple[bytes, str, int]]) -> bool:
        """Write a new state; return False if another process has already created it."""
        with self._connection("rwc") as state, _transaction(state):
            if not _is_empty(state):
                return False
            state.execute(f"PRAGMA application_id = {APPLICATION}")
            state.execute(f"PRAGMA user_version = {FORMAT}")
            for table in TABLES:
                state.execute(table)
            state.executemany("INSERT INTO pool VALUES (?, ?, ?)", pool)
            _write(state, settings)
        return True

    def read(self) -> tuple[Json, list[Json]]:
        """Return the settings and the looks, in the order in which they were added."""
        with self._existing() as state, _transaction(state, "DEFERRED"):
            (check,) = state.execute("PRAGMA quick_check(1)").fetchone()
            if check != "ok":
                raise faithkit.errors.InputError(
                    f"the state {self.path} is damaged ({' '.join(str(check).split())}): restore a copy."
                )
            return _settings(state), _looks(state)

    def pool(self, explanations: Iterable[bytes]) -> dict[bytes, dict[str, int]]:
        """Return the pool's counts of predictions for these explanations, by digest."""
        pool: dict[bytes, dict[str, int]] = {}
        with self._existing() as state:
            state.execute("CREATE TEMP TABLE requested (explanation BLOB PRIMARY KEY) WITHOUT ROWID")
            with _transaction(state, "DEFERRED"):
                state.executemany(
                    "INSERT OR IGNORE INTO requested VALUES (?)",
                    ((explanation,) for explanation in explanations),
                )
                query = "SELECT * FROM requested JOIN pool USING (explanation)"
                for explanation, prediction, count in state.execute(query):
                    pool.setdefault(explanation, {})[prediction] = count
        return pool

    def add(self, look: Callable[[Json, list[Json]], tuple[Json, Json] | None]) -> None:
        """Add a look.

        `look` receives the settings and all looks before it, and returns the settings that change and the new
        look, or None where there is nothing to add.
        """
        with self._existing() as state, _transaction(state):
            before = _looks(state)
            update = look(_settings(state), before)
            if update is not None:
                changed_settings, value = update
                _write(state, changed_settings)
                state.execute("INSERT INTO looks VALUES (?, ?)", (len(before), json.dumps(value)))

    @contextlib.contextmanager
    def _existing(self) -> Iterator[sqlite3.Connection]:
        missing = faithkit.errors.InputError(
            f"there is no state {self.path}: make one of a log to compare new rows with (--reference)."
        )
        if not self.path.exists():
            raise missing
        with self._connection() as state:
            if _is_empty(state):  # a run that was killed at its very beginning leaves an empty file
                raise missing
            yield state

    @contextlib.contextmanager
    def _connection(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """Open the file; raise an error if it is not a state."""
        if self.path.exists() and not self.path.is_file():
            raise faithkit.errors.InputError(f"the state {self.path} is no regular file: name a file.")
        uri = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        with raise_input_errors(f"using the state {self.path}"):
            connection = sqlite3.connect(uri, TIMEOUT, isolation_level=None, uri=True)
            with contextlib.closing(connection) as state:
                state.execute("PRAGMA trusted_schema = OFF")
                self._check(state)
                yield state

    def _check(self, state: sqlite3.Connection) -> None:
        """Refuse databases of other programs, and states of other versions."""
        with _transaction(state, "DEFERRED"):  # one snapshot, even if another process writes
            if _is_empty(state):
                return
            (application,) = state.execute("PRAGMA application_id").fetchone()
            (format_number,) = state.execute("PRAGMA user_version").fetchone()
            tables = [sql for (sql,) in state.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
            if application == APPLICATION and format_number != FORMAT and TABLES[0] in tables:
                raise self._refuse_version(_settings(state))
        if application != APPLICATION or sorted(tables) != sorted(TABLES):
            raise faithkit.errors.InputError(
                f"{self.path} is a database, and no state of a monitor: name another file."
            )

    def _refuse_version(self, settings: Json) -> faithkit.errors.InputError:
        version = settings.get("versions", {}).get("faithkit", "0.2.0 or earlier")
        return faithkit.errors.InputError(
            f"the state {self.path} was written by faithkit {version}, and faithkit {faithkit.__version__} "
            "cannot continue it. Move it away, make it again, and add its batches: "
            f"{_creation_command(self.path, settings)}"
        )


def _creation_command(path: Path, settings: Json) -> str:
    """Return the command that makes a state with these settings.

    >>> _creation_command(Path("loans.state"), {"discretizer": "sign", "columns": None})
    'faithkit monitor loans.state --reference LOG --prediction NAME --explanation NAMES --discretize sign'
    """
    columns = settings.get("columns") or {"prediction": "NAME", "explanation": ["NAMES"]}
    outcome = settings.get("outcome") or {"kind": "labels", "within": None, "unasked": True}
    options = [("--reference", "LOG"), ("--prediction", columns["prediction"])]
    options += (("--explanation", name) for name in columns["explanation"])
    for name, option, default in (
        ("discretizer", "--discretize", "original"),
        ("confidence", "--confidence", 0.95),
        ("seed", "--seed", 0),
    ):
        if settings.get(name, default) != default:
            options.append((option, str(settings[name])))
    if outcome["within"] is not None:
        options.append(("--agree", f"within:{outcome['within']!r}"))
    elif outcome["kind"] != "labels" or not outcome["unasked"]:
        options.append(("--outcome", outcome["kind"]))
    return shlex.join(["faithkit", "monitor", str(path), *(word for pair in options for word in pair)])


@contextlib.contextmanager
def raise_input_errors(action: str) -> Iterator[None]:
    """Turn any error with a state file into an `InputError` of one line."""
    try:
        yield
    except faithkit.errors.FaithkitError:
        raise
    except (sqlite3.Error, KeyError, TypeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise faithkit.errors.InputError(
            f"{action} failed with {type(error).__name__}: {reason}. Check that it is a complete file of a "
            "monitor, and that you may write to it."
        ) from error


@contextlib.contextmanager
def _transaction(state: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    state.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        state.execute("ROLLBACK")
        raise
    state.execute("COMMIT")


def _is_empty(state: sqlite3.Connection) -> bool:
    return state.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def _write(state: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    rows = ((name, json.dumps(value)) for name, value in settings.items())
    state.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows)


def _settings(state: sqlite3.Connection) -> Json:
    return {name: json.loads(value) for name, value in state.execute("SELECT * FROM settings")}


def _looks(state: sqlite3.Connection) -> list[Json]:
    return [json.loads(value) for (value,) in state.execute("SELECT value FROM looks ORDER BY number")]
