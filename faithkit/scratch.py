"""The folder of all temporary files of a run, so that none outlives it, however it ends."""

import contextlib
import os
import sys

PREFIX = "faithkit-run-"


class Scratch:
    """A folder for temporary files, which may be as large as a model, and as private.

    It is locked while the run lives, so that a later one can tell what was left behind.
    """

    def __init__(self, path: str, lock: int) -> None:
        self.path, self.lock = path, lock

    @classmethod
    def made(cls) -> "Scratch | None":
        """Make a folder where temporary files go; None where there is no such place."""
        for place in _places():
            path = os.path.join(place, PREFIX + os.urandom(6).hex())
            with contextlib.suppress(OSError):
                os.mkdir(path, 0o700)
                try:
                    return cls(path, _locked(path))
                except OSError:  # a file system without locks
                    os.rmdir(path)
        return None

    def use(self) -> None:
        """Let this process and its workers put their temporary files here."""
        os.environ["TMPDIR"] = self.path
        os.environ.setdefault("JOBLIB_TEMP_FOLDER", self.path)
        if "tempfile" in sys.modules:  # which may have chosen another already
            vars(sys.modules["tempfile"])["tempdir"] = self.path

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        try:
            os.rmdir(self.path)
        except OSError:
            import shutil

            shutil.rmtree(self.path, ignore_errors=True)

    @classmethod
    def sweep(cls) -> None:
        """Remove the folders of runs that were killed before they could do so."""
        for place in _places():
            with contextlib.suppress(OSError), os.scandir(place) as entries:
                for path in [entry.path for entry in entries if entry.name.startswith(PREFIX)]:
                    with contextlib.suppress(OSError):  # another run's, or another user's
                        cls._sweep_one(path)

    @classmethod
    def _sweep_one(cls, path: str) -> None:
        if os.lstat(path).st_uid == os.geteuid():
            lock = _locked(path)
            cls(path, lock).remove()
            os.close(lock)


def _places() -> list[str]:
    named = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    return [place for place in dict.fromkeys([*named, "/tmp", "/var/tmp"]) if os.path.isabs(place)]


def _locked(path: str) -> int:
    """Open a folder and lock it until the last process that has it open is gone; OSError if it is locked."""
    import fcntl

    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.lstat(path)  # it may have been swept away before it was locked
    except OSError:
        os.close(lock)
        raise
    return lock
