"""What a loader promises: that it takes files of the types it names, and makes a model that predicts."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import SkipTest

import numpy as np

from faithkit.arrays.containers import n_rows
from faithkit.extension.entries import Entry
from faithkit.inputs.models.loaders import takes
from faithkit.inputs.models.predictor import Predictor
from faithkit.testing.checks import demand, needs
from faithkit.testing.kinds.component_checks import make
from faithkit.wording import listing


def check_takes_files_of_the_types_that_it_names(entry: Entry) -> None:
    """Check that `types` lead from the loader's own example to the loader.

    A file that no loader names is refused, whatever it holds.
    """
    name, types = entry.component.name, entry.component.types
    mend = 'Name suffixes, as in types=(".acme",), or a file by which its folders are known'
    demand(bool(types), name, "it names no types", mend)
    with _example(entry) as (path, _):
        found = f"its example is {os.path.basename(path)}, which its types {listing(types)} do not lead to"
        demand(takes(entry, path), name, found, mend)


def check_says_whether_code_runs(entry: Entry) -> None:
    """Check that `runs_code` of the class is True or False.

    What runs code is loaded only where a person trusts the file; nobody should have to guess.
    """
    found = getattr(entry.component.load(), "runs_code", None)
    mend = "Write runs_code = True in the class, unless no file could ever make it run code of its own"
    demand(isinstance(found, bool), entry.component.name, f"its runs_code is {found!r}", mend)


def check_loads_a_model_that_predicts(entry: Entry) -> None:
    """Check that the example becomes a model that gives a prediction per row, the same when loaded again.

    A path is all that a person gives, so that what is loaded must be ready.
    """
    needs(check_takes_files_of_the_types_that_it_names, entry)
    with _example(entry) as (path, X):
        first, again = (_predicted(entry, path, X) for _ in range(2))
    found = f"its model gave {len(first)} predictions of {n_rows(X)} rows"
    demand(len(first) == n_rows(X), entry.component.name, found, "Give one for each row")
    same = first.tolist() == again.tolist()
    demand(same, entry.component.name, "loaded again, the model predicts something else", "Fix its seed")


def check_a_damaged_file_is_refused(entry: Entry) -> None:
    """Check that half of a file raises an exception.

    Half of a model may predict, and nobody would know that it is another model.
    """
    needs(check_loads_a_model_that_predicts, entry)
    with _example(entry) as (path, _):
        if not os.path.isfile(path):
            raise SkipTest(f"{entry.component.name} takes folders, of which any file may matter.")
        content = Path(path).read_bytes()
        Path(path).write_bytes(content[: len(content) // 2])
        try:
            make(entry).load(path)
        except Exception:
            return
    mend = "Raise faithkit.errors.InputError where anything is missing, or keep a checksum in the file"
    demand(False, entry.component.name, "half of a file was loaded as if it were whole", mend)


def _predicted(entry: Entry, path: str, X: Any) -> Any:
    return np.asarray(Predictor(make(entry).load(path), background=X).predict(X))


@contextmanager
def _example(entry: Entry) -> Iterator[tuple[str, Any]]:
    with TemporaryDirectory() as folder:
        found = make(entry).example(folder)
        is_pair = isinstance(found, tuple) and len(found) == 2 and os.path.exists(str(found[0]))
        mend = "Write a small model into the folder, and return its path and rows that it takes"
        demand(is_pair, entry.component.name, "example() did not give a path and rows", mend)
        path, X = found
        yield os.fspath(path), X
