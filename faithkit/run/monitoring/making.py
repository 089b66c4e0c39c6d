"""A new state: a reference, drawn apart into a pool and rows to calibrate by, and what is settled with it."""

import warnings
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from faithkit.errors import FaithkitWarning, InputError
from faithkit.inputs.predictions.outcome import LABELS, Outcome, checked
from faithkit.measure.arguments import share, whole_number
from faithkit.measure.sequence import Sequence
from faithkit.measure.watch import Watch
from faithkit.report.formats import percent
from faithkit.run.components import Given, component, installed_component
from faithkit.run.discretizing import learns
from faithkit.run.monitoring.looking import outcome
from faithkit.run.monitoring.scores import Scores, divided
from faithkit.run.monitoring.state import State
from faithkit.run.monitoring.tallies import Tallies
from faithkit.run.provenance import versions

ASKED = ("discretizer", "confidence", "seed", "columns", "outcome")
"""What is settled when a state is made."""


def chosen(discretizer: str | Given) -> Given:
    """Return a discretizer that is the same at every look: one that has a name, and does not learn."""
    if isinstance(discretizer, str):
        discretizer = installed_component("discretizer", discretizer)
    way = component("discretizer", discretizer)
    if way.recipe is None:
        raise InputError(
            f"the discretizer {way.text} has no name by which a state could find it again: give a name, or "
            "explanations that are discretized already."
        )
    if learns(way):
        raise InputError(
            f"the discretizer {way.text} learns from explanations, and would learn others at every look: "
            "choose one that does not learn, such as original."
        )
    return way


def make(
    path: str | Path,
    reference: Tallies,
    discretizer: Given,
    confidence: float = 0.95,
    seed: int = 0,
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Write the state of a reference that was counted; one that is there must have been made of the same."""
    asked = {
        "discretizer": discretizer.text,
        "confidence": share(confidence, "confidence", usual=0.95),
        "seed": whole_number(seed, "the seed"),
        "columns": columns,
        "outcome": reference.outcome.to_dict(),
    }
    state = State(Path(path))
    pool, agreeing, calibration = divided(reference, asked["seed"])
    settings = asked | _settings(reference, pool, calibration, 1 - asked["confidence"])
    settings["unit"] = agreeing.unit
    settings["versions"] = versions([discretizer])
    if not state.create(settings, ((name, *one) for name in sorted(pool) for one in pool[name].items())):
        found = state.read()[0]
        check_asked(path, found, asked)
        check_asked(path, found["reference"], {"fingerprint": settings["reference"]["fingerprint"]})


def _settings(
    reference: Tallies, pool: Mapping[bytes, Counter[str]], calibration: Scores, doubt: float
) -> dict[str, Any]:
    """Return all that follows from the reference; one half of the doubt is the calibration's."""
    expected = Sequence(doubt / 2).after(calibration.values)
    n_pool = reference.n - len(calibration.values)
    if not pool or not expected.n or expected.is_empty:
        raise InputError(
            f"the reference has {reference.n} rows, {n_pool} for the pool and {expected.n} to calibrate by, "
            "which nothing can be compared with: give more rows that are explained, or another seed."
        )
    if calibration.unverified >= 0.95 * expected.n:
        _warn_of_strangers(calibration.unverified / expected.n)
    is_named = reference.outcome.kind == LABELS
    return {
        "form": reference.form,
        "predictions": sorted({label for _, label in reference.cells}) if is_named else [],
        "reference": {
            "n": reference.n,
            "pool": n_pool,
            "n_explanations": len(pool),
            "fingerprint": reference.fingerprint(),
        },
        "calibration": outcome(calibration, expected.low, expected.high),
        "expected": attrs.asdict(expected),
        "watch": attrs.asdict(Watch.new(doubt / 2)),
    }


def _warn_of_strangers(unverified: float) -> None:
    warnings.warn(
        f"{percent(unverified)} of the rows to calibrate by have an explanation that the pool lacks, so next "
        "to nothing can be watched: choose a coarser discretizer, or give more rows.",
        FaithkitWarning,
        stacklevel=5,
    )


def check_asked(path: str | Path, settled: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Refuse to go on with a state that was made otherwise."""
    for name, value in asked.items():
        had, given = settled.get(name), value
        if name == "outcome":  # whoever said so
            had, given = settled_outcome(settled), Outcome(**value)
        if given != had:
            what = "reference" if name == "fingerprint" else name
            instead = "another one is given" if name == "fingerprint" else f"not with {_told(given)}"
            made = f"the state {path} was made with the {what} {_told(had)}"
            raise InputError(f"{made}, and {instead}: make a new state for that.")


def settled_outcome(settled: Mapping[str, Any]) -> Outcome:
    """Return what predictions are by what is settled; a state of an older version is of labels."""
    found = Outcome(**settled.get("outcome", {"unasked": True}))
    checked(found.kind, None)
    return found


def asked_outcome(outcome: str | None, agree: str | None) -> Outcome | None:
    """Return what predictions are if somebody says so."""
    return None if outcome is None and agree is None else Outcome.of(outcome, agree, ())


def _told(value: Any) -> str:
    return str(value) if isinstance(value, Outcome) else repr(value)
