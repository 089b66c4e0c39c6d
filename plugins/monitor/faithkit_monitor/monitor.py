"""A monitor: the contents of a state file, and how a batch is added to it."""

import json
import math
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pandas as pd

import faithkit
from faithkit_monitor.report import draw_looks, monitor_line, monitor_provenance, monitor_sheet
from faithkit_monitor.scoring import Agreement, Scores, split_reference
from faithkit_monitor.sequence import Alarm, ChangeDetector, Sequence
from faithkit_monitor.state import Json, State, raise_input_errors
from faithkit_monitor.tallies import SHOWN, UNEXPLAINED, Tallies, check_form

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETTLED = ("discretizer", "confidence", "seed", "columns", "outcome")
"""The settings that never change after the state was created."""


@attrs.frozen
class InterimLook:
    """A batch of the stream, and the estimate after it.

    Attributes
    ----------
    name : str
    n, unverified : int
        The number of rows, and of rows whose explanation is not in the pool.
    agreement : float
        The mean score of its rows.
    so_far : float
        The estimate of the expected score from all rows so far: their mean, with more weight on the first
        rows.
    low, high : float
        The interval of the expected score.
    alarm : dict or None
        The deviation at this look: `change` ("lower", "higher" or "changed"), `since` (the name of the first
        affected batch), and the interval (`low`, `high`) of the score since then. The ends are None where the
        score has changed several times.
    fingerprint : str
        The digest of its rows, in any order.
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
class Monitor(faithkit.plugin.Report):
    """A stream of predictions and explanations that is compared with a reference at every look.

    The score of a row is the agreement of its prediction with those of the pool's rows with the same
    explanation. For labels, it is the share with the same label. The pool is a random half of the reference.
    An alarm is raised if the scores of new rows cannot have the same mean as the scores of the other half.
    Without a change, the probability that an alarm is *ever* raised, at any look, is at most 1 − confidence.

    A monitor shows the contents of its file when it was opened; `add` returns the next monitor.

    Parameters
    ----------
    path : path
        The state: one file, without rows.
    settings : dict
        The settings of the state, and the running sums.
    looks : tuple of InterimLook
        The looks in the order in which they were added.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from faithkit_monitor import Monitor
    >>> rng = np.random.default_rng(0)
    >>> def day(rows, wrong=0.05):
    ...     phi = rng.integers(-2, 3, size=(rows, 2))
    ...     return (phi.sum(axis=1) > 0) ^ (rng.random(rows) < wrong), phi
    >>> path = os.path.join(tempfile.mkdtemp(), "loans.state")
    >>> monitor = Monitor.create(path, *day(4000))
    >>> monitor = monitor.add(*day(500), name="Monday").add(*day(500), name="Tuesday")
    >>> monitor.alarm is None
    True
    >>> monitor = monitor.add(*day(500, wrong=0.3), name="Wednesday")
    >>> monitor.alarm["change"], monitor.alarm["since"]
    ('lower', 'Wednesday')
    >>> [look.name for look in Monitor.open(path).looks]
    ['Monday', 'Tuesday', 'Wednesday']
    """

    path: Path
    settings: Mapping[str, Any]
    looks: tuple[InterimLook, ...]

    @classmethod
    def create(
        cls,
        path: str | Path,
        predictions: Any,
        explanations: Any,
        *,
        discretizer: str | None = None,
        confidence: float = 0.95,
        seed: int = 0,
        outcome: str | None = None,
        agree: str | None = None,
    ) -> "Monitor":
        """Create a state from a reference, which is split into a pool and rows for calibration.

        If the state exists, it is opened if it was created with the same arguments, and refused otherwise.

        Parameters
        ----------
        path : path
        predictions, explanations
            The reference, as in `faithkit.score`.
        discretizer : str, optional
            The name of a discretizer that does not learn. By default as in `faithkit.score`.
        confidence : float
            The confidence of the intervals of all looks together.
        seed : int
            The seed of the random split.
        outcome, agree : str, optional
            The kind of predictions and their agreement, as in `faithkit.score`, here and at all looks.
        """
        counts = faithkit.plugin.count_rows(
            predictions, explanations, discretizer=discretizer, outcome=outcome, agree=agree
        )
        return cls.of_counts(path, [counts], confidence, seed)

    @classmethod
    def of_counts(
        cls,
        path: str | Path,
        parts: list[faithkit.plugin.RowCounts],
        confidence: float = 0.95,
        seed: int = 0,
        columns: Mapping[str, Any] | None = None,
    ) -> "Monitor":
        """Create a state from the counts of a reference in several parts; `columns` are those of the log."""
        reference = Tallies.of(parts[0])
        for part in parts[1:]:
            _check_outcome("a part of the reference", part, parts[0].outcome)
            reference = reference.combine(Tallies.of(part), "a part of the reference")
        fixed_settings: dict[str, Any] = {
            "discretizer": parts[0].discretizer,
            "confidence": _check_confidence(confidence),
            "seed": faithkit.plugin.check_integer(seed, "the seed"),
            "columns": columns,
            "outcome": parts[0].outcome,
        }
        pool, agreement, calibration = split_reference(
            reference, fixed_settings["seed"], fixed_settings["outcome"]
        )
        settings = fixed_settings | _reference_settings(
            reference, pool, calibration, 1 - confidence, fixed_settings["outcome"]
        )
        labels = {label for _, label in reference.cells} if agreement.kind == "labels" else set()
        settings |= {"unit": agreement.unit, "predictions": sorted(labels), "versions": parts[0].versions}
        is_new = State(Path(path)).create(
            settings, ((name, *counts) for name in pool for counts in pool[name].items())
        )
        monitor = cls.open(path)
        if not is_new:
            monitor.check_settings(fixed_settings)
            monitor._check_reference(settings["reference"]["fingerprint"])
        return monitor

    @classmethod
    def open(cls, path: str | Path) -> "Monitor":
        """Read a state."""
        settings, looks = State(Path(path)).read()
        with raise_input_errors(f"reading the state {path}"):
            monitor = cls(Path(path), settings, tuple(InterimLook(**look) for look in looks))
            monitor.to_dict(), monitor._agreement  # a missing or wrong value is reported at once
        return monitor

    def add(self, predictions: Any, explanations: Any, name: str) -> "Monitor":
        """Add a batch permanently, and return the updated monitor.

        Parameters
        ----------
        predictions, explanations
            As in `faithkit.score`.
        name : str
            The name of the batch, which counts once: a name that was added before is refused.
        """
        return self.add_counts(
            faithkit.plugin.count_rows(predictions, explanations, **self.counting), str(name)
        )

    def add_counts(self, counts: faithkit.plugin.RowCounts, name: str, skip_known: bool = False) -> "Monitor":
        """Add the counts of a batch, or return this monitor if nothing is to be added.

        With `skip_known`, the reference, or a batch that was added before with this name and these rows,
        changes nothing.
        """
        _check_outcome(name, counts, self.settings["outcome"])
        batch = Tallies.of(counts)
        check_form(name, batch.form, self.settings["form"])
        fingerprint = batch.fingerprint()
        if fingerprint == self.settings["reference"]["fingerprint"] and not batch.may_coincide:
            if skip_known:
                return self
            raise faithkit.errors.InputError(
                f"{name} has the rows of the reference, which would agree with themselves: leave it out."
            )
        if _is_known(name, fingerprint, self.looks, skip_known):
            return self
        self._warn_of_unknown_labels(batch, name)
        self._warn_of_equal_rows(batch, name)
        state = State(self.path)
        pool = state.pool({cell[0] for cell in batch.cells})
        with raise_input_errors(f"reading the state {self.path}"):
            # the seed has the name, so that equal batches are in unrelated orders
            scores = Scores.of(batch, pool, int(batch.fingerprint(name), 16), self._agreement)

        def look(settings: Json, looks: list[Json]) -> tuple[Json, Json] | None:
            if _is_known(name, fingerprint, [InterimLook(**past) for past in looks], skip_known):
                return None  # another process was faster
            return _next_look(name, fingerprint, scores, settings, looks)

        state.add(look)
        return Monitor.open(self.path)

    @property
    def counting(self) -> dict[str, Any]:
        """The options for `faithkit.plugin.count_rows` with which the rows of the state were counted."""
        outcome = self.settings["outcome"]
        options = {"discretizer": self.settings["discretizer"]}
        if outcome["within"] is not None:
            return options | {"agree": f"within:{outcome['within']!r}"}
        return options if _is_guess(outcome) else options | {"outcome": outcome["kind"]}

    @property
    def _agreement(self) -> Agreement:
        outcome = self.settings["outcome"]
        return Agreement(outcome["kind"], outcome["within"], self.settings["unit"])

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Check that the state was created with these settings."""
        for name, value in settings.items():
            stored, requested = self.settings[name], value
            if name == "outcome":
                stored, requested = _outcome_text(stored), _outcome_text(value)
            if stored != requested:
                raise faithkit.errors.InputError(
                    f"the state {self.path} was made with the {name} {stored!r}, and not with {requested!r}: "
                    "make a new state for that."
                )

    def _check_reference(self, fingerprint: str) -> None:
        stored = self.settings["reference"]["fingerprint"]
        if stored != fingerprint:
            raise faithkit.errors.InputError(
                f"the state {self.path} was made with the reference {stored}, and this is another one: make "
                "a new state for it."
            )

    def _warn_of_unknown_labels(self, batch: Tallies, name: str) -> None:
        labels, known = sorted({label for _, label in batch.cells}), self.settings["predictions"]
        if known and set(labels).isdisjoint(known):
            faithkit.errors.warn(
                f"no prediction of {name} ({', '.join(labels[:SHOWN])}) occurs in the reference "
                f"({', '.join(known[:SHOWN])}), so nothing agrees: is it the right column?"
            )

    def _warn_of_equal_rows(self, batch: Tallies, name: str) -> None:
        fingerprint = batch.fingerprint()
        equal = next((look.name for look in self.looks if look.fingerprint == fingerprint), None)
        if equal is not None and not batch.may_coincide:
            faithkit.errors.warn(
                f"{name} and {equal} have equal rows, and both count, because their names differ: are they "
                "one batch?"
            )

    @property
    def alarm(self) -> dict[str, Any] | None:
        """The first alarm, with the name of its `look`; None if there is none."""
        return next(({"look": look.name, **look.alarm} for look in self.looks if look.alarm), None)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        names = (*SETTLED, "reference", "calibration", "versions")
        n, last = sum(look.n for look in self.looks), self.looks[-1] if self.looks else None
        return {
            **{name: self.settings[name] for name in names},
            "n": n,
            "unverified": sum(look.unverified for look in self.looks),
            "agreement": math.fsum(look.n * look.agreement for look in self.looks) / n if n else None,
            "low": 0.0 if last is None else last.low,
            "high": 1.0 if last is None else last.high,
            "alarm": self.alarm,
            "looks": [attrs.asdict(look) for look in self.looks],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per look."""
        names = [field.name for field in attrs.fields(InterimLook)]
        frame = pd.DataFrame([attrs.asdict(look) for look in self.looks], columns=names)
        changes = [look.alarm and look.alarm["change"] for look in self.looks]
        return frame.assign(alarm=pd.Series(changes, dtype=object))

    def line(self) -> str:
        """Return the text for `repr`."""
        return monitor_line(self.path.name, self.to_dict())

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return a table of the latest looks, and their meaning."""
        return monitor_sheet(self.to_dict())

    def draw(self, ax: "Axes") -> None:
        """Draw the looks over the rows of the stream, with the calibration."""
        draw_looks(ax, self.to_dict())

    def provenance(self) -> dict[str, str]:
        """Return the settings and versions that the numbers depend on."""
        return monitor_provenance(self.to_dict())


def _check_confidence(confidence: Any) -> float:
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence < 1:
        raise faithkit.errors.InputError(
            f"the confidence must be a number between 0 and 1, such as 0.95; got {confidence!r}."
        )
    return float(confidence)


def _is_guess(outcome: Mapping[str, Any]) -> bool:
    """Whether labels were only inferred; a later batch may show that predictions are not labels."""
    return bool(outcome["kind"] == "labels" and outcome["unasked"])


def _outcome_text(outcome: Mapping[str, Any]) -> str:
    within = outcome["within"]
    return str(outcome["kind"]) if within is None else f"{outcome['kind']}, within {within:g}"


def _check_outcome(name: str, counts: faithkit.plugin.RowCounts, expected: Mapping[str, Any]) -> None:
    """Check that predictions are of the same kind as those of the reference."""
    here, before = _outcome_text(counts.outcome), _outcome_text(expected)
    if here != before:
        raise faithkit.errors.InputError(
            f"the predictions of {name} are {here}, and those of the reference are {before}: is it the right "
            "column? If it is, make a new state with --outcome."
        )


def _reference_settings(
    reference: Tallies,
    pool: Mapping[bytes, Any],
    calibration: Scores,
    alpha: float,
    outcome: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the settings that follow from the reference; the calibration gets one half of alpha."""
    expected = Sequence(alpha / 2).after(calibration.values)
    n_pool = reference.n - len(calibration.values)
    if not pool or expected.is_empty or calibration.unverified == expected.n:
        raise faithkit.errors.InputError(
            f"the reference has {reference.n} rows, {n_pool} for the pool and {expected.n} to calibrate by, "
            "which nothing can be compared with: give more explained rows, a coarser discretizer, or another "
            "seed."
        )
    _check_tested(reference, outcome)
    if calibration.unverified >= 0.95 * expected.n:
        faithkit.errors.warn(
            f"{100 * calibration.unverified / expected.n:.0f} % of the rows to calibrate by have an "
            "explanation that the pool lacks, so hardly anything can be watched: choose a coarser "
            "discretizer, or give more rows."
        )
    return {
        "form": reference.form,
        "reference": {
            "n": reference.n,
            "pool": n_pool,
            "n_explanations": len(pool),
            "fingerprint": reference.fingerprint(),
        },
        "calibration": _summary(calibration, expected.low, expected.high),
        "expected": attrs.asdict(expected),
        "watch": attrs.asdict(ChangeDetector.new(alpha / 2)),
    }


def _check_tested(reference: Tallies, outcome: Mapping[str, Any]) -> None:
    """Refuse a reference of one label, and warn about one whose explanations may be names of labels.

    Two rows of each cell are enough to find that out.
    """
    cells = [cell for cell, count in sorted(reference.cells.items()) for _ in range(min(count, 2))]
    as_prediction = str if outcome["kind"] == "labels" else json.loads
    kind: dict[str, Any] = {"outcome": outcome["kind"]}
    if outcome["within"] is not None:
        kind = {"agree": f"within:{outcome['within']!r}"}
    with warnings.catch_warnings(
        action="ignore", category=faithkit.errors.FaithkitWarning
    ):  # of repeated rows
        result = faithkit.score(
            [as_prediction(prediction) for _, prediction in cells],
            [None if explanation == UNEXPLAINED else explanation for explanation, _ in cells],
            **kind,
        )
    if result.consistency.finding == "one label":
        raise faithkit.errors.InputError(
            "the reference tests nothing, because all its explained predictions agree: give rows with "
            "different predictions."
        )
    if result.consistency.finding == "names the label":
        faithkit.errors.warn(
            "in the reference each prediction has one explanation, which may only repeat it, and then there "
            "will be no alarm: give explanations that can differ for equal predictions."
        )


def _summary(scores: Scores, low: float, high: float) -> Json:
    """Return the summary of a batch's scores, and the interval of the expected agreement after it."""
    return {
        "n": len(scores.values),
        "unverified": scores.unverified,
        "agreement": scores.agreement,
        "low": low,
        "high": high,
    }


def _is_known(name: str, fingerprint: str, looks: Iterable[InterimLook], skip_known: bool) -> bool:
    """Return whether a batch was added before, which is an error unless known batches are skipped.

    A batch is its name and its rows. If equal rows were refused under another name, quiet days would be,
    because they are often equal, and those that remained would raise false alarms. Days of a folder are
    skipped by their name, so a day with other rows is an error.
    """
    fingerprints = {look.fingerprint for look in looks if look.name == name}
    if fingerprint not in fingerprints:
        if fingerprints and skip_known:
            raise faithkit.errors.InputError(
                f"{name} has other rows than when it was added, and those still count. Give another batch "
                "another name. If rows were changed, leave the batch out, or make a new state."
            )
        return False
    if not skip_known:
        raise faithkit.errors.InputError(
            f"{name} was added before, and a batch counts once. Give another batch another name."
        )
    return True


def _next_look(
    name: str, fingerprint: str, scores: Scores, settings: Json, looks: list[Json]
) -> tuple[Json, Json]:
    """Return the settings that change with a look, and the look."""
    before = settings["watch"]
    windows = tuple(Sequence(**window) for window in before["windows"])
    watch = ChangeDetector(before["alpha"], Sequence(**before["whole"]), windows, before["looks"]).after(
        scores.values
    )
    expected = Sequence(**settings["expected"])
    so_far, low, high = watch.whole.now
    look = {"name": name, "fingerprint": fingerprint, **_summary(scores, low, high), "so_far": so_far}
    alarm = watch.alarm(expected)
    if alarm is None:
        look["alarm"] = _lasting_alarm(scores.agreement, expected, looks)
    else:
        look["alarm"] = _alarm_values(alarm, [*looks, look])
    return {"watch": attrs.asdict(watch)}, look


def _alarm_values(alarm: Alarm, looks: list[Json]) -> Json:
    low, high = (None, None) if alarm.low > alarm.high else (alarm.low, alarm.high)
    return {"change": alarm.change, "since": looks[alarm.since]["name"], "low": low, "high": high}


def _lasting_alarm(agreement: float, expected: Sequence, looks: list[Json]) -> Json | None:
    """Return the latest alarm if the batch is nearer to its interval than to the expected one.

    Windows that begin after an alarm have too few rows to raise it again.
    """
    alarm: Json | None = next((look["alarm"] for look in reversed(looks) if look["alarm"]), None)
    if alarm is None:
        return None
    _, low, high = expected.now
    below, above = (alarm["high"], alarm["low"]) if alarm["change"] != "changed" else (low, high)
    is_lower, is_higher = agreement < (below + low) / 2, agreement > (above + high) / 2
    is_lasting = {"lower": is_lower, "higher": is_higher, "changed": is_lower or is_higher}[alarm["change"]]
    return alarm if is_lasting else None
