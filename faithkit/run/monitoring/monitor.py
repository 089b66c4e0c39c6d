"""A monitor: what a state file tells, and how a batch is added to it."""

import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

from faithkit.errors import FaithkitWarning, InputError
from faithkit.files import written
from faithkit.foreign import foreign
from faithkit.inputs.objects.forms import as_explanations
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.jsonable import json_text
from faithkit.run.components import Given
from faithkit.run.discretizing import discretizer_for
from faithkit.run.monitoring.agreeing import Agreeing
from faithkit.run.monitoring.looking import looked, refuse_twice
from faithkit.run.monitoring.making import ASKED, asked_outcome, chosen, make, settled_outcome
from faithkit.run.monitoring.scores import Scores
from faithkit.run.monitoring.state import State, Told
from faithkit.run.monitoring.tallies import Tallies, check_form
from faithkit.shown import Shown
from faithkit.wording import few

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@attrs.frozen(repr=False)
class Look(Shown):
    """A batch that was added, and what was known of the stream after it.

    Attributes
    ----------
    name : str
    n, unverified : int
        Its rows, and those whose explanation the pool lacks.
    agreement : float
        The mean score of its rows.
    so_far : float
        The expected score as estimated by all rows up to it: their mean, in which the first weigh more.
    low, high : float
        Between which numbers it lies.
    alarm : dict or None
        What is not as expected at this look: `change` ("lower", "higher" or "changed"), `since` (the name of
        the first batch concerned), and between which numbers (`low`, `high`) the score lies from there on;
        None where it has changed once more.
    fingerprint : str
    """

    name: str
    n: int
    unverified: int
    agreement: float
    so_far: float
    low: float
    high: float
    alarm: dict[str, Any] | None
    fingerprint: str


