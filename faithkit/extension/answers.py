"""How a plugin behaved when it was loaded in a process of its own, and until when that can be believed."""

import contextlib
import os
import time
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen
from attrs.validators import ge, in_

from faithkit.extension.component import Component
from faithkit.extension.entries import Broken, Entry
from faithkit.wording import one_line

LOADS, HANGS, ENDS = "loads", "hangs", "ends"
"""It came back (if only to say what is wrong); it did not in the time it was given; it ended the process."""

ON_TRIAL = "FAITHKIT_ON_TRIAL"
"""Set in such a process: a plugin that uses the registry while it is loaded must not start another one."""

DAY = 24 * 60 * 60

Stamps = Mapping[str, tuple[int, int]]


def as_verb(name: str, summary: str) -> Component:
    """Return a command for a listing; to be called, it has to come from its plugin."""
    return Component(name=name, factory="known.by:name", summary=summary)


def verbs_of(findings: Iterable[Entry | Broken]) -> list[tuple[str, str]]:
    """Return the name and the summary of every command."""
    entries = [finding for finding in findings if isinstance(finding, Entry) and finding.kind == "command"]
    return [(entry.component.name, entry.component.summary) for entry in entries]


def _as_verbs(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    # They may come from a file that anybody has written: only what a plugin may offer is shown to a person.
    named = [as_verb(*pair) for pair in pairs]
    return tuple((verb.name, one_line(verb.summary)) for verb in named)


def _as_stamps(stamps: Mapping[str, Any]) -> Stamps:
    return {str(path): (int(mtime), int(size)) for path, (mtime, size) in stamps.items()}


@frozen
class Answer:
    """What became of a plugin that was loaded on trial.

    Parameters
    ----------
    outcome : str
        `LOADS`, `HANGS` or `ENDS`.
    verbs : tuple of (str, str), default=()
        The name and the summary of every command that it offers.
    files : mapping of str to (int, int), default={}
        The files that it was loaded from, with their time of change and their size.
    waited : float, default=0
        How many seconds it was given.
    when : float
        When it was asked; by default now.

    Examples
    --------
    >>> Answer(LOADS, verbs=[("audit", "Audit a log.")], files=stamps([os.__file__])).holds(patience=5)
    True
    >>> Answer(HANGS, waited=1).holds(patience=1), Answer(HANGS, waited=1).holds(patience=5)
    (True, False)
    """

    outcome: str = field(validator=in_((LOADS, HANGS, ENDS)))
    verbs: tuple[tuple[str, str], ...] = field(default=(), converter=_as_verbs)
    files: Stamps = field(factory=dict, converter=_as_stamps)
    waited: float = field(default=0.0, converter=float, validator=ge(0))
    when: float = field(factory=time.time, converter=float)

    def holds(self, patience: float = 0.0) -> bool:
        """Tell whether somebody who would wait for `patience` seconds still gets the same answer.

        Not if a file has changed, nor if more time might help. What no file vouches for holds for a day.
        """
        vouched = self.outcome == LOADS and self.files
        recent = vouched or 0 <= time.time() - self.when < DAY
        patient = self.outcome != HANGS or self.waited >= patience
        return bool(recent and patient) and stamps(self.files) == self.files


def stamps(paths: Iterable[str]) -> Stamps:
    """Return the time of change and the size of those files that are there."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(path)
            found[path] = status.st_mtime_ns, status.st_size
    return found
