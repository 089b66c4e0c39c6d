"""What runs in the process in which plugins are on trial: it loads them and reports, a line for each."""

import faulthandler
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import TextIO

from faithkit.extension.answers import stamps, verbs_of
from faithkit.extension.discovery import Source, read
from faithkit.extension.hookspecs import GROUP

READY = "ready"
"""The first line, before any plugin has been touched."""

_GRACE = 5.0  # seconds after which the process ends by itself, should whoever started it be gone


def answer(plugins: Iterable[Sequence[str]], patience: float) -> None:
    """Load plugins, report what became of each, and end the process.

    Parameters
    ----------
    plugins : iterable of (distribution, version, name, value)
    patience : float
        How many seconds each is given.
    """
    report = _report()
    print(READY, file=report, flush=True)
    for distribution, version, name, value in plugins:
        faulthandler.dump_traceback_later(patience + _GRACE, exit=True)
        before = set(sys.modules)
        verbs = verbs_of(read(Source(distribution, version, EntryPoint(name, value, GROUP))))
        files = stamps(_files(set(sys.modules) - before))
        print(json.dumps({"verbs": verbs, "files": files}), file=report, flush=True)
    os._exit(0)  # without waiting for what the plugins have started


def _report() -> TextIO:
    """Return what was stdout, which from now on leads nowhere."""
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return report


def _files(modules: Iterable[str]) -> Iterator[str]:
    """Yield the files of modules, but for the standard library's, without running any code of theirs."""
    for name in modules:
        module = sys.modules.get(name)
        if name.partition(".")[0] not in sys.stdlib_module_names and issubclass(type(module), ModuleType):
            file = object.__getattribute__(module, "__dict__").get("__file__")
            if isinstance(file, str):
                yield file
