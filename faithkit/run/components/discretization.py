"""Identities: what a discretizer makes of explanations, and what it may have to learn before."""

import contextlib
import warnings
from typing import Any

from faithkit.errors import ContractError, FaithkitError, FaithkitWarning, InputError
from faithkit.explanations.discretizers import Original
from faithkit.explanations.explanations import Explanations
from faithkit.extension.registry import registry
from faithkit.foreign import foreign
from faithkit.measure.protocols import said
from faithkit.run.components.resolution import ResolvedComponent, component, installed_component

OTHER = "Use another one, such as original."
MEND = (
    "It is given Explanations, whose .values hold one for each row, and must return one identity for each: a "
    "2-D array, or a list of hashable values such as str or tuple."
)


def discretizer_for(given: Any, explanations: Explanations) -> ResolvedComponent:
    """Return the discretizer that was asked for, else the one that explanations name, else original.

    Examples
    --------
    >>> discretizer_for(None, Explanations.of(["a"])).text
    'original'
    >>> discretizer_for(None, Explanations.of(["a"], discretizer="orginal"))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the explanations name a discretizer that cannot be had: no discretizer ...
    """
    own = explanations.discretizer
    if given is not None or own is None:
        return component("discretizer", "original" if given is None else given)
    try:
        return installed_component("discretizer", own)
    except FaithkitError as error:
        raise InputError(
            f"the explanations name a discretizer that cannot be had: {str(error).rstrip('.')}. Correct that "
            "name, or give another discretizer (discretizer=, CLI: --discretize), such as 'original'."
        ) from error


def discretize(discretizer: ResolvedComponent, explanations: Explanations) -> Explanations:
    """Set the explanations' identity."""
    if isinstance(discretizer.instance, Original):
        return explanations
    kinds = accepted_kinds(discretizer)
    if kinds and explanations.kind not in kinds:
        raise InputError(
            f"the discretizer {discretizer.text} takes explanations of kind {' or '.join(kinds)}, and "
            f"these are of kind {explanations.kind!r}: choose another one, or 'original'."
        )
    with _asking(discretizer):
        found = discretizer.instance.discretize(explanations)
    return _identified(discretizer, explanations, found)


def _identified(discretizer: ResolvedComponent, explanations: Explanations, found: Any) -> Explanations:
    """Take what a discretizer returned, or say that it was the discretizer's doing."""
    returned = f"what the discretizer {discretizer.text} returned, of type {type(found).__name__},"
    try:
        with foreign(f"going through {returned}", _advice(discretizer), ContractError):
            return explanations.identified(found)
    except InputError as error:
        raise ContractError(f"{returned} is refused: {error} {_advice(discretizer)}") from error


def accepted_kinds(discretizer: ResolvedComponent) -> tuple[str, ...]:
    """Return the kinds of explanation that a discretizer takes; none where it does not say."""
    if discretizer.recipe is None:
        return ()
    return registry().find("discretizer", discretizer.recipe[0]).component.kinds


def teach(discretizer: ResolvedComponent, known: Explanations) -> None:
    """Fit a discretizer to explanations."""
    with _asking(discretizer):
        discretizer.instance.fit(known)


def _asking(discretizer: ResolvedComponent) -> contextlib.AbstractContextManager[None]:
    """Name the discretizer in what goes wrong inside it."""
    return foreign(f"the discretizer {discretizer.text}", _advice(discretizer), ContractError)


def _advice(discretizer: ResolvedComponent) -> str:
    """Say what to do: who asked by a name can only ask for another, who wrote a function can mend it."""
    return OTHER if discretizer.recipe is not None else MEND


def learns(given: ResolvedComponent) -> bool:
    """Whether a component learns from the background: explainers unless they deny it, others by `fit`."""
    if given.kind == "explainer":
        return bool(said(given.instance, "learns"))
    return said(given.instance, "fit") is not None


def warn_about_background(
    given: ResolvedComponent, remedy: str = "pass background= (CLI: --background)"
) -> None:
    """Say that judging explanations on the rows they were learnt from flatters them."""
    warnings.warn(
        f"no background was given, so {given.text} learns from the rows it is judged on, which flatters it: "
        f"{remedy}.",
        FaithkitWarning,
        stacklevel=3,
    )
