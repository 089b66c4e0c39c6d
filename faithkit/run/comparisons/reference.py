"""What a result is compared with: an earlier log, or an earlier result, of the same system and no other."""

import contextlib
import warnings
from typing import Any

from faithkit.errors import FaithkitWarning, InputError
from faithkit.inputs.files.discovery import is_folder, is_pattern, kind_of
from faithkit.inputs.logs.log import ColumnRoles
from faithkit.inputs.predictions.outcome import Outcome
from faithkit.run.components.discretization import learns
from faithkit.run.components.resolution import ResolvedComponent, component
from faithkit.run.evaluation import Evaluation
from faithkit.run.populations.on_disk import OnDisk, learns_from_rows
from faithkit.run.populations.population import SavedPopulation
from faithkit.run.saved_results import load
from faithkit.wording import few


def is_saved(path: str) -> bool:
    """Whether a file is a result that was saved, and no data: by its suffix, or by how it begins."""
    if is_pattern(path) or is_folder(path) or kind_of(path) is not None:
        return False
    if path.lower().endswith(".json"):
        return True
    with contextlib.suppress(OSError), open(path, "rb") as file:  # who reads it as data says what is wrong
        return file.read(1) == b"{"
    return False


def saved_reference(path: str, taught: bool = False, **asked: Any) -> Evaluation:
    """Load a result to compare with; one of another system is refused.

    Parameters
    ----------
    path : str
    taught : bool
        Whether what learns has a background to learn from.
    **asked
        How the new result is measured: explainer (or none, for a log), discretizer, estimator, confidence.
    """
    found = load(path)
    if not isinstance(found, Evaluation):
        raise InputError(f"{path} has several systems; expected the result of one, of evaluate or score.")
    for measure in found.measures:
        found.difference(found, measure, paired=False)  # or say now why that cannot be
    _check_system(path, found, asked)
    if asked["discretizer"] is not None:  # else explanations may name one, which `check_alike` will see
        _check_learnt(path, found, component("discretizer", asked["discretizer"]), taught)
    _warn_of_others(found, asked)
    return found


def _check_system(path: str, found: Evaluation, asked: dict[str, Any]) -> None:
    told = found.setup.to_dict()
    for kind in ("explainer", "discretizer"):
        before, now = told[kind], asked.get(kind)
        if before is None or now is None:  # a log does not say what explained it
            continue
        _check_same(path, kind, before, component(kind, now).text)


def _check_same(path: str, kind: str, before: str, now: str) -> None:
    if before != now:
        raise InputError(
            f"{path} was measured with the {kind} {before}, and this is {now}: give a reference of the "
            "same system, or compare the two with `faithkit compare`."
        )


def _check_learnt(path: str, found: Evaluation, given: ResolvedComponent, taught: bool) -> None:
    if learns(given) and not (taught and found.setup.learnt_from == "given"):
        raise InputError(
            f"{given.text} learns from the rows it is judged on, so what it learnt for {path} is another "
            "discretizer than here: give the rows of the reference instead of their result."
        )


def learnt_apart(result: Evaluation, reference: Evaluation) -> bool:
    """Whether the relation of sufficiency learnt from each sample by itself, and so is two relations."""
    relation = result.setup.applies.relation
    if (
        relation is None
        or not isinstance(reference.population, SavedPopulation)
        or not learns_from_rows(relation)
    ):
        return False
    return not all(one.setup.learnt_from == "given" for one in (result, reference))


def _warn_of_others(found: Evaluation, asked: dict[str, Any]) -> None:
    """Say what differs and does not matter to the difference."""
    estimator = component("estimator", asked["estimator"]).text
    pairs = {
        "estimator": (found.setup.estimator.text, estimator),
        "confidence": (found.confidence, asked["confidence"]),
    }
    for name, (before, now) in pairs.items():
        if before != now:
            warnings.warn(
                f"the reference was measured with the {name} {before}, and this is {now}: their difference "
                f"is of leave-one-out, at the confidence {asked['confidence']}.",
                FaithkitWarning,
                stacklevel=3,
            )


def _warn_of_same_rows(result: Evaluation, reference: Evaluation) -> None:
    """Say that rows are compared with themselves as if they were others; no log is read anew for that."""
    if isinstance(result.population, OnDisk) or isinstance(reference.population, OnDisk):
        return
    mine, theirs = result.data["fingerprint"], reference.data["fingerprint"]
    if mine is not None and mine == theirs:
        warnings.warn(
            "the reference has the very rows of this sample, and a reference is taken for a separate sample: "
            "the interval of the difference is wider, as a rule, than it need be. In Python, "
            "`result.difference(other)` pairs rows.",
            FaithkitWarning,
            stacklevel=3,
        )


def check_columns(log: ColumnRoles, reference: ColumnRoles) -> None:
    """Refuse an earlier log whose columns are others, or in another order: what is learnt goes by place."""
    for role in ("prediction", "explanation", "features", "weights", "clusters"):
        now, before = getattr(log, role), getattr(reference, role)
        if now != before:
            raise InputError(
                f"the columns of --{role} are {_columns(now)} in the log, and {_columns(before)} in the "
                "reference: give both the same columns in the same order."
            )


def _columns(names: str | tuple[str, ...]) -> str:
    return names if isinstance(names, str) else few(names) or "none"


def check_alike(result: Evaluation, reference: Evaluation) -> None:
    """Refuse to compare samples that were read or drawn in two ways, and say where they are one."""
    if isinstance(reference.population, SavedPopulation):
        _check_discretizer(result, reference)
        _check_drawn(result, reference)
    else:  # read with the same columns; what kind a saved one was nobody wrote down
        _check_kind(result.population.kind, reference.population.kind)
    _check_outcome(result.setup.outcome, reference.setup.outcome)
    _warn_of_same_rows(result, reference)


def _check_outcome(now: Outcome, before: Outcome) -> None:
    if now != before:
        raise InputError(
            f"predictions are {now} here, and {before} in the reference, which is another measure: say for "
            "both what they are (--outcome, --agree)."
        )


def _check_discretizer(result: Evaluation, reference: Evaluation) -> None:
    """Refuse a saved result whose discretizer is another, or has learnt something else."""
    now, before = result.setup.discretizer, reference.setup.discretizer.text
    _check_same("the reference", "discretizer", before, now.text)
    _check_learnt("the reference", reference, now, result.setup.learnt_from == "given")


def _check_kind(now: str, before: str) -> None:
    if now != before:
        raise InputError(
            f"the explanations are of kind {now!r} in the log, and {before!r} in the reference: "
            "write both alike."
        )


def _check_drawn(result: Evaluation, reference: Evaluation) -> None:
    for what, field in (("clusters", "clusters"), ("weights or clusters", "effective")):
        now, before = getattr(result, field), getattr(reference, field)
        if (now is None) != (before is None):
            which = "the reference" if now is None else "this sample"
            raise InputError(
                f"{which} alone has {what}, which make it another measure: draw both alike, or give the log "
                "of the reference instead of its result."
            )
