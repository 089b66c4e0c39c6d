"""The folder of all temporary files of a run, so that none outlives it, however it ends.

They may be as large as a model, and as private. The folder is locked while the run lives, so that a later one
can tell what was left behind.
"""

import contextlib
import os
import sys

PREFIX = "faithkit-run-"


def make() -> str | None:
    """Make a folder where temporary files go, and lock it; None where there is no such place."""
    for place in _places():
        path = os.path.join(place, PREFIX + os.urandom(6).hex())
        with contextlib.suppress(OSError):
            os.mkdir(path, 0o700)
            try:
                _lock(path)
                return path
            except OSError:  # a file system without locks
                os.rmdir(path)
    return None


def use(path: str) -> None:
    """Let this process and its workers put their temporary files here."""
    os.environ["TMPDIR"] = path
    os.environ.setdefault("JOBLIB_TEMP_FOLDER", path)
    if "tempfile" in sys.modules:  # which may have chosen another already
        vars(sys.modules["tempfile"])["tempdir"] = path


def remove(path: str) -> None:
    """Remove the folder and all that is in it."""
    try:
        os.rmdir(path)
    except OSError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)


def sweep() -> None:
    """Remove the folders of runs that were killed before they could do so."""
    for place in _places():
        with contextlib.suppress(OSError):
            for name in os.listdir(place):
                with contextlib.suppress(OSError):  # another run's, or another user's
                    _sweep_one(os.path.join(place, name))


def _sweep_one(path: str) -> None:
    if os.path.basename(path).startswith(PREFIX) and os.lstat(path).st_uid == os.geteuid():
        lock = _lock(path)
        remove(path)
        os.close(lock)


def _places() -> list[str]:
    named = [os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    return [place for place in dict.fromkeys([*named, "/tmp", "/var/tmp"]) if os.path.isabs(place)]


def _lock(path: str) -> int:
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
