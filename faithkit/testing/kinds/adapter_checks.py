"""Checks of adapters: they accept objects of their declared types, and always read them in the same way."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd

from faithkit.arrays.containers import n_rows
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.inputs.objects.adapters import ROLES, RowContext, call_adapter, takes
from faithkit.testing.checks import require, skip_unless_passes
from faithkit.testing.equality import first_changed_column
from faithkit.testing.kinds.component_checks import create
from faithkit.wording import join_words


def check_takes_objects_of_the_types_that_it_names(entry: Entry) -> None:
    """Check that the adapter's `types` match its own example, without importing anything.

    Objects are assigned to adapters by type. An object that matches no adapter is rejected or misread.
    """
    name, types = entry.component.name, entry.component.types
    remedy = 'Name the classes, as in types=("shap.Explanation",)'
    require(bool(types), name, "it names no types", remedy)
    example, _ = _example(entry)
    require(
        takes(entry, example),
        name,
        f"its example is a {_type_name(example)}, which does not match its types {join_words(types)}",
        remedy,
    )


def check_makes_what_its_methods_say(entry: Entry) -> None:
    """Check that an adapter has a method for at least one role, and returns one row per row of the object.

    With a row too many or too few, explanations would be matched with the wrong predictions.
    """
    skip_unless_passes(check_takes_objects_of_the_types_that_it_names, entry)
    name, roles = entry.component.name, _roles(entry)
    require(bool(roles), name, "it has no method that takes anything", f"Give it one of {join_words(ROLES)}")
    example, context = _example(entry)
    for role in roles:
        adapted = call_adapter(create(entry), entry, example, role, context)
        if role == "model":
            require(
                callable(getattr(adapted, "predict", adapted)),
                name,
                "its model has no predict",
                "Give it one",
            )
            continue
        if role == "explanations":
            problem = f"explanations gave a {type(adapted).__name__}; expected faithkit.Explanations"
            require(
                isinstance(adapted, Explanations), name, problem, "Make Explanations.vectors(…) or .of(…)"
            )
        if context.n is not None:
            n_adapted = len(adapted) if isinstance(adapted, Explanations) else n_rows(adapted)
            problem = f"{role} gave {n_adapted} rows of an example of {context.n}"
            require(n_adapted == context.n, name, problem, "Mark rows without an explanation as missing")


def check_taking_it_again_gives_the_same(entry: Entry) -> None:
    """Check that reading an object does not change it: read twice, it gives equal explanations.

    A log is scored more than once, by several discretizers and relations.
    """
    skip_unless_passes(check_makes_what_its_methods_say, entry)
    if "explanations" not in _roles(entry):
        raise SkipTest(f"{entry.component.name} makes no explanations.")
    example, context = _example(entry)
    first, second = (call_adapter(create(entry), entry, example, "explanations", context) for _ in range(2))
    column = first_changed_column(first, second)
    remedy = "Read the object, and change nothing in it"
    require(column is None, entry.component.name, f"its {column} differ the second time", remedy)


def _roles(entry: Entry) -> list[str]:
    adapter = create(entry)
    return [role for role in ROLES if callable(getattr(adapter, role, None))]


@lru_cache(maxsize=8)
def _example(entry: Entry) -> tuple[Any, RowContext]:
    pair = create(entry).example()
    is_pair = isinstance(pair, Sequence) and len(pair) == 2 and isinstance(pair[1], RowContext)
    remedy = "Return an object of a few rows, and faithkit.plugin.RowContext(n=…) with what is known of them"
    require(
        is_pair, entry.component.name, "example() did not give a pair of an object and RowContext", remedy
    )
    example, context = pair
    return example, context


def _type_name(value: Any) -> str:
    element = value[0] if isinstance(value, list | tuple | np.ndarray | pd.Series) and len(value) else value
    return f"{type(element).__module__}.{type(element).__qualname__}"
