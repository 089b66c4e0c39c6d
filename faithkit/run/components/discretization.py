"""Discretization: choose a discretizer, fit it if it learns, and set the identities of explanations."""

import contextlib
from typing import Any

import numpy as np

from faithkit.errors import ContractError, FaithkitError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.precision import Original
from faithkit.extension.registry import registry
from faithkit.run.components.resolution import (
    ResolvedComponent,
    resolve_component,
    resolve_installed_component,
)
from faithkit.third_party import guard

USE_ANOTHER = "Use another one, such as original."
MEND_FUNCTION = (
    "It is given Explanations, whose .values hold one for each row, and must return one identity for each: a "
    "2-D array, or a list of hashable values such as str or tuple."
)


def choose_discretizer(discretizer: Any, explanations: Explanations) -> ResolvedComponent:
    """Return the user's discretizer, else the one that the explanations name, else original.

    Examples
    --------
    >>> choose_discretizer(None, Explanations.of(["a"])).text
    'original'
    >>> choose_discretizer(None, Explanations.of(["a"], discretizer="orginal"))
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the explanations name a discretizer that is not available: no discretizer ...
    """
    declared = explanations.discretizer
    if discretizer is not None or declared is None:
        return resolve_component("discretizer", "original" if discretizer is None else discretizer)
    try:
        return resolve_installed_component("discretizer", declared)
    except FaithkitError as error:
        raise InputError(
            f"the explanations name a discretizer that is not available: {str(error).rstrip('.')}. Correct "
            "that name, or give another discretizer (discretizer=, CLI: --discretize), such as 'original'."
        ) from error


def discretize(discretizer: ResolvedComponent, explanations: Explanations) -> Explanations:
    """Return the explanations with the identities that a discretizer gives them."""
    if isinstance(discretizer.instance, Original):
        return explanations
    kinds = accepted_kinds(discretizer)
    if kinds and explanations.kind not in kinds:
        raise InputError(
            f"the discretizer {discretizer.text} takes explanations of kind {' or '.join(kinds)}, and "
            f"these are of kind {explanations.kind!r}: choose another one, or 'original'."
        )
    with _guard(discretizer):
        identities = discretizer.instance.discretize(explanations)
    returned = f"what the discretizer {discretizer.text} returned, of type {type(identities).__name__},"
    try:
        with guard(f"going through {returned}", _advice(discretizer), ContractError):
            return explanations.identified(identities)
    except InputError as error:
        raise ContractError(f"{returned} is refused: {error} {_advice(discretizer)}") from error


def accepted_kinds(discretizer: ResolvedComponent) -> tuple[str, ...]:
    """Return the kinds of explanation that a discretizer accepts; empty if it declares none."""
    if discretizer.recipe is None:
        return ()
    return registry().find("discretizer", discretizer.recipe[0]).component.kinds


def fit_discretizer(discretizer: ResolvedComponent, explanations: Explanations) -> None:
    """Fit a discretizer to a copy of the explanations, without missing ones."""
    with _guard(discretizer):
        discretizer.instance.fit(explanations.take(np.flatnonzero(~explanations.missing)))


def _guard(discretizer: ResolvedComponent) -> contextlib.AbstractContextManager[None]:
    """Add the discretizer's name to the errors that it raises."""
    return guard(f"the discretizer {discretizer.text}", _advice(discretizer), ContractError)


def _advice(discretizer: ResolvedComponent) -> str:
    """Return advice: replace an installed discretizer, or fix a function."""
    return USE_ANOTHER if discretizer.recipe is not None else MEND_FUNCTION
