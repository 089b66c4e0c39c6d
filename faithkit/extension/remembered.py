"""What is known of installed plugins, kept in a file: who only lists verbs need not load any plugin again.

The file is data: names and summaries to show, and whom not to load. What is loaded, entry points alone say.
It may be damaged, forged, missing or written by two processes at once: it is ignored, and written anew.
"""

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG

from attrs import asdict

from faithkit.extension.answers import LOADS, Answer

_LARGEST = 10 * 2**20  # bytes; a hundred plugins take some ten thousand


def recall() -> dict[str, Answer]:
    """Return what is known, by the key of each plugin."""
    with contextlib.suppress(Exception):  # no cache, or no longer what we wrote: there is nothing to know
        status = _file().stat()
        # A pipe would keep us waiting, and a device never end.
        if S_ISREG(status.st_mode) and status.st_size <= _LARGEST:
            found = json.loads(_file().read_bytes())
            return {key: answer for key, given in found.items() if (answer := _answer(given))}
    return {}


def remember(answers: Mapping[str, Answer]) -> None:
    """Add to what is known, and drop what no longer holds."""
    still = {key: answer for key, answer in recall().items() if answer.holds()}
    _write(still | dict(answers))


def forget_failures() -> None:
    """Drop what is known of plugins that hang or end the process, so that they are asked again."""
    known = recall()
    kept = {key: answer for key, answer in known.items() if answer.outcome == LOADS}
    if kept != known:
        _write(kept)


def _write(answers: Mapping[str, Answer]) -> None:
    from faithkit.files import write_whole  # mostly, nothing is written

    with contextlib.suppress(Exception):  # a folder that cannot be written to costs time, and nothing else
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_file(), json.dumps({key: asdict(answer) for key, answer in answers.items()}, indent=1))


def cache_folder() -> Path:
    """Return faithkit's folder in the user's cache; it need not exist."""
    from platformdirs import user_cache_path  # whoever only imports this module does not need it

    return user_cache_path("faithkit", appauthor=False).expanduser()  # who has no home gets no folder "~"


def _file() -> Path:
    return cache_folder() / "plugins.json"


def _answer(given: dict[str, object]) -> Answer | None:
    with contextlib.suppress(Exception):
        return Answer(**given)  # type: ignore[arg-type]  # its converters and validators look at every value
    return None
