"""The key of a chunk in a store: a digest of everything that determines its result."""

import hashlib
import inspect
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import cloudpickle
import joblib
import numpy as np
from numpy.typing import NDArray

from faithkit import Predictor
from faithkit.errors import FaithkitError
from faithkit.plugin import (
    Chunk,
    Job,
    concat_rows,
    fingerprint,
    guard,
    library_versions,
    row_seeds,
    take_rows,
    versions,
)

FORMAT = "faithkit chunk 9"
SCORE_BITS = 10  # the precision to which scores are compared
WORDS = 4  # words of 32 bits that stand for the content of a row


def digest(*values: Any) -> str:
    """Return 32 hex digits that identify a sequence of JSON values and bytes."""
    state = hashlib.blake2b(digest_size=16)
    for value in values:
        state.update(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode())
        state.update(b"\0")
    return state.hexdigest()


def chunk_keys(job: Job, chunks: Sequence[Chunk]) -> Iterator[str]:
    """Yield the key of each chunk: a digest of the job, the rows and the predictions.

    Predictions are part of the key because the file or code of a model may not show weights that it loads.
    """
    if not chunks:
        return
    X = concat_rows([chunk.X for chunk in chunks])  # so that the model predicts once, and not for each chunk
    job_key = _job_key(job, X)
    words = np.column_stack([row_seeds(X, seed) for seed in range(WORDS)]).astype("<u4")
    labels, scores = job.predictor.predict(X), _rounded_scores(job.predictor, X)
    if labels.dtype.kind == "f":
        labels = _round_to_bits(labels)
    start = 0
    for chunk in chunks:
        rows = slice(start, start + len(chunk))
        start = rows.stop
        yield digest(job_key, words[rows].tobytes(), labels[rows].tolist(), scores[rows].tobytes())


def _job_key(job: Job, X: Any) -> str:
    """Return a digest of everything that determines an explanation, except the row itself."""
    explainer, predictor = job.explainer, job.predictor
    # for numbers, any explainer may learn from the background how far apart they lie
    learns = getattr(explainer.instance, "learns", True) or predictor.is_regressor
    return digest(
        FORMAT,
        explainer.text,
        _source_digest(type(explainer.instance))
        if explainer.recipe
        else _object_digests(explainer.instance, "explainer"),
        versions([explainer]) | library_versions(explainer),
        job.seed,
        _object_digests(predictor.model, "model"),
        fingerprint(job.background) if learns else None,
        fingerprint(take_rows(X, slice(0, 0))),  # the kind of container, and names and types of columns
        [predictor.is_regressor, predictor.within],
    )


def _rounded_scores(predictor: Predictor, X: Any) -> NDArray[np.int16]:
    """Return the rounded scores of every row; none where the model has no scores."""
    try:
        with guard("the model"):
            return _round_to_bits(predictor.scores(X))
    except FaithkitError:  # scores are optional here; an explainer that needs them will report the error
        return np.empty((0, 0), dtype=np.int16)


def _round_to_bits(numbers: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return each row's exponent, and its numbers rounded to a thousandth of the largest.

    Machines differ in the last bits only, and models in more. A number on the edge between two steps may be
    rounded either way. Its chunk is then explained again, which costs time and is no error.

    Examples
    --------
    >>> _round_to_bits(np.array([[0.3, 0.7], [0.1 + 0.2, 0.7]]))
    array([[  0, 307, 717],
           [  0, 307, 717]], dtype=int16)
    """
    rows = numbers.reshape(len(numbers), -1)
    _, exponent = np.frexp(np.abs(rows).max(axis=1, initial=0.0, keepdims=True))
    steps = np.rint(np.ldexp(rows, SCORE_BITS - exponent))
    return np.hstack([exponent, np.clip(steps, -(2**SCORE_BITS), 2**SCORE_BITS)]).astype("<i2")


def _object_digests(value: Any, role: str) -> list[str]:
    """Return digests of an object's state and of its source file, so that edits change the key."""
    advice = "The store cannot identify it: define it in a module, or run without a store."
    with guard(f"pickling the {role}", advice):
        if hasattr(value, "__code__"):
            return [digest(cloudpickle.dumps(value)), _source_digest(value)]
        return [str(joblib.hash(value)), _source_digest(type(value))]


def _source_digest(definition: Any) -> str:
    """Return a digest of the file that defines a function or class; empty if it was typed interactively."""
    try:
        file = inspect.getsourcefile(definition)
        return digest(Path(file).read_bytes()) if file else ""
    except (TypeError, OSError):
        return ""
