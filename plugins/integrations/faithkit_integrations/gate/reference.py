"""Whether an earlier result is one of the same system, measured in the same way: else it is no reference."""

from collections.abc import Collection

import faithkit

ROWS_THEMSELVES = "the rows themselves"
MOST_NAMES = 10  # a wide table has thousands of columns, but a message has one line


def check_comparable(result: faithkit.Evaluation, reference: faithkit.Evaluation) -> None:
    """Refuse a reference of another system or of other columns; warn of what does not matter.

    What is left is refused by `Evaluation.difference`: other predictions, and rows that were drawn otherwise.
    """
    if is_log(result) == is_log(reference):  # a log names neither its explainer nor the columns of the model
        _check_same("explainer", *_explainers(result, reference))
        _check_columns(result, reference)
    _check_same("discretizer", result.setup.discretizer.text, reference.setup.discretizer.text)
    if is_log(result) and is_log(reference) and result.kind != reference.kind:
        raise faithkit.errors.InputError(
            f"the explanations are of kind {result.kind!r} here, and {reference.kind!r} in the reference: "
            "write both alike."
        )
    _check_discretizer(result, reference)
    _warn_about_options(result, reference)
    _warn_about_same_rows(result, reference)


def is_log(result: faithkit.Evaluation) -> bool:
    """Whether the explanations were logged, so that no explainer is named."""
    return result.setup.explainer is None


def is_fitted_separately(result: faithkit.Evaluation, reference: faithkit.Evaluation) -> bool:
    """Whether sufficiency's relation was fitted to each sample separately, so that the two differ."""
    if result.relation_learnt_from is None:
        return False
    return not all(side.setup.learnt_from == "given" for side in (result, reference))


def _explainers(*sides: faithkit.Evaluation) -> list[str]:
    return ["" if side.setup.explainer is None else side.setup.explainer.text for side in sides]


def _check_same(kind: str, name: str, reference_name: str) -> None:
    if reference_name != name:
        raise faithkit.errors.InputError(
            f"the reference was measured with the {kind} {reference_name}, and this is {name}: give a "
            "reference of the same system, or compare the two with `faithkit compare`."
        )


def _check_discretizer(result: faithkit.Evaluation, reference: faithkit.Evaluation) -> None:
    """Refuse a discretizer that was fitted to each sample separately, because the two differ."""
    if ROWS_THEMSELVES in (result.discretizer_learnt_from, reference.discretizer_learnt_from):
        raise faithkit.errors.InputError(
            f"{result.setup.discretizer.text} learns from the rows it is judged on, so what it learnt for "
            "the reference is another discretizer than here: measure both with one background, or with a "
            "discretizer that learns nothing."
        )


def _check_columns(result: faithkit.Evaluation, reference: faithkit.Evaluation) -> None:
    """Refuse other columns: those of a log's explanations, or those that a model reads.

    A result that Python saved names no columns. If it is of a table, their number is compared.
    """
    names, reference_names = result.origin.columns, reference.origin.columns
    if names is not None and reference_names is not None:
        if sorted(names) != sorted(reference_names):
            raise faithkit.errors.InputError(
                f"the columns are {_join_few(names)} here, and {_join_few(reference_names)} in the "
                "reference: give a reference of the same columns."
            )
    elif not is_log(result):
        number, reference_number = _count_columns(result), _count_columns(reference)
        if None not in (number, reference_number) and number != reference_number:
            raise faithkit.errors.InputError(
                f"the number of columns is {number} here, and {reference_number} in the reference: give a "
                "reference of the same columns."
            )


def _count_columns(result: faithkit.Evaluation) -> int | None:
    """Return the number of columns that the model reads; None if it is not known."""
    if result.origin.columns is not None:
        return len(result.origin.columns)
    number: int | None = result.provenance()["data"]["columns"]
    return number


def _join_few(names: Collection[str]) -> str:
    rest = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(list(names)[:MOST_NAMES]) + rest or "none"


def _warn_about_options(result: faithkit.Evaluation, reference: faithkit.Evaluation) -> None:
    """Warn about options that differ but do not affect the difference."""
    options = {
        "estimator": (result.setup.estimator.text, reference.setup.estimator.text),
        "confidence": (result.confidence, reference.confidence),
    }
    for name, (value, reference_value) in options.items():
        if value != reference_value:
            faithkit.errors.warn(
                f"the reference was measured with the {name} {reference_value}, and this is {value}: their "
                f"difference is of leave-one-out, at the confidence {result.confidence}."
            )


def _warn_about_same_rows(result: faithkit.Evaluation, reference: faithkit.Evaluation) -> None:
    """Warn if the reference has the same rows; rows in memory or in a log are read if it has as many."""
    if result.n != reference.n:
        return
    fingerprint = result.provenance()["data"]["fingerprint"]
    if fingerprint is not None and fingerprint == reference.provenance()["data"]["fingerprint"]:
        faithkit.errors.warn(
            "the reference has the very rows of this sample, and a reference is taken for a separate sample: "
            "the interval of the difference is wider, as a rule, than it need be. In Python, "
            "`result.difference(other)` pairs rows.",
        )
