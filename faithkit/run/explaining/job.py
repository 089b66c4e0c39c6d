"""A job: all that a worker needs to explain rows, and the name of everything that determines them."""

import copy
import hashlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from faithkit.errors import ContractError, ExplainerError, FaithkitError
from faithkit.foreign import foreign
from faithkit.inputs.predictor import Predictor
from faithkit.inputs.seeds import fingerprint, header, row_words
from faithkit.measure.blocks import spans
from faithkit.measure.explanations import Explanations
from faithkit.measure.rows import copy_rows, n_rows, take_rows
from faithkit.run.components import Given, component
from faithkit.run.explaining.serial import FORMAT
from faithkit.run.explaining.store import Question, digest
from faithkit.run.provenance import libraries, versions

SCORES = 2**22  # asked for at a time, so that a hundred thousand labels fit into memory
STEPS = 10  # bits of a score that count


@attrs.frozen(eq=False, slots=False)
class Job:
    """An explainer by name or by instance, the model and the background to fit it with, and a seed.

    It fits its explainer when first asked, so that a run that finds everything in the store never does.
    """

    explainer: Given
    predictor: Predictor
    background: Any
    seed: int

    @cached_property
    def fitted(self) -> Any:
        """The fitted explainer."""
        with foreign(f"fitting the explainer {self.explainer.text}", error=ExplainerError):
            fitted = self.explainer.instance.fit(self.predictor, self.background)
        if fitted is None:
            raise ContractError(f"the explainer {self.explainer.text}: fit returned None; expected itself.")
        return fitted

    def fresh(self) -> "Job":
        """Return the same job with an explainer of its own, rebuilt by name where it has one."""
        if self.explainer.recipe is None:
            given = attrs.evolve(self.explainer, instance=copy.deepcopy(self.explainer.instance))
        else:
            given = component("explainer", self.explainer.text)
        return Job(given, self.predictor, self.background, self.seed)

    def explain(self, X: Any, seeds: NDArray[np.uint32]) -> Explanations:
        """Explain rows: one explanation each, whatever the batch they come in."""
        own = copy_rows(X)  # some explainers change their input; what X holds is compared later
        return checked_explanations(self.fitted.explain(own, seeds.copy()), X, self.explainer.text)

    @property
    def rows_per_chunk(self) -> int:
        """How many rows are worth a trip to a worker; explainers that are fast in batches say more."""
        told = getattr(self.explainer.instance, "rows_per_chunk", 32)
        if not isinstance(told, Integral) or told < 1:
            raise ContractError(
                f"the explainer {self.explainer.text}: rows_per_chunk is {told!r}; expected a whole number "
                "above 0."
            )
        return int(told)

    def key(self, X: Any) -> str:
        """Return the name of all that determines an explanation, but for the row itself."""
        return digest(
            FORMAT,
            self.explainer.text,
            _source(type(self.explainer.instance))
            if self.explainer.recipe
            else _content(self.explainer.instance, "explainer"),
            versions((self.explainer,)) | libraries(self.explainer),
            self.seed,
            _content(self.predictor.model, "model"),
            fingerprint(self.background) if getattr(self.explainer.instance, "learns", True) else None,
            repr(header(take_rows(X, slice(0, 0)))),
        )


def questions(job: Job, X: Any, edges: list[tuple[int, int]]) -> Iterator[Question]:
    """Say what is asked about each chunk: the job, the content of its rows, and what the model says of them.

    The model's file or code does not tell of weights that it loads; its answers do.
    """
    whole = job.key(X)
    words = np.column_stack([row_words(X, seed) for seed in (1, 2)]).astype("<u8")
    labels = _answers(job.predictor.predict(X))
    scores = _score_words(job.predictor, X)
    for start, stop in edges:
        rows = digest(words[start:stop].tobytes())
        answers = [labels[start:stop], scores and scores[start:stop]]
        yield Question(digest(whole, rows, *answers), rows, stop - start)


def _answers(labels: NDArray[Any]) -> list[Any]:
    """Return labels as JSON values; of numbers only what does not depend on the machine."""
    if labels.dtype.kind == "f":
        return _coarse(labels[:, None].astype(np.float64)).ravel().tolist()
    found: list[Any] = labels.tolist()
    return found


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


def checked_explanations(given: Any, X: Any, who: str) -> Explanations:
    """Refuse anything but one explanation per row; note the explained rows beside them."""
    if not isinstance(given, Explanations):
        raise ContractError(
            f"the explainer {who} returned a {type(given).__name__}; expected faithkit.Explanations."
        )
    if len(given) != n_rows(X):
        raise ContractError(
            f"the explainer {who} returned {len(given)} explanations for {n_rows(X)} rows; expected one per "
            "row: mark rows without an explanation in `missing`."
        )
    return given if given.instances is not None else attrs.evolve(given, instances=X)


@attrs.frozen
class Faults:
    """What to do about a row that fails, and how long a row may take."""

    on_error: str = "raise"
    row_timeout: float | None = None
