"""The key of a chunk: a digest of everything that determines its result."""

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
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.seeds import fingerprint, header, row_words
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.explaining.chunk_result import FORMAT
from faithkit.run.explaining.job import Job
from faithkit.run.provenance import library_versions, versions
from faithkit.third_party import guard

MAX_SCORES = 2**22  # computed at a time, so that the scores of a hundred thousand labels fit into memory
SCORE_BITS = 10  # the precision to which scores are compared


def digest(*values: Any) -> str:
    """Return 32 hex digits that identify a sequence of JSON values and bytes."""
    state = hashlib.blake2b(digest_size=16)
    for value in values:
        state.update(value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode())
        state.update(b"\0")
    return state.hexdigest()


def chunk_keys(job: Job, X: Any, edges: list[tuple[int, int]]) -> Iterator[str]:
    """Yield the key of each chunk: a digest of the job, the predictions and the rows, then one of the rows.

    Predictions are part of the key because the file or code of a model may not show weights that it loads.
    """
    job_key = _job_key(job, X)
    words = np.column_stack([row_words(X, seed) for seed in (1, 2)]).astype("<u8")
    labels = _labels_as_json(job.predictor.predict(X))
    scores = _score_digests(job.predictor, X)
    for start, stop in edges:
        rows_digest = digest(words[start:stop].tobytes())
        yield digest(job_key, rows_digest, labels[start:stop], scores and scores[start:stop]) + rows_digest


def _job_key(job: Job, X: Any) -> str:
    """Return a digest of everything that determines an explanation, except the row itself."""
    explainer, predictor = job.explainer, job.predictor
    # for numbers, any explainer may learn from the background how far apart they lie
    learns = get_optional_attribute(explainer.instance, "learns") or predictor.is_regressor
    return digest(
        FORMAT,
        explainer.text,
        _source_digest(type(explainer.instance))
        if explainer.recipe
        else _object_digests(explainer.instance, "explainer"),
        versions((explainer,)) | library_versions(explainer),
        job.seed,
        _object_digests(predictor.model, "model"),
        fingerprint(job.background) if learns else None,
        repr(header(take_rows(X, slice(0, 0)))),
        *(["numbers", predictor.within] if predictor.is_regressor else []),
    )


def _labels_as_json(labels: NDArray[Any]) -> list[Any]:
    """Return labels as JSON values; numbers are rounded, because their last bits depend on the machine."""
    if labels.dtype.kind == "f":
        rounded = _round_to_bits(labels.reshape(len(labels), -1).astype(np.float64))
        return list((rounded[:, 0] if labels.ndim == 1 else rounded).tolist())
    return list(labels.tolist())


def _score_digests(predictor: Predictor, X: Any) -> list[str] | None:
    """Return a digest of the scores of every row; None where the model has no scores."""
    if not predictor.has_scores:
        return None
    n_classes = 1 if predictor.classes is None else len(predictor.classes)
    digests = []
    try:
        for start, stop in spans(n_rows(X), max(1, MAX_SCORES // max(1, n_classes))):
            with guard("the model"):
                scores = predictor.scores(take_rows(X, slice(start, stop)))
            digests += [hashlib.blake2b(row, digest_size=8).hexdigest() for row in _round_to_bits(scores)]
    except FaithkitError:  # scores are optional here; an explainer that needs them will report the error
        return None
    return digests


def _round_to_bits(numbers: NDArray[np.float64]) -> NDArray[np.int16]:
    """Round to a thousandth of each row's largest number.

    Machines differ in the last bits only, and models in more. A number on the edge between two steps may be
    rounded either way. Its chunk is then explained again, which costs time and is no error.

    Examples
    --------
    >>> _round_to_bits(np.array([[0.3, 0.7], [0.1 + 0.2, 0.7]]))
    array([[307, 717],
           [307, 717]], dtype=int16)
    """
    _, exponent = np.frexp(np.abs(numbers).max(axis=1, initial=0.0, keepdims=True))
    steps = np.rint(np.ldexp(numbers, SCORE_BITS - exponent))
    return np.clip(steps, -(2**SCORE_BITS), 2**SCORE_BITS).astype("<i2")


def _object_digests(value: Any, role: str) -> list[str]:
    """Return digests of an object's state and of the file that defines it, so that edited code counts."""
    import cloudpickle
    import joblib

    advice = "The store cannot tell it from another: define it in a module, or run without a store."
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
