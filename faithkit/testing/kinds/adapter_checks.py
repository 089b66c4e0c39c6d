"""What an adapter promises: that it takes objects of the types it names, and says the same each time."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd

from faithkit.arrays.containers import n_rows
from faithkit.explanations.explanations import Explanations
from faithkit.extension.entries import Entry
from faithkit.inputs.objects.adapters import ROLES, RowContext, made_by, takes
from faithkit.testing.checks import demand, needs
from faithkit.testing.kinds.component_checks import make
from faithkit.testing.sameness import changed_part
from faithkit.wording import listing


def check_takes_objects_of_the_types_that_it_names(entry: Entry) -> None:
    """Check that `types` lead from the adapter's own example to the adapter, without importing anything.

    An object whose type no adapter names is refused, or compared as something that it is not.
    """
    name, types = entry.component.name, entry.component.types
    mend = 'Name the classes, as in types=("shap.Explanation",)'
    demand(bool(types), name, "it names no types", mend)
    given, _ = _example(entry)
    demand(
        takes(entry, given),
        name,
        f"its example is a {_called(given)}, which its types {listing(types)} do not lead to",
        mend,
    )


def check_makes_what_its_methods_say(entry: Entry) -> None:
    """Check that an adapter has a method for at least one role, and makes one row of each that it was given.

    A row too many or too few would put every explanation beside the wrong prediction.
    """
    needs(check_takes_objects_of_the_types_that_it_names, entry)
    name, roles = entry.component.name, _roles(entry)
    demand(bool(roles), name, "it has no method that takes anything", f"Give it one of {listing(ROLES)}")
    given, about = _example(entry)
    for role in roles:
        made = made_by(make(entry), entry, given, role, about)
        if role == "model":
            demand(callable(getattr(made, "predict", made)), name, "its model has no predict", "Give it one")
            continue
        if role == "explanations":
            found = f"explanations gave a {type(made).__name__}; expected faithkit.Explanations"
            demand(isinstance(made, Explanations), name, found, "Make Explanations.vectors(…) or .of(…)")
        if about.n is not None:
            rows = len(made) if isinstance(made, Explanations) else n_rows(made)
            found = f"{role} gave {rows} rows of an example of {about.n}"
            demand(rows == about.n, name, found, "Mark rows without an explanation as missing")


def check_taking_it_again_gives_the_same(entry: Entry) -> None:
    """Check that an object is read and not used up: taken twice, it says the same.

    A log is scored more than once, by several discretizers and relations.
    """
    needs(check_makes_what_its_methods_say, entry)
    if "explanations" not in _roles(entry):
        raise SkipTest(f"{entry.component.name} makes no explanations.")
    given, about = _example(entry)
    one, two = (made_by(make(entry), entry, given, "explanations", about) for _ in range(2))
    part = changed_part(one, two)
    mend = "Read the object, and change nothing in it"
    demand(part is None, entry.component.name, f"its {part} differ the second time", mend)


def _roles(entry: Entry) -> list[str]:
    made = make(entry)
    return [role for role in ROLES if callable(getattr(made, role, None))]


@lru_cache(maxsize=8)
def _example(entry: Entry) -> tuple[Any, RowContext]:
    found = make(entry).example()
    is_pair = isinstance(found, Sequence) and len(found) == 2 and isinstance(found[1], RowContext)
    mend = "Return an object of a few rows, and faithkit.plugin.RowContext(n=…) with what is known of them"
    demand(is_pair, entry.component.name, "example() did not give a pair of an object and About", mend)
    given, about = found
    return given, about


def _called(given: Any) -> str:
    one = given[0] if isinstance(given, list | tuple | np.ndarray | pd.Series) and len(given) else given
    return f"{type(one).__module__}.{type(one).__qualname__}"
