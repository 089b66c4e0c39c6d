"""The reader as a whole: from explanations and labels to what somebody could guess."""

from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import attrs
import numpy as np

from faithkit.errors import InputError
from faithkit.measure.containers import as_floats, take_rows
from faithkit.measure.content_words import content_words
from faithkit.measure.design import Design
from faithkit.measure.explanations import Explanations, by_name, object_array
from faithkit.measure.limits import share_limits
from faithkit.measure.owners import Counts
from faithkit.measure.reader.crossfit import Guesses, Reader
from faithkit.measure.reader.features import Features
from faithkit.measure.reader.folds import Turns
from faithkit.measure.reader.models import candidates, for_explanations
from faithkit.measure.reader.regression import NumberReader, Points, regressors

LEAST = 10  # independent rows: each of five folds has two


@attrs.frozen
class Share:
    """A share of rows with Clopper and Pearson's interval."""

    value: float
    low: float
    high: float


@attrs.frozen(kw_only=True)
class Read:
    """What readers found, each of whom had learnt from other rows; see `faithkit.Reading`."""

    n: int
    accuracy: Share | None
    baseline: Share | None
    score: float
    low: float | None
    classifiers: dict[str, int]
    confidence: float
    columns: int | None = None
    seen: int | None = None
    effective: float | None = None
    clusters: int | None = None
    score_without: float | None = None
    error: float | None = None
    error_without: float | None = None


def read(reader: Reader, design: Design | None, confidence: float) -> Read:
    """Let readers guess labels by explanations, in a single thread: so many cores, so many orders of sums.

    Examples
    --------
    >>> reader = prepared(Explanations.of(["a", "b"] * 50), np.array([0, 1] * 50), ["no", "yes"])
    >>> found = read(reader, None, 0.95)
    >>> found.accuracy.value, found.baseline.value < 0.7, found.score > 0.9
    (1.0, True, True)
    """
    from threadpoolctl import threadpool_limits

    for name in ("sklearn.ensemble", "sklearn.linear_model"):
        import_module(name)  # before threads are limited, which is done for libraries that are loaded
    is_bounded = not isinstance(reader, NumberReader) or reader.are_scores
    with threadpool_limits(1):
        found, names = reader.crossfitted()
    told = _guesses(reader, found) if isinstance(reader, NumberReader) else {}
    trials = float(len(found.scores)) if design is None else design.cap * design.effective
    score = reader.mean(found.scores)
    return Read(
        n=len(found.scores),
        accuracy=None if told else _share(reader.mean(found.right), trials, confidence),
        baseline=None if told else _share(reader.mean(found.usual), trials, confidence),
        score=score,
        low=score_limit(score, trials, confidence) if is_bounded else None,
        classifiers=dict(sorted(Counter(names).items())),
        confidence=confidence,
        columns=reader.features.n_numbers,
        seen=min(reader.seen(name) for name in names),
        effective=None if design is None else design.effective,
        clusters=design.n_units if design is not None and design.clustered else None,
        **told,
    )


def score_limit(score: float, trials: float, confidence: float) -> float:
    """Return the lower limit of consistency by a mean score: Clopper and Pearson's, of (1 + score) / 2.

    A normal limit fails near 1, where scores are all but equal.

    Examples
    --------
    >>> round(score_limit(0.9, 1000, 0.95), 3), round(score_limit(1.0, 100, 0.95), 3)
    (0.869, 0.928)
    """
    low, _ = share_limits((1.0 + score) / 2, trials, confidence)
    return max(0.0, 2.0 * low - 1.0)


def _share(share: float, trials: float, confidence: float) -> Share:
    return Share(share, *share_limits(share, trials, confidence))


def _guesses(reader: NumberReader, found: Guesses) -> dict[str, float | None]:
    """Return how good a guess is without the explanation, and of one number how far both are off.

    By the root of the mean square, as the score is 1 less that square: so no two readers are in one order by
    the score and in another by the error.
    """
    squared, without = (reader.mean(one**2) for one in (found.right, found.usual))
    is_one = reader.points.shape[1] == 1
    return {
        "score_without": 1.0 - without,
        "error": reader.unit * squared**0.5 if is_one else None,
        "error_without": reader.unit * without**0.5 if is_one else None,
    }


def prepared(
    explanations: Explanations,
    codes: Counts,
    classes: Sequence[Any],
    design: Design | None = None,
    classifier: Any = None,
    seed: int = 0,
    points: Points | None = None,
) -> Reader:
    """Put rows into an order of their content, and draw who reads whom.

    Parameters
    ----------
    explanations : Explanations
    codes : (n,) int
    classes : sequence
        What the codes stand for.
    design : Design, optional
        With weights, means are weighted, and classifiers that can learn by weight do so. Rows of one cluster
        are in one fold.
    classifier : str or classifier, optional
        See `candidates`, or of numbers `regressors`.
    seed : int
    points : Points, optional
        What codes stand for, where it is numbers or score vectors.
    """
    n, gone = len(codes), explanations.missing
    chosen = candidates(classifier) if points is None else regressors(classifier)
    labels = content_words(object_array(classes))
    identities = as_floats(by_name(explanations.identities, explanations))
    words = content_words(identities)
    words[gone] = 0  # whatever stands in the place of an explanation that is missing
    steps, unit = (np.ones(n, np.int64), np.arange(n)) if design is None else (design.steps, design.unit)
    turns = Turns.drawn(words, labels[codes], steps, unit, seed)
    if turns.n < LEAST:
        raise InputError(
            f"a reader learns from other rows, and {turns.n} independent are too few: give {LEAST} or more."
        )
    order = turns.order
    rows = order[~gone[order]]
    place = np.full(n, -1)
    place[~gone[order]] = np.arange(len(rows))
    of_rows: dict[str, Any] = {}
    if points is not None:
        of_rows = points.of_rows(codes[order])
    kind = Reader if points is None else NumberReader
    features = Features.of(take_rows(identities, rows))
    return kind(
        features=features,
        place=place,
        labels=np.argsort(np.argsort(labels, kind="stable"))[codes[order]],
        weights=None if design is None else design.weights[order],
        turns=turns,
        candidates=for_explanations(chosen, texts=features.texts is not None, numbers=features.n_numbers > 0),
        seed=seed,
        **of_rows,
    )
