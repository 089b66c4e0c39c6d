"""Reference samples: an earlier log or result of the same system, to compare a result with."""

import contextlib
from typing import Any

from faithkit.errors import InputError, warn
from faithkit.inputs.files.discovery import is_folder, is_pattern, table_format
from faithkit.inputs.logs.log import ColumnRoles
from faithkit.run.comparisons.differences import check_design
from faithkit.run.components.learning import learns
from faithkit.run.components.relation_rows import learns_from_rows
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.evaluation import Evaluation
from faithkit.run.populations.population import SavedPopulation
from faithkit.run.saved_results import load
from faithkit.wording import join_few


def is_saved_result(path: str) -> bool:
    """Whether a file is a saved result and not data: by its suffix, or by its first byte."""
    if is_pattern(path) or is_folder(path) or table_format(path) is not None:
        return False
    if path.lower().endswith(".json"):
        return True
    with contextlib.suppress(OSError), open(path, "rb") as file:  # reading it as data will say what is wrong
        return file.read(1) == b"{"
    return False


def load_reference(path: str, has_background: bool = False, **options: Any) -> Evaluation:
    """Load a result to compare with; refuse a result of another system.

    Parameters
    ----------
    path : str
    has_background : bool
        Whether components that learn have a background to learn from.
    **options
        How the new result is measured: explainer (or none, for a log), discretizer, estimator, confidence.
    """
    reference = load(path)
    if not isinstance(reference, Evaluation):
        raise InputError(f"{path} has several systems; expected the result of one, of evaluate or score.")
    for measure in reference.measures:
        reference.difference(reference, measure, paired=False)  # raises now if that cannot be computed
    for kind in ("explainer", "discretizer"):
        component, option = getattr(reference.setup, kind), options.get(kind)
        if component is not None and option is not None:  # a log does not name its explainer
            _check_same_component(path, kind, component.text, resolve_component(kind, option).text)
    if options["discretizer"] is not None:  # else `check_comparable` checks the one that explanations name
        discretizer = resolve_component("discretizer", options["discretizer"])
        _check_fitted(path, reference, discretizer, has_background)
    _warn_about_options(reference, options)
    return reference


def _check_same_component(path: str, kind: str, reference_name: str, name: str) -> None:
    if reference_name != name:
        raise InputError(
            f"{path} was measured with the {kind} {reference_name}, and this is {name}: give a reference of "
            "the same system, or compare the two with `faithkit compare`."
        )


def _check_fitted(
    path: str, reference: Evaluation, discretizer: ResolvedComponent, has_background: bool
) -> None:
    """Refuse a discretizer that was fitted to each sample separately, because the two differ."""
    if learns(discretizer) and not (has_background and reference.setup.learnt_from == "given"):
        raise InputError(
            f"{discretizer.text} learns from the rows it is judged on, so what it learnt for {path} is "
            "another discretizer than here: give the rows of the reference instead of their result."
        )


def is_fitted_separately(result: Evaluation, reference: Evaluation) -> bool:
    """Whether sufficiency's relation was fitted to each sample separately, so that the two differ."""
    relation = result.setup.applicability.relation
    if (
        relation is None
        or not isinstance(reference.evidence.population, SavedPopulation)
        or not learns_from_rows(relation)
    ):
        return False
    return not all(side.setup.learnt_from == "given" for side in (result, reference))


def _warn_about_options(reference: Evaluation, options: dict[str, Any]) -> None:
    """Warn about options that differ but do not affect the difference."""
    measured = {"estimator": reference.setup.estimator.text, "confidence": reference.confidence}
    requested = {**options, "estimator": resolve_component("estimator", options["estimator"]).text}
    for name, value in measured.items():
        if value != requested[name]:
            warn(
                f"the reference was measured with the {name} {value}, and this is {requested[name]}: their "
                f"difference is of leave-one-out, at the confidence {options['confidence']}.",
            )


def _warn_about_same_rows(result: Evaluation, reference: Evaluation) -> None:
    """Warn if the reference has the same rows; a log on disk is read again if it has as many."""
    if result.n != reference.n:
        return
    fingerprint = result.evidence.population.data()["fingerprint"]
    if fingerprint is not None and fingerprint == reference.evidence.population.data()["fingerprint"]:
        warn(
            "the reference has the very rows of this sample, and a reference is taken for a separate sample: "
            "the interval of the difference is wider, as a rule, than it need be. In Python, "
            "`result.difference(other)` pairs rows.",
        )


def check_columns(log: ColumnRoles, reference: ColumnRoles) -> None:
    """Refuse an earlier log with other columns or another order: fitted components go by position."""
    for role in ("prediction", "explanation", "features", "weights", "clusters", "blocks"):
        columns, reference_columns = getattr(log, role), getattr(reference, role)
        if columns != reference_columns:
            raise InputError(
                f"the columns of --{role} are {_column_names(columns)} in the log, and "
                f"{_column_names(reference_columns)} in the reference: give both the same columns in the "
                "same order."
            )


def check_saved_columns(reference: Evaluation, names: tuple[str, ...] | None, is_log: bool) -> None:
    """Refuse a saved result of other columns.

    A log has columns for explanations, and a table those that the model reads: only like is compared with
    like. A saved result without names of columns is refused only if its table had another number of columns.
    """
    if names is None or is_log != (reference.setup.explainer is None):
        return
    saved_names, n_saved = reference.origin.columns, reference.evidence.population.data()["columns"]
    if saved_names is not None and sorted(names) != sorted(saved_names):
        raise InputError(
            f"the columns are {_column_names(names)} here, and {_column_names(saved_names)} in the "
            "reference: give a reference of the same columns."
        )
    if saved_names is None and not is_log and n_saved not in (None, len(names)):
        raise InputError(
            f"the number of columns is {len(names)} here, and {n_saved} in the reference: give a reference "
            "of the same columns."
        )


def _column_names(names: str | tuple[str, ...]) -> str:
    return names if isinstance(names, str) else join_few(names) or "none"


def check_comparable(result: Evaluation, reference: Evaluation) -> None:
    """Refuse to compare samples that were read or drawn differently; warn if their rows are the same."""
    setup, kind = result.setup, result.evidence.population.kind
    discretizer, outcome = reference.setup.discretizer, reference.setup.outcome
    if isinstance(reference.evidence.population, SavedPopulation):  # which does not say its kind
        _check_same_component("the reference", "discretizer", discretizer.text, setup.discretizer.text)
        _check_fitted("the reference", reference, setup.discretizer, setup.learnt_from == "given")
        check_design(
            result, reference, "draw both alike, or give the log of the reference instead of its result"
        )
    elif kind != reference.evidence.population.kind:
        raise InputError(
            f"the explanations are of kind {kind!r} in the log, and "
            f"{reference.evidence.population.kind!r} in the reference: write both alike."
        )
    if setup.outcome != outcome:
        raise InputError(
            f"predictions are {setup.outcome} here, and {outcome} in the reference, which is another "
            "measure: say for both what they are (--outcome, --agree)."
        )
    _warn_about_same_rows(result, reference)
