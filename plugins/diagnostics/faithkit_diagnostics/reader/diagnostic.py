"""The diagnostic: from a result's explanations and predictions to what somebody could guess."""

import importlib
import operator
import os
import sys
from collections import Counter
from typing import Any

import attrs
import numpy as np

import faithkit
from faithkit_diagnostics.reader.crossfit import CrossFit, Guesses, Turns
from faithkit_diagnostics.reader.features import Features, object_array
from faithkit_diagnostics.reader.models import candidates, for_explanations, refusing
from faithkit_diagnostics.reader.regression import NumberCrossFit, Points, regressors
from faithkit_diagnostics.reader.sentences import accuracy_sentence, sentences

LEAST = 10  # independent rows: each of five folds has two
MOST_UNASKED = 10_000  # rows up to which the reader runs where nobody names it
EXACT = 2.0**53  # beyond it a float may stand for several integers


@attrs.frozen
class Share:
    """A share of rows with Clopper and Pearson's interval."""

    value: float
    low: float
    high: float


@attrs.frozen(kw_only=True, repr=False)
class ReaderResult(faithkit.plugin.Report):
    """How well a classifier guesses predictions from explanations, having learnt from other rows.

    It sees what equality compares, and nothing else. Any reader's quadratic score is at most the consistency
    on average, so a good reader shows that explanations are faithful even where no two of them are equal.

    Attributes
    ----------
    n : int
        The number of instances.
    accuracy, baseline : Share or None
        How often the reader is right, and how often the commonest label of the rows it learnt from is; each
        with Clopper and Pearson's interval in `low` and `high`. None for numbers and scores.
    score : float
        The mean of 2 r(Y) − Σ r², where r are the reader's probabilities and Y is the prediction; for scores
        1 − Σ (Y − r)², and for numbers 1 − (Y − r)²/S², R². An instance without an explanation scores 0.
    low : float or None
        A lower limit of consistency: that of the score. None for numbers, which have no known bounds.
    score_without : float or None
        The score of the mean of the rows learnt from, without the explanation; None for labels.
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
    >>> print(faithkit.score(["yes", "no"] * 100, ["a", "b"] * 100).diagnose("reader"))
    Somebody who sees only the explanation guesses the prediction right 100 % of the time (98 – 100 %); ...
    """

    n: int
    accuracy: Share | None
    baseline: Share | None
    score: float
    low: float | None
    classifiers: dict[str, int]
    confidence: float
    columns: int
    seen: int
    effective: float | None = None
    clusters: int | None = None
    score_without: float | None = None
    error: float | None = None
    error_without: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return attrs.asdict(self)

    @property
    def sentence(self) -> str:
        """What was found, in words that anybody understands."""
        return accuracy_sentence(self.to_dict())

    def line(self) -> str:
        """Return the text for `repr`."""
        return f"of {self.n:,} instances: {self.sentence}"

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return what people see."""
        return faithkit.plugin.Sheet.of(None, *sentences(self.to_dict()))


class Reader:
    """Let a classifier guess the predictions from the explanations, having learnt from other rows.

    This works where no two explanations are equal: what a reader can guess, the explanations tell.

    Parameters
    ----------
    classifier : str or classifier
        "auto" lets every reader choose between "logistic" regression and boosted "trees", and "words" where
        explanations are texts, by the rows it learns from. Or any scikit-learn classifier that has
        `predict_proba`, or the "module:attribute" of one; it is copied. Numbers and scores are read by
        "linear" regression, "trees", "words", or any scikit-learn regressor.
    seed : int, optional
        Decides which rows are read by whom; by default that of the result.

    Examples
    --------
    >>> import faithkit
    >>> Reader("logistic").diagnose(faithkit.score(["yes", "no"] * 100, ["a", "b"] * 100)).classifiers
    {'logistic': 5}
    """

    def __init__(self, classifier: Any = "auto", seed: int | None = None) -> None:
        self.classifier = _imported(classifier)
        self.seed = None if seed is None else faithkit.plugin.whole_number(seed, "reader: seed")
        if not (isinstance(self.classifier, str) and self.classifier == "linear"):  # that of numbers
            candidates(self.classifier)

    def is_automatic(self, result: faithkit.Evaluation) -> bool:
        """Whether there are enough rows to learn from, and not too many to wait for."""
        n = result.n if result.clusters is None else result.clusters
        return n >= LEAST and result.n <= MOST_UNASKED and result.setup.outcome.within is None

    def diagnose(self, result: faithkit.Evaluation) -> ReaderResult:
        """Let readers guess, in a single thread: other orders of sums would give other last bits."""
        from threadpoolctl import threadpool_limits

        rows = result.explained_rows
        if rows.within is not None:
            raise faithkit.errors.InputError(
                "a reader's score says nothing about numbers that agree within a tolerance: measure without "
                "it (leave agree= out, CLI: --agree), and read those."
            )
        for name in ("sklearn.ensemble", "sklearn.linear_model"):
            importlib.import_module(name)  # threads are limited for libraries that are loaded
        seed = result.setup.seed if self.seed is None else self.seed
        with faithkit.plugin.global_seed(seed), threadpool_limits(1):
            reading = prepare(rows, self.classifier, seed)
            guesses, names = reading.crossfitted()
        return _report(result, rows.trials, reading, guesses, names)


def prepare(rows: faithkit.plugin.ExplainedRows, classifier: Any = "auto", seed: int = 0) -> CrossFit:
    """Put rows into an order of their content, and draw who reads whom.

    Examples
    --------
    >>> import faithkit
    >>> rows = faithkit.score(["yes", "no"] * 50, ["a", "b"] * 50).explained_rows
    >>> guesses, names = prepare(rows, "logistic").crossfitted()
    >>> bool(guesses.right.all()), names
    (True, ['logistic', 'logistic', 'logistic', 'logistic', 'logistic'])
    """
    n, missing, codes = len(rows.codes), rows.explanations.missing, rows.codes
    is_label = rows.outcome == "labels"
    chosen = candidates(classifier) if is_label else regressors(classifier)
    labels = faithkit.plugin.content_words(object_array(map(_hashable, rows.predictions)))
    identities = _identities(rows.explanations)
    words = faithkit.plugin.content_words(identities)
    words[missing] = 0  # whatever stands in the place of a missing explanation
    weights = np.ones(n) if rows.weights is None else rows.weights
    contents = faithkit.plugin.content_words(np.column_stack([words, labels[codes], weights.view(np.uint64)]))
    turns = Turns.drawn(contents, np.arange(n) if rows.clusters is None else rows.clusters, seed)
    if turns.n < LEAST:
        raise faithkit.errors.InputError(
            f"a reader learns from other rows, and {turns.n} independent are too few: give {LEAST} or more."
        )
    order = turns.order
    explained = order[~missing[order]]
    place = np.full(n, -1)
    place[~missing[order]] = np.arange(len(explained))
    features = Features.of(faithkit.plugin.take_rows(identities, explained))
    common: dict[str, Any] = {
        "features": features,
        "place": place,
        "labels": np.argsort(np.argsort(labels, kind="stable"))[codes[order]],
        "weights": None if rows.weights is None else rows.weights[order],
        "turns": turns,
        "candidates": for_explanations(
            chosen, texts=features.texts is not None, numbers=features.n_numbers > 0
        ),
        "seed": seed,
    }
    if is_label:
        return CrossFit(**common)
    values = np.array(rows.predictions, dtype=np.float64)
    points = Points(values.reshape(len(values), -1), rows.outcome == "scores")
    return NumberCrossFit(**common, **points.of_rows(codes[order]))


def _report(
    result: faithkit.Evaluation, trials: float, reading: CrossFit, guesses: Guesses, names: list[str]
) -> ReaderResult:
    is_number = isinstance(reading, NumberCrossFit)
    is_bounded = not isinstance(reading, NumberCrossFit) or reading.are_scores
    confidence, score = result.confidence, reading.mean(guesses.scores)
    return ReaderResult(
        n=len(guesses.scores),
        accuracy=None if is_number else _share(reading.mean(guesses.right), trials, confidence),
        baseline=None if is_number else _share(reading.mean(guesses.usual), trials, confidence),
        score=score,
        low=score_limit(score, trials, confidence) if is_bounded else None,
        classifiers=dict(sorted(Counter(names).items())),
        confidence=confidence,
        columns=reading.features.n_numbers,
        seen=min(reading.seen(name) for name in names),
        effective=result.effective,
        clusters=result.clusters,
        **(_errors(reading, guesses) if isinstance(reading, NumberCrossFit) else {}),
    )


def _errors(reading: NumberCrossFit, guesses: Guesses) -> dict[str, float | None]:
    """Return how good a guess is without the explanation, and for one number how far both are off.

    The error is the root of the mean square, as the score is 1 less that square: so score and error put two
    readers into one order.
    """
    squared, without = (reading.mean(distances**2) for distances in (guesses.right, guesses.usual))
    is_single = reading.points.shape[1] == 1
    return {
        "score_without": 1.0 - without,
        "error": reading.unit * squared**0.5 if is_single else None,
        "error_without": reading.unit * without**0.5 if is_single else None,
    }


def score_limit(score: float, trials: float, confidence: float) -> float:
    """Return the lower limit of consistency by a mean score: Clopper and Pearson's, of (1 + score) / 2.

    A normal limit fails near 1, where scores are all but equal.

    Examples
    --------
    >>> round(score_limit(0.9, 1000, 0.95), 3), round(score_limit(1.0, 100, 0.95), 3)
    (0.869, 0.928)
    """
    return max(0.0, 2.0 * _share((1.0 + score) / 2, trials, confidence).low - 1.0)


def _share(share: float, trials: float, confidence: float) -> Share:
    """Return Clopper and Pearson's interval for a number of trials that need not be whole."""
    from scipy.special import betaincinv

    half, successes = (1.0 - confidence) / 2, share * trials
    low = 0.0 if share <= 0 else float(betaincinv(successes, trials - successes + 1, half))
    high = 1.0 if share >= 1 else float(betaincinv(successes + 1, trials - successes, 1.0 - half))
    return Share(share, low, high)


def _identities(explanations: faithkit.Explanations) -> Any:
    """Return what equality compares: columns in the order of their names, numbers as floats.

    What is made of the content of rows must not depend on the file that they came from.
    """
    identities, names = explanations.identities, explanations.shared.get("names", ())
    if not isinstance(identities, np.ndarray):
        return identities
    if identities.ndim == 2 and len(names) == identities.shape[1]:
        identities = identities[:, np.argsort(names)]
    if identities.dtype.kind not in "biuf":
        return identities
    floats = identities.astype(np.float64, copy=False)
    is_exact = identities.dtype.kind not in "iu" or not (np.abs(floats) >= EXACT).any()
    return floats if is_exact else identities


def _hashable(prediction: Any) -> Any:
    return tuple(prediction) if isinstance(prediction, list) else prediction


def _imported(classifier: Any) -> Any:
    """Return what "module:attribute" names; anything else as it is."""
    if not isinstance(classifier, str) or ":" not in classifier:
        return classifier
    module, _, attribute = classifier.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with refusing(f"importing the reader {classifier}", "Give the module:attribute of a classifier."):
        return operator.attrgetter(attribute)(importlib.import_module(module))