@attrs.frozen(eq=False, repr=False)
class Monitor(Shown):
    """A stream of predictions and explanations, compared with a reference each time that one looks.

    A row's score is how far its prediction agrees with those of the pool's rows with its explanation: of
    labels, how many have the same, as a share. The pool is one half of the reference, drawn at random. An
    alarm is raised where the scores of new rows cannot have the mean that those of the reference's other half
    have. Without a change, the probability that one is *ever* raised, at any of the looks, is at most
    1 − confidence.

    A monitor is what its file told when it was opened; `add` returns the next one.

    Parameters
    ----------
    path : path
        The state: one file, without rows.
    settings : dict
        What was settled when it was made, and the sums that go on.
    looks : tuple of Look
        In the order in which they were added.

    Examples
    --------
    >>> import faithkit, numpy as np, os, tempfile
    >>> rng = np.random.default_rng(0)
    >>> def day(rows, wrong=0.05):
    ...     phi = rng.integers(-2, 3, size=(rows, 2))
    ...     return (phi.sum(axis=1) > 0) ^ (rng.random(rows) < wrong), phi
    >>> path = os.path.join(tempfile.mkdtemp(), "loans.state")
    >>> monitor = faithkit.Monitor.create(path, *day(4000))
    >>> monitor = monitor.add(*day(500), name="Monday").add(*day(500), name="Tuesday")
    >>> monitor.alarm is None
    True
    >>> monitor = monitor.add(*day(500, wrong=0.3), name="Wednesday")
    >>> monitor.alarm["change"], monitor.alarm["since"]
    ('lower', 'Wednesday')
    >>> [look.name for look in faithkit.Monitor.open(path).looks]
    ['Monday', 'Tuesday', 'Wednesday']
    """

    path: Path
    settings: Mapping[str, Any]
    looks: tuple[Look, ...]

    @classmethod
    def create(
        cls,
        path: str | Path,
        predictions: Any,
        explanations: Any,
        discretizer: str | None = None,
        confidence: float = 0.95,
        seed: int = 0,
        outcome: str | None = None,
        agree: str | None = None,
    ) -> "Monitor":
        """Make a state of a reference, which is drawn apart at once: a pool, and rows to calibrate by.

        Where the state is there already, it is opened if it was made of the same, and refused otherwise.

        Parameters
        ----------
        path : path
        predictions, explanations
            The reference, as in `score`.
        discretizer : str, optional
            A name, or "name:param=value,…"; one that learns cannot be used. By default as in `score`.
        confidence : float
            Of all intervals of all looks together.
        seed : int
            Of the draw.
        outcome, agree : str, optional
            What predictions are, here and at all looks, as in `score`.
        """
        given = as_explanations(explanations)
        way = chosen(discretizer_for(discretizer, given))
        reference = Tallies.of_arrays(predictions, given, way, asked_outcome(outcome, agree))
        make(path, reference, way, confidence, seed)
        return cls.open(path)

    @classmethod
    def open(cls, path: str | Path) -> "Monitor":
        """Read a state."""
        settings, looks = State(Path(path)).read()
        with foreign(f"reading what the state {path} tells", "It was changed: take a copy of it."):
            found = cls(Path(path), settings, tuple(Look(**look) for look in looks))
            found.to_dict(), found._agreeing  # what is missing or no number is found now, and not on the way
        return found

    def add(self, predictions: Any, explanations: Any, name: str) -> "Monitor":
        """Add a batch, once and for all, and return the monitor after it.

        Parameters
        ----------
        predictions, explanations
            As in `score`.
        name : str
            What the batch is called in tables; rows that are in already are refused whatever their name.
        """
        found = Tallies.of_arrays(predictions, explanations, self.discretizer, self.outcome)
        return self.extended(found, str(name))

    @property
    def discretizer(self) -> Given:
        """The discretizer that the state was made with."""
        return chosen(self.settings["discretizer"])

    @property
    def outcome(self) -> Outcome:
        """What predictions are."""
        return settled_outcome(self.settings)

    @property
    def _agreeing(self) -> Agreeing:
        """How far predictions agree with those of the pool."""
        return Agreeing(self.outcome, self.settings.get("unit", 1.0))

    def extended(self, batch: Tallies, name: str, partition: str = "", again: bool = False) -> "Monitor":
        """Add a batch that was counted; with `again`, one that is in already is passed over."""
        check_form(name, batch.form, self.settings["form"])
        fingerprint = batch.fingerprint(partition)
        is_reference = batch.fingerprint() == self.settings["reference"]["fingerprint"]
        if again and (is_reference or any(look.fingerprint == fingerprint for look in self.looks)):
            return self
        if is_reference:
            raise InputError(f"{name} has the rows of the reference, which would agree with themselves.")
        self._warn_of_strangers(batch, name)
        state = State(self.path)
        pool = state.pool({cell[0] for cell in batch.cells})
        scores = Scores.of(batch, pool, int(fingerprint, 16), self._agreeing)

        def look(settings: Told, looks: list[Told]) -> tuple[Told, Told] | None:
            if again and any(one["fingerprint"] == fingerprint for one in looks):  # another was faster
                return None
            refuse_twice(name, fingerprint, partition, looks)
            return looked(name, scores, settings, looks)

        state.add(fingerprint, look)
        return Monitor.open(self.path)

    def _warn_of_strangers(self, batch: Tallies, name: str) -> None:
        found, known = {label for _, label in batch.cells}, self.settings["predictions"]
        if known and found.isdisjoint(known):
            warnings.warn(
                f"no prediction of {name} ({few(sorted(found))}) occurs in the reference ({few(known)}), so "
                "nothing agrees: is it the right column?",
                FaithkitWarning,
                stacklevel=4,
            )

    @property
    def alarm(self) -> dict[str, Any] | None:
        """The first alarm, None as long as there is none: the name of its `look`, and what was found."""
        return next(({"look": look.name, **look.alarm} for look in self.looks if look.alarm), None)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        names = (*ASKED, "reference", "calibration", "versions")
        n, last = sum(look.n for look in self.looks), self.looks[-1] if self.looks else None
        told = {"outcome": self.outcome.to_dict(), **self.settings}  # of an older version: none
        return {
            **{name: told[name] for name in names},
            "n": n,
            "unverified": sum(look.unverified for look in self.looks),
            "agreement": math.fsum(look.n * look.agreement for look in self.looks) / n if n else None,
            "low": 0.0 if last is None else last.low,
            "high": 1.0 if last is None else last.high,
            "alarm": self.alarm,
            "looks": [attrs.asdict(look) for look in self.looks],
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return JSON text, and write it to `path` where one is given."""
        return written(json_text(self.to_dict()), path)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per look."""
        names = [field.name for field in attrs.fields(Look)]
        frame = pd.DataFrame([attrs.asdict(look) for look in self.looks], columns=names)
        changes = [look.alarm and look.alarm["change"] for look in self.looks]
        return frame.assign(alarm=pd.Series(changes, dtype=object))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw the looks over the rows, beside the calibration; return the axes."""
        from faithkit.report import plots

        return plots.looks(plots.chart_axes() if ax is None else ax, self.to_dict())

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report as one HTML page, and write it to `path` where one is given."""
        from faithkit.report.html import monitor_page

        return written(monitor_page(self.to_dict()), path)
