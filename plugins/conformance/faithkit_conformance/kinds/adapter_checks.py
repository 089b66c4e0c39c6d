"""Checks of adapters: they accept objects of their declared types, and always read them in the same way."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd

from faithkit import Explanations
from faithkit.plugin import RowContext, join_words, n_rows
from faithkit_conformance.checks import require, skip_unless_passes
from faithkit_conformance.equality import first_changed_column
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate

ROLES = ("explanations", "rows", "predictions", "model")
"""What an adapter can convert an object to; each role is the name of a method."""


def check_takes_objects_of_the_types_that_it_names(candidate: Candidate) -> None:
    """Check that the adapter's `types` match its own example, without importing anything.

    Objects are assigned to adapters by type. An object that matches no adapter is rejected or misread. An
    adapter of texts, of the type `text`, is asked instead whether it takes them.
    """
    types = candidate.component.types
    remedy = 'Name the classes, as in types=("shap.Explanation",)'
    require(bool(types), "it names no types", remedy)
    example, _ = _example(candidate)
    if "text" in types:
        takes_example = create(candidate).takes(list(dict.fromkeys(example)))
        require(takes_example, "it does not take the texts of its own example", "See its method takes")
        return
    is_sequence = isinstance(example, list | tuple | np.ndarray | pd.Series) and len(example) > 0
    example_type = type(example[0] if is_sequence else example)
    type_name = f"{example_type.__module__}.{example_type.__qualname__}"
    problem = f"its example is a {type_name}, which does not match its types {', '.join(types)}"
    known_classes = {(name.partition(".")[0], name.rpartition(".")[2]) for name in types}
    classes = {(base.__module__.partition(".")[0], base.__qualname__) for base in example_type.__mro__}
    require(not known_classes.isdisjoint(classes), problem, remedy)


def check_makes_what_its_methods_say(candidate: Candidate) -> None:
    """Check that an adapter has a method for at least one role, and returns one row per row of the object.

    With a row too many or too few, explanations would be matched with the wrong predictions.
    """
    skip_unless_passes(check_takes_objects_of_the_types_that_it_names, candidate)
    roles = _roles(candidate)
    require(bool(roles), "it has no method that takes anything", f"Give it one of {join_words(ROLES)}")
    example, context = _example(candidate)
    for role in roles:
        adapted = _adapt(candidate, role, example, context)
        require(adapted is not None, f"{role} returned None for its example", "Return what it is, converted")
        if role == "model":
            has_predict = callable(getattr(adapted, "predict", adapted))
            require(has_predict, "its model has no predict", "Give it one")
            continue
        if role == "explanations":
            problem = f"explanations gave a {type(adapted).__name__}; expected faithkit.Explanations"
            remedy = "Make Explanations.vectors(…) or .of(…)"
            require(isinstance(adapted, Explanations), problem, remedy)
        if context.n is not None:
            n_adapted = len(adapted) if isinstance(adapted, Explanations) else n_rows(adapted)
            problem = f"{role} gave {n_adapted} rows of an example of {context.n}"
            require(n_adapted == context.n, problem, "Mark rows without an explanation as missing")


def check_taking_it_again_gives_the_same(candidate: Candidate) -> None:
    """Check that reading an object does not change it: read twice, it gives equal explanations.

    A log is scored more than once, by several discretizers and relations.
    """
    skip_unless_passes(check_makes_what_its_methods_say, candidate)
    if "explanations" not in _roles(candidate):
        raise SkipTest(f"{candidate.name} makes no explanations.")
    example, context = _example(candidate)
    first, second = (_adapt(candidate, "explanations", example, context) for _ in range(2))
    column = first_changed_column(first, second)
    remedy = "Read the object, and change nothing in it"
    require(column is None, f"its {column} differ the second time", remedy)


def _roles(candidate: Candidate) -> list[str]:
    adapter = create(candidate)
    return [role for role in ROLES if callable(getattr(adapter, role, None))]


def _adapt(candidate: Candidate, role: str, example: Any, context: RowContext) -> Any:
    """Convert an example with a new adapter, as the kernel does."""
    arguments = (context,) if role in ("explanations", "model") else ()
    return getattr(create(candidate), role)(example, *arguments)


@lru_cache(maxsize=8)
def _example(candidate: Candidate) -> tuple[Any, RowContext]:
    pair = create(candidate).example()
    is_pair = isinstance(pair, Sequence) and len(pair) == 2 and isinstance(pair[1], RowContext)
    remedy = "Return an object of a few rows, and faithkit.plugin.RowContext(n=…) with what is known of them"
    problem = "example() did not give a pair of an object and RowContext"
    require(is_pair, problem, remedy)
    example, context = pair
    return example, context
