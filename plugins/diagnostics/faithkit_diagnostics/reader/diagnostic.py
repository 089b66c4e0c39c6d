"""The reader diagnostic: how well predictions can be predicted from explanations."""

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
from faithkit_diagnostics.reader.models import candidates, raise_input_errors, select_for_features
from faithkit_diagnostics.reader.reader_sentences import accuracy_sentence, sentences
from faithkit_diagnostics.reader.regression import NumberCrossFit, regressors, scale_points

MIN_ROWS = 10  # independent rows, so that each of five folds has two
MAX_AUTOMATIC_ROWS = 10_000  # the reader runs by default up to this number of rows
EXACT = 2.0**53  # beyond it a float may stand for several integers


@attrs.frozen
class Share:
    """A share of rows with Clopper and Pearson's interval."""

    value: float
    low: float
    high: float


@attrs.frozen(kw_only=True, repr=False)
class ReaderResult(faithkit.plugin.Report):
    """How well a classifier, trained on other rows, predicts predictions from explanations.

    The classifier sees the identities of the explanations, and nothing else. On average, the quadratic score
    of any reader is at most the consistency. So a good reader shows that explanations are faithful, even
    where no two of them are equal.

    Attributes
    ----------
    n : int
        The number of instances.
    accuracy, baseline : Share or None
        How often the reader is right, and how often the most common label of its training rows is right; each
        with Clopper and Pearson's interval in `low` and `high`. None for numbers and scores.
    score : float
        The mean of 2 r(Y) − Σ r², where r are the reader's probabilities and Y is the prediction; for scores
        1 − Σ (Y − r)², and for numbers 1 − (Y − r)²/S², R². An instance without an explanation scores 0.
    low : float or None
        A lower limit of consistency: that of the score. None for numbers, which have no known bounds.
    score_without : float or None
        The score without the explanation: that of the mean of the training rows. None for labels.
    error, error_without : float or None
        The root mean squared error of the reader and of that mean, where a prediction is one number.
    classifiers : dict of str to int
        How many of the readers, one for each fold, were of each kind.
    confidence : float
        The confidence of the intervals; the one-sided limit `low` misses half as often.
    columns, seen : int
        The number of numeric columns of the explanations, and how many of them the reader saw. To take
        seconds only, it sees those in which rows differ most.
    effective, clusters : float and int, or None
        As in the evaluation.

    Examples
    --------
    >>> import faithkit
    >>> print(faithkit.score(["yes", "no"] * 100, ["a", "b"] * 100).diagnose("reader"))
    A classifier that sees only the explanation gets 100 % of predictions right (98 – 100 %); without ...
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
        """The finding as a sentence."""
        return accuracy_sentence(self.to_dict())

    def line(self) -> str:
        """Return the text for `repr`."""
        return f"of {self.n:,} instances: {self.sentence}"

    def sheet(self) -> faithkit.plugin.Sheet:
        """Return the sentences of the report."""
        return faithkit.plugin.Sheet.of(None, *sentences(self.to_dict()))


class Reader:
    """A diagnostic: a classifier, trained on other rows, predicts predictions from explanations.

    It works even where no two explanations are equal.

    Parameters
    ----------
    classifier : str or classifier
        "auto" chooses between "logistic" regression, boosted "trees" and, where explanations are texts,
        "words"; each reader is chosen by its training rows. Or any scikit-learn classifier that has
        `predict_proba`, or the "module:attribute" of one; it is copied. For numbers and scores, choose
        "linear" regression, "trees", "words", or any scikit-learn regressor.
    seed : int, optional
        The seed of the folds; by default that of the result.

    Examples
    --------
    >>> import faithkit
    >>> Reader("logistic").diagnose(faithkit.score(["yes", "no"] * 100, ["a", "b"] * 100)).classifiers
    {'logistic': 5}
    """

    def __init__(self, classifier: Any = "auto", seed: int | None = None) -> None:
        self.classifier = _import_classifier(classifier)
        self.seed = None if seed is None else faithkit.plugin.check_integer(seed, "reader: seed")
        if not (isinstance(self.classifier, str) and self.classifier == "linear"):  # that of numbers
            candidates(self.classifier)

    def applies(self, result: faithkit.Evaluation) -> bool:
        """Whether there are enough rows to learn from, and not too many for a quick run."""
        n = result.n if result.design.clusters is None else result.design.clusters
        return n >= MIN_ROWS and result.n <= MAX_AUTOMATIC_ROWS and result.setup.outcome.within is None

    def diagnose(self, result: faithkit.Evaluation) -> ReaderResult:
        """Cross-fit readers in a single thread, because another order of sums would change the last bits."""
        from threadpoolctl import threadpool_limits

        rows = result.rows
        if rows.within is not None:
            raise faithkit.errors.InputError(
                "a reader's score says nothing about numbers that agree within a tolerance: measure without "
                "it (leave agree= out, CLI: --agree), and read those."
            )
        for name in ("sklearn.ensemble", "sklearn.linear_model"):
            importlib.import_module(name)  # thread limits only apply to libraries that are already loaded
        seed = result.setup.seed if self.seed is None else self.seed
        with faithkit.plugin.seed_global_generators(seed), threadpool_limits(1):
            cross_fit = prepare(rows, self.classifier, seed)
            guesses, names = cross_fit.cross_fit()
        return _report(result, rows.trials, cross_fit, guesses, names)


def prepare(rows: faithkit.plugin.ExplainedRows, classifier: Any = "auto", seed: int = 0) -> CrossFit:
    """Put rows into an order of their content, and divide them into folds.

    Examples
    --------
    >>> import faithkit
    >>> rows = faithkit.score(["yes", "no"] * 50, ["a", "b"] * 50).rows
    >>> guesses, names = prepare(rows, "logistic").cross_fit()
    >>> bool(guesses.right.all()), names
    (True, ['logistic', 'logistic', 'logistic', 'logistic', 'logistic'])
    """
    n, missing, codes = len(rows.codes), rows.explanations.missing, rows.codes
    is_label = rows.outcome == "labels"
    choice = candidates(classifier) if is_label else regressors(classifier)
    labels = faithkit.plugin.hash_content(object_array(map(_to_hashable, rows.predictions)))
    identities = _identities(rows.explanations)
    words = faithkit.plugin.hash_content(identities)
    words[missing] = 0  # the placeholder of a missing explanation must not matter
    weights = np.ones(n) if rows.weights is None else rows.weights
    contents = faithkit.plugin.hash_content(np.column_stack([words, labels[codes], weights.view(np.uint64)]))
    turns = Turns.draw(contents, np.arange(n) if rows.clusters is None else rows.clusters, seed)
    if turns.n < MIN_ROWS:
        raise faithkit.errors.InputError(
            f"a reader learns from other rows, and {turns.n} independent are too few: give "
            f"{MIN_ROWS} or more."
        )
    order = turns.order
    explained_rows = order[~missing[order]]
    position = np.full(n, -1)
    position[~missing[order]] = np.arange(len(explained_rows))
    features = Features.of(faithkit.plugin.take_rows(identities, explained_rows))
    fields: dict[str, Any] = {
        "features": features,
        "position": position,
        "labels": np.argsort(np.argsort(labels, kind="stable"))[codes[order]],
        "weights": None if rows.weights is None else rows.weights[order],
        "turns": turns,
        "candidates": select_for_features(
            choice, texts=features.texts is not None, numbers=features.n_numbers > 0
        ),
        "seed": seed,
    }
    if is_label:
        return CrossFit(**fields)
    values = np.array(rows.predictions, dtype=np.float64)
    points = values.reshape(len(values), -1)[codes[order]]
    return NumberCrossFit(**fields, **scale_points(points, rows.outcome == "scores"))


def _report(
    result: faithkit.Evaluation, trials: float, cross_fit: CrossFit, guesses: Guesses, names: list[str]
) -> ReaderResult:
    is_number = isinstance(cross_fit, NumberCrossFit)
    is_bounded = not isinstance(cross_fit, NumberCrossFit) or cross_fit.are_scores
    confidence, score = result.confidence, cross_fit.mean(guesses.scores)
    return ReaderResult(
        n=len(guesses.scores),
        accuracy=None if is_number else _share(cross_fit.mean(guesses.right), trials, confidence),
        baseline=None if is_number else _share(cross_fit.mean(guesses.usual), trials, confidence),
        score=score,
        low=score_limit(score, trials, confidence) if is_bounded else None,
        classifiers=dict(sorted(Counter(names).items())),
        confidence=confidence,
        columns=cross_fit.features.n_numbers,
        seen=min(cross_fit.n_columns(name) for name in names),
        effective=result.design.effective,
        clusters=result.design.clusters,
        **(_errors(cross_fit, guesses) if isinstance(cross_fit, NumberCrossFit) else {}),
    )


def _errors(cross_fit: NumberCrossFit, guesses: Guesses) -> dict[str, float | None]:
    """Return the score without the explanation, and for single numbers both root mean squared errors.

    The score is 1 − the mean squared error. So score and error rank two readers in the same order.
    """
    squared, without = (cross_fit.mean(distances**2) for distances in (guesses.right, guesses.usual))
    is_single = cross_fit.points.shape[1] == 1
    return {
        "score_without": 1.0 - without,
        "error": cross_fit.unit * squared**0.5 if is_single else None,
        "error_without": cross_fit.unit * without**0.5 if is_single else None,
    }


def score_limit(score: float, trials: float, confidence: float) -> float:
    """Return the lower limit of consistency from a mean score: Clopper and Pearson's, of (1 + score) / 2.

    A normal limit fails near 1, where scores are nearly equal.

    Examples
    --------
    >>> round(score_limit(0.9, 1000, 0.95), 3), round(score_limit(1.0, 100, 0.95), 3)
    (0.869, 0.928)
    """
    return max(0.0, 2.0 * _share((1.0 + score) / 2, trials, confidence).low - 1.0)


def _share(share: float, trials: float, confidence: float) -> Share:
    """Return Clopper and Pearson's interval; the number of trials may be a fraction."""
    from scipy.special import betaincinv

    tail, successes = (1.0 - confidence) / 2, share * trials
    low = 0.0 if share <= 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if share >= 1 else float(betaincinv(successes + 1, trials - successes, 1.0 - tail))
    return Share(share, low, high)


def _identities(explanations: faithkit.Explanations) -> Any:
    """Return the identities, with columns in the order of their names and numbers as floats.

    So the content of rows does not depend on the file that they came from.
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


def _to_hashable(prediction: Any) -> Any:
    return tuple(prediction) if isinstance(prediction, list) else prediction


def _import_classifier(classifier: Any) -> Any:
    """Import the classifier that "module:attribute" names; return anything else unchanged."""
    if not isinstance(classifier, str) or ":" not in classifier:
        return classifier
    module, _, attribute = classifier.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    with raise_input_errors(f"importing the reader {classifier}", "Give module:attribute of a classifier."):
        return operator.attrgetter(attribute)(importlib.import_module(module))
