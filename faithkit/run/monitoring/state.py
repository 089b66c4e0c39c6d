"""The state of a monitor: one SQLite file, to which whole looks are added and nothing else.

A look is one transaction: it is in the file or it is not, whenever the process is killed. Writers wait for
one another. The file is not trusted: its tables must be those written down here, to the letter, and it holds
numbers, names and JSON.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.files.discovery import is_folder
from faithkit.wording import one_line

APPLICATION = 0x6661_6974  # "fait"
VERSION = 1
PATIENCE = 60.0  # seconds that a writer waits for another
SUPER_JOURNAL = bytes.fromhex("d9d505f920a163d7")  # how a journal ends that names a file to delete

TABLES = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, told TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE pool (explanation BLOB, prediction TEXT, instances INTEGER NOT NULL, "
    "PRIMARY KEY (explanation, prediction)) WITHOUT ROWID",
    "CREATE TABLE looks (number INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, told TEXT NOT NULL)",
)


Told = dict[str, Any]


@attrs.frozen
class State:
    """A file, whether it is there or not."""

    path: Path

    def create(self, settings: Mapping[str, Any], pool: Iterable[tuple[bytes, str, int]]) -> bool:
        """Write a new state, and return whether it was: another process may have been faster."""
        with self._connected("rwc") as state, _transaction(state):
            if not _is_empty(state):
                return False
            state.execute(f"PRAGMA application_id = {APPLICATION}")
            state.execute(f"PRAGMA user_version = {VERSION}")
            for table in TABLES:
                state.execute(table)
            state.executemany("INSERT INTO pool VALUES (?, ?, ?)", pool)
            _write(state, settings)
        return True

    def read(self) -> tuple[Told, list[Told]]:
        """Return the settings and the looks, in the order in which they were added."""
        with self._made() as state, _transaction(state, "DEFERRED"):
            sound = _pragma(state, "quick_check(1)")
            if sound != "ok":
                raise InputError(
                    f"the state {self.path} is damaged ({one_line(str(sound))}): take a copy of it."
                )
            return _settings(state), _looks(state)

    def pool(self, explanations: Iterable[bytes]) -> dict[bytes, dict[str, int]]:
        """Return what the pool knows of some explanations, by their digests."""
        found: dict[bytes, dict[str, int]] = {}
        with self._made() as state:
            state.execute("CREATE TEMP TABLE asked (explanation BLOB PRIMARY KEY) WITHOUT ROWID")
            with _transaction(state, "DEFERRED"):
                state.executemany("INSERT OR IGNORE INTO asked VALUES (?)", ((one,) for one in explanations))
                for name, label, count in state.execute("SELECT * FROM asked JOIN pool USING (explanation)"):
                    found.setdefault(name, {})[label] = count
        return found

    def add(self, fingerprint: str, look: Callable[[Told, list[Told]], tuple[Told, Told] | None]) -> None:
        """Add a look: `look` is given settings and all looks before, and returns what changes, and itself.

        None says that there is nothing to add.
        """
        with self._made() as state, _transaction(state):
            before = _looks(state)
            found = look(_settings(state), before)
            if found is None:
                return
            changed, told = found
            _write(state, changed)
            state.execute("INSERT INTO looks VALUES (?, ?, ?)", (len(before), fingerprint, json.dumps(told)))

    @contextlib.contextmanager
    def _made(self) -> Iterator[sqlite3.Connection]:
        nothing = InputError(
            f"there is no state {self.path}: make one, of a log to compare new rows with (--reference)."
        )
        if not self.path.exists():
            raise nothing
        with self._connected() as state:
            if _is_empty(state):  # what a run leaves that was killed at its very beginning
                raise nothing
            yield state

    @contextlib.contextmanager
    def _connected(self, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """Open the file, and refuse one that is no state."""
        if self.path.exists() and is_folder(self.path):
            raise InputError(f"the state {self.path} is a folder; expected a file: name one in it.")
        advice = "Check that it is a whole file which a monitor made, and that you may write to it."
        with foreign(f"the state {self.path}", advice):
            self._check_journal()
            where = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
            opened = sqlite3.connect(where, PATIENCE, isolation_level=None, uri=True)
            with contextlib.closing(opened) as state:
                state.execute("PRAGMA trusted_schema = OFF")
                self._check(state)
                yield state

    def _check_journal(self) -> None:
        """Refuse a journal that names a super-journal, which SQLite deletes; no state's own journal does."""
        journal = Path(f"{os.path.realpath(self.path)}-journal")  # SQLite follows links, too
        if journal.is_file() and _ending(journal) == SUPER_JOURNAL:
            raise InputError(
                f"{journal} names a file that SQLite would delete, which no monitor writes: do not use this "
                "state, or remove the journal if you trust it."
            )

    def _check(self, state: sqlite3.Connection) -> None:
        """Refuse files of others and of the future."""
        with _transaction(state, "DEFERRED"):  # one reading, whoever writes meanwhile
            if _is_empty(state):
                return
            application, version = (_pragma(state, name) for name in ("application_id", "user_version"))
            tables = [sql for (sql,) in state.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
        if application == APPLICATION and version > VERSION:
            raise InputError(
                f"the state {self.path} has format {version}, and this faithkit knows {VERSION}: update it."
            )
        if application != APPLICATION or sorted(tables) != sorted(TABLES):
            raise InputError(f"{self.path} is a database, and no state of a monitor: name another file.")


def _ending(journal: Path) -> bytes:
    """Return the last bytes of a journal; none where its writer has removed it by now."""
    with contextlib.suppress(FileNotFoundError), journal.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - len(SUPER_JOURNAL)))
        return file.read(len(SUPER_JOURNAL))
    return b""


@contextlib.contextmanager
def _transaction(state: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    state.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        state.execute("ROLLBACK")
        raise
    state.execute("COMMIT")


def _pragma(state: sqlite3.Connection, name: str) -> Any:
    return state.execute(f"PRAGMA {name}").fetchone()[0]


def _is_empty(state: sqlite3.Connection) -> bool:
    return state.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def _write(state: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    told = ((name, json.dumps(value)) for name, value in settings.items())
    state.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", told)


def _settings(state: sqlite3.Connection) -> Told:
    return {name: json.loads(told) for name, told in state.execute("SELECT * FROM settings")}


def _looks(state: sqlite3.Connection) -> list[Told]:
    rows = state.execute("SELECT fingerprint, told FROM looks ORDER BY number")
    return [{"fingerprint": fingerprint, **json.loads(told)} for fingerprint, told in rows]
