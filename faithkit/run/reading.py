"""What somebody could guess who sees only the explanations: asked in Python, or on the command line."""

from collections.abc import Mapping
from typing import Any

import attrs

from faithkit.errors import InputError
from faithkit.inputs.models.modules import import_object
from faithkit.inputs.predictions.outcome import OF_LABELS, Outcome
from faithkit.measure.arguments import whole_number
from faithkit.measure.reader.models import candidates
from faithkit.measure.reader.reading import LEAST, Read, Share
from faithkit.report.readings import guessed
from faithkit.run.population import Population
from faithkit.run.setup import Setup
from faithkit.shown import Shown

NOBODY = "none"
MOST_UNASKED = 10_000  # rows up to which the command line reads without being asked


@attrs.frozen(repr=False)
class ReaderResult(Shown, Read):
    """How well a classifier guesses predictions from explanations, having learnt from other rows.

    It sees what equality compares, and nothing else. Any reader's quadratic score is at most the consistency
    on average, so a good one shows that explanations are faithful even where no two of them are equal.

    Attributes
    ----------
    n : int
        The number of instances.
    accuracy, baseline : Share or None
        How often the reader is right, and how often the commonest label of the rows it learnt from is; each
        with Clopper and Pearson's interval in `low` and `high`. None of numbers and scores.
    score : float
        The mean of 2 r(Y) − Σ r², where r are the reader's probabilities and Y is the prediction; of scores
        1 − Σ (Y − r)², and of numbers 1 − (Y − r)²/S², R². An instance without an explanation scores 0.
    low : float or None
        A lower limit of consistency: that of the score. None of numbers: nobody knows how large they may be,
        and without that there is no limit that holds.
    score_without : float or None
        The score of the mean of the rows learnt from, which has not seen the explanation; of labels None.
    error, error_without : float or None
        How far the reader is off, and how far that mean is, each as the root of the mean square, where
        predictions are one number.
    classifiers : dict of str to int
        How many of the readers, one for each fold, were which classifier.
    confidence : float
        That of the intervals; a limit holds with half of the rest to spare.
    columns, seen : int
        How many columns of numbers explanations have, and how many of them the reader was shown, so that it
        takes seconds: those in which rows differ most.
    effective, clusters : float and int, or None
        As those of the evaluation.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "no"] * 100, ["a", "b"] * 100).reader())
    Somebody who sees only the explanation guesses the prediction right 100 % of the time (98 – 100 %); ...
    """

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> "ReaderResult":
        """Make it of what `to_dict` told; what an older version did not tell is None."""
        known: dict[str, Any] = {field.name: told.get(field.name) for field in attrs.fields(cls)}
        shares = {name: told[name] and Share(**told[name]) for name in ("accuracy", "baseline")}
        return cls(**{**known, **shares, "score": float(told["score"])})

    @property
    def sentence(self) -> str:
        """What was found, in words that anybody understands."""
        return guessed(self.to_dict())


def reader(population: Population, setup: Setup, classifier: Any = None, seed: Any = None) -> ReaderResult:
    """Let a reader guess the predictions of a population."""
    if setup.outcome.within is not None:
        raise InputError(
            "a reader's score says nothing about numbers that agree within a tolerance: measure without it "
            "(leave agree= out, CLI: --agree), and read those."
        )
    start = setup.seed if seed is None else whole_number(seed, "the seed")
    found = population.read(classifier, setup.confidence, start)
    return ReaderResult(**attrs.asdict(found, recurse=False))


def asked(given: str | None) -> Any:
    """Understand what the command line was given as --reader; what is no reader is refused at once.

    Examples
    --------
    >>> asked("tree")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: there is no reader 'tree'. ...
    """
    if given is None or given == NOBODY:
        return given
    classifier = import_object(given) if ":" in given else given
    if classifier != "linear":  # that of numbers; what predictions are is not known yet
        candidates(classifier)
    return classifier


def read_unasked(n: int, clusters: int | None, outcome: Outcome = OF_LABELS) -> bool:
    """Whether so many rows are read though nobody asked: enough to learn from, and not too many to wait for.

    Examples
    --------
    >>> [read_unasked(n, None) for n in (9, 10, 10_000, 10_001)], read_unasked(100, clusters=5)
    ([False, True, True, False], False)
    """
    enough = (n if clusters is None else clusters) >= LEAST
    return n <= MOST_UNASKED and enough and outcome.within is None
