"""The key of a chunk: a name for everything that determines the answer to it."""

import hashlib
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit.arrays.blocks import spans
from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import FaithkitError
from faithkit.foreign import foreign
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.seeds import fingerprint, header, row_words
from faithkit.measure.protocols import said
from faithkit.run.explaining.answer import FORMAT
from faithkit.run.explaining.job import Job
from faithkit.run.provenance import libraries, versions

SCORES = 2**22  # asked for at a time, so that a hundred thousand labels fit into memory
STEPS = 10  # bits of a score that count


def digest(*facts: Any) -> str:
    """Return 32 hex digits that name some JSON values and bytes."""
    found = hashlib.blake2b(digest_size=16)
    for fact in facts:
        found.update(fact if isinstance(fact, bytes) else json.dumps(fact, sort_keys=True).encode())
        found.update(b"\0")
    return found.hexdigest()


def keys(job: Job, X: Any, edges: list[tuple[int, int]]) -> Iterator[str]:
    """Name each chunk: the job, what the model says of its rows, and their content, which ends the key.

    The model's file or code does not tell of weights that it loads; its answers do.
    """
    whole = _key(job, X)
    words = np.column_stack([row_words(X, seed) for seed in (1, 2)]).astype("<u8")
    labels = _labels(job.predictor.predict(X))
    scores = _score_words(job.predictor, X)
    for start, stop in edges:
        rows = digest(words[start:stop].tobytes())
        yield digest(whole, rows, labels[start:stop], scores and scores[start:stop]) + rows


def _key(job: Job, X: Any) -> str:
    """Name all that determines an explanation, but for the row itself."""
    given, asked = job.explainer, job.predictor
    # of numbers every explainer may learn how far they lie apart
    learns = said(given.instance, "learns") or asked.is_regressor
    return digest(
        FORMAT,
        given.text,
        _source(type(given.instance)) if given.recipe else _content(given.instance, "explainer"),
        versions((given,)) | libraries(given),
        job.seed,
        _content(asked.model, "model"),
        fingerprint(job.background) if learns else None,
        repr(header(take_rows(X, slice(0, 0)))),
        *(["numbers", asked.within] if asked.is_regressor else []),
    )


def _labels(labels: NDArray[Any]) -> list[Any]:
    """Return labels as JSON values; of numbers only what does not depend on the machine."""
    if labels.dtype.kind == "f":
        coarse = _coarse(labels.reshape(len(labels), -1).astype(np.float64))
        return list((coarse[:, 0] if labels.ndim == 1 else coarse).tolist())
    return list(labels.tolist())


def _score_words(predictor: Predictor, X: Any) -> list[str] | None:
    """Return a few letters for the scores of every row; None where the model has none to give."""
    if not predictor.has_scores:
        return None
    width = 1 if predictor.classes is None else len(predictor.classes)
    found = []
    try:
        for start, stop in spans(n_rows(X), max(1, SCORES // max(1, width))):
            with foreign("the model"):
                scores = predictor.scores(take_rows(X, slice(start, stop)))
            found += [hashlib.blake2b(row, digest_size=8).hexdigest() for row in _coarse(scores)]
    except FaithkitError:  # it need not: an explainer that asks for scores will tell
        return None
    return found


def _coarse(numbers: NDArray[np.float64]) -> NDArray[np.int16]:
    """Round to a thousandth of each row's largest number: machines differ in the last bits, models in more.

    A number on the edge between two steps may fall on either side. Its rows are then explained again, which
    is a waste and no error.

    Examples
    --------
    >>> _coarse(np.array([[0.3, 0.7], [0.1 + 0.2, 0.7]]))
    array([[307, 717],
           [307, 717]], dtype=int16)
    """
    _, exponent = np.frexp(np.abs(numbers).max(axis=1, initial=0.0, keepdims=True))
    steps = np.rint(np.ldexp(numbers, STEPS - exponent))
    return np.clip(steps, -(2**STEPS), 2**STEPS).astype("<i2")


def _content(thing: Any, what: str) -> list[str]:
    """Digest an object: its state, and the file that defines it, so that edited code is another question."""
    import cloudpickle
    import joblib

    advice = "The store cannot tell it from another: define it in a module, or run without a store."
    with foreign(f"pickling the {what}", advice):
        if hasattr(thing, "__code__"):
            return [digest(cloudpickle.dumps(thing)), _source(thing)]
        return [str(joblib.hash(thing)), _source(type(thing))]


def _source(thing: Any) -> str:
    """Digest the file in which a function or class is defined; what was typed in has none."""
    try:
        file = inspect.getsourcefile(thing)
        return digest(Path(file).read_bytes()) if file else ""
    except (TypeError, OSError):
        return ""
