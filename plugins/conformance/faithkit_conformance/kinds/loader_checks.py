"""Checks of loaders: they accept files of their declared types, and return models that predict."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import SkipTest

import numpy as np

from faithkit import Predictor
from faithkit.plugin import n_rows
from faithkit_conformance.checks import require, skip_unless_passes
from faithkit_conformance.kinds.component_checks import create
from faithkit_conformance.kit import Candidate


def check_takes_files_of_the_types_that_it_names(candidate: Candidate) -> None:
    """Check that the loader's `types` match its own example.

    Files are assigned to loaders by type. A file that matches no loader is rejected.
    """
    types = candidate.component.types
    remedy = 'Name suffixes, as in types=(".acme",), or a file by which its folders are known'
    require(bool(types), "it names no types", remedy)
    with _example(candidate) as (path, _):
        problem = (
            f"its example is {os.path.basename(path)}, which does not match its types {', '.join(types)}"
        )
        require(any(_is_of_type(path, type_name) for type_name in types), problem, remedy)


def check_says_whether_code_runs(candidate: Candidate) -> None:
    """Check that `runs_code` of the class is True or False.

    Files that can run code are loaded only if the user trusts them.
    """
    runs_code = getattr(candidate.component.load(), "runs_code", None)
    remedy = "Write runs_code = True in the class, unless no file could ever make it run code of its own"
    require(isinstance(runs_code, bool), f"its runs_code is {runs_code!r}", remedy)


def check_loads_a_model_that_predicts(candidate: Candidate) -> None:
    """Check that the example loads as a model with one prediction per row, the same when loaded again.

    Users give only a path, so the loaded model must be ready to predict.
    """
    skip_unless_passes(check_takes_files_of_the_types_that_it_names, candidate)
    with _example(candidate) as (path, X):
        first, second = (_load_and_predict(candidate, path, X) for _ in range(2))
    problem = f"its model gave {len(first)} predictions of {n_rows(X)} rows"
    require(len(first) == n_rows(X), problem, "Give one for each row")
    is_same = first.tolist() == second.tolist()
    require(is_same, "loaded again, the model predicts something else", "Fix its seed")


def check_a_damaged_file_is_refused(candidate: Candidate) -> None:
    """Check that half of a file raises an exception.

    Half of a model may still predict, and nobody would notice that it is another model.
    """
    skip_unless_passes(check_loads_a_model_that_predicts, candidate)
    with _example(candidate) as (path, _):
        if not os.path.isfile(path):
            raise SkipTest(f"{candidate.name} takes folders, of which any file may matter.")
        content = Path(path).read_bytes()
        Path(path).write_bytes(content[: len(content) // 2])
        try:
            create(candidate).load(path)
        except Exception:
            return
    remedy = "Raise faithkit.errors.InputError where anything is missing, or keep a checksum in the file"
    require(False, "half of a file was loaded as if it were whole", remedy)


def _load_and_predict(candidate: Candidate, path: str, X: Any) -> Any:
    return np.asarray(Predictor(create(candidate).load(path), background=X).predict(X))


def _is_of_type(path: str, type_name: str) -> bool:
    """Return whether a path has a suffix (".acme"), or is a folder with a file of this name."""
    if type_name.startswith("."):
        return Path(path).suffix.lower() == type_name.lower()
    return (Path(path) / type_name).is_file()


@contextmanager
def _example(candidate: Candidate) -> Iterator[tuple[str, Any]]:
    with TemporaryDirectory() as folder:
        example = create(candidate).example(folder)
        is_pair = isinstance(example, tuple) and len(example) == 2 and os.path.exists(str(example[0]))
        remedy = "Write a small model into the folder, and return its path and rows that it takes"
        require(is_pair, "example() did not give a path and rows", remedy)
        path, X = example
        yield os.fspath(path), X
