"""The explainer `lime-text`: LIME for texts, by removing words."""

from collections.abc import Sequence
from itertools import chain, compress
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.lime_weights.library import LimeTextPackage, check_engine
from faithkit_feature_importance.lime_weights.tables import check_kernel_width, check_samples
from faithkit_feature_importance.lime_weights.weighted_ridge import kernel_weights, weighted_ridge
from faithkit_feature_importance.scores import ScoreScale
from faithkit_feature_importance.targets import Target, check_target

Floats = NDArray[np.float64]
WeightedWords = list[tuple[str, float]]

FORMS = ("words", "weights")
# Decimals of a weight in double (False) and in single precision (True). Further decimals are rounding errors,
# which may depend on the other texts of a batch.
DECIMALS = {False: 12, True: 6}
CHARACTERS_PER_CALL = 2**24  # in one call of the model


class LimeText:
    """LIME for texts: the words that support the model's prediction (Ribeiro et al. 2016).

    For a regressor, these are the words that change the prediction most, up or down.

    Parameters
    ----------
    num_features : int
        How many words an explanation names. The more words, the fewer texts share them.
    form : str
        "words": the words that support the explained class most, as a rule that applies to every text with
        these words; for a regressor, those of largest absolute weight. "weights": the words of largest
        absolute weight, each with its weight.
    digits : int, optional
        To how many decimals the weights are rounded. By default they are not rounded.
    samples : int
        The number of texts that the linear model is fitted to: the text itself, and the text without some
        words.
    kernel_width : float
        The kernel width, in hundredths of the cosine distance.
    tokenizer : str
        How texts are split into words: "whitespace", or "word" as CountVectorizer does by default.
    target : str, optional
        The explained class: "positive" (the second of two), "predicted" (the default), or "all", which needs
        `form="weights"`. Not for regressors.
    engine : str
        "faithkit" scores the variants of many texts in one call. "library" calls the lime package text by
        text, with the same parameters and the seed of each text.

    Notes
    -----
    The weights are those of the lime package with all words in the linear model. A word is removed everywhere
    in the text at once. With the tokenizer "word" the model receives the text in lower case. The engines draw
    different variants of the same distribution.

    A text without words has no explanation. With `form="words"`, neither has a text in which no word supports
    the class or changes the prediction.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["good good film", "bad film", "a good plot", "bad cast"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    >>> lime = LimeText().fit(faithkit.Predictor(model), texts)
    >>> explanations = lime.explain(["Good plot", "a bad plot", "!"], seeds=[1, 2, 3])
    >>> print(*explanations.values[:2], explanations.remarked[2], sep=" | ")
    contains the word 'good' | contains the word 'bad' | no words
    >>> lime = LimeText(form="weights", num_features=2, digits=1).fit(faithkit.Predictor(model), texts)
    >>> lime.explain(["Good plot"], seeds=[1]).values[0]
    (('good', 0.1), ('plot', 0.0))
    """

    learns = False
    outcomes = ("labels", "numbers")
    rows_per_chunk = 16

    def __init__(
        self,
        num_features: int = 1,
        form: str = "words",
        digits: int | None = None,
        samples: int = 5000,
        kernel_width: float = 25.0,
        tokenizer: str = "word",
        target: str | None = None,
        engine: str = "faithkit",
    ) -> None:
        _check_integer("num_features", num_features, 1)
        if form not in FORMS:
            raise faithkit.errors.ParameterError(
                f"lime-text: form must be 'words' or 'weights', got {form!r}."
            )
        if digits is not None:
            _check_integer("digits", digits, 0)
        if form == "words" and (digits is not None or target == "all"):
            parameter = "target=all" if digits is None else "digits"
            raise faithkit.errors.ParameterError(f"lime-text: {parameter} needs form=weights.")
        check_samples("lime-text", samples)
        check_kernel_width("lime-text", kernel_width)
        _check_tokenizer(tokenizer)
        self.num_features = num_features
        self.form = form
        self.digits = digits
        self.samples = samples
        self.kernel_width = kernel_width
        self.tokenizer = tokenizer
        self.target = check_target("lime-text", target)
        self.engine = check_engine("lime-text", engine)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "LimeText":
        """Store the model. Removing words needs no background."""
        _check_texts(background)
        text = background[:1] or [""]
        predictor.scores(text)  # raises an error with advice if the model has no scores
        self.decimals_ = DECIMALS[predictor.scores_are_single(text)]
        self.predictor_ = predictor
        default = None if predictor.is_regressor else "predicted"
        self.target_ = Target.choose("lime-text", self.target or default, predictor, text)
        if self.form == "words" and predictor.is_regressor and len(self.target_.labels) > 1:
            raise faithkit.errors.InputError(
                f"lime-text: the model predicts {len(self.target_.labels)} numbers, and form=words explains "
                "one: set form=weights."
            )
        if self.engine == "library":
            self.package_ = LimeTextPackage.create(predictor, self.samples, self.kernel_width, self.tokenizer)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the words, or words and weights, of every text."""
        _check_texts(X)
        texts = [SplitText.split(text, self.tokenizer) for text in X]
        compute = self._weights_by_library if self.engine == "library" else self._weights_in_batches
        weights = compute(texts, seeds)
        rows = [
            self._build_explanation(*row) for row in zip(texts, weights, self.target_.classes(X), strict=True)
        ]
        return faithkit.Explanations.of(
            [value for value, _ in rows],
            kind="rule" if self.form == "words" else "words",
            instances=X,
            remarks=np.array([remark for _, remark in rows], dtype=object),
            shared=self.target_.shared,
            relation="in-scope" if self.form == "words" else None,
        )

    def _build_explanation(
        self, text: "SplitText", weights: Floats, classes: NDArray[np.int64]
    ) -> tuple[Any, str | None]:
        if not text.distinct:
            return None, "no words"
        if self.form == "words":
            return self._build_rule(text, weights[:, classes[0]])
        return self._weighted_words(text, weights[:, classes]), None

    def _weights_by_library(self, texts: Sequence["SplitText"], seeds: Any) -> list[Floats]:
        """Return the weights (words, classes) of each text, as the lime package computes them."""
        n_outputs = len(self.target_.labels)
        weights = [np.empty((len(text.distinct), n_outputs)) for text in texts]
        for i, text in enumerate(texts):
            if text.distinct:  # lime fails on a text without words
                coefficients, scores = self.package_.weights(
                    "".join(text.pieces), weights[i].shape, int(seeds[i])
                )
                weights[i] = self._round(coefficients, scores)
            faithkit.plugin.report_progress()
        return weights

    def _weights_in_batches(self, texts: Sequence["SplitText"], seeds: Any) -> list[Floats]:
        """Return the weights (words, classes) of each text. One call of the model scores many texts."""
        weights: list[Floats] = []
        for batch in _batches([len(text) * self.samples for text in texts]):
            is_kept = [texts[i].draw_kept_words(self.samples, int(seeds[i])) for i in batch]
            scores = self._scores([texts[i] for i in batch], is_kept)
            weights += map(self._fit_linear_model, is_kept, scores)
            faithkit.plugin.report_progress(len(batch))
        return weights

    def _scores(self, texts: Sequence["SplitText"], is_kept: Sequence[NDArray[np.bool_]]) -> list[Floats]:
        """Return the scores of texts in which only these words are kept, from one call of the model."""
        # short texts have few distinct patterns; score each once
        distinct = [_unique_patterns(patterns) for patterns in is_kept]
        variants = [text.keep_words(patterns) for text, (patterns, _) in zip(texts, distinct, strict=True)]
        scores = self.predictor_.scores(list(chain.from_iterable(variants)))
        starts = np.cumsum([0, *map(len, variants)])[:-1]
        return [
            scores[start + pattern_numbers]
            for start, (_, pattern_numbers) in zip(starts, distinct, strict=True)
        ]

    def _fit_linear_model(self, is_kept: NDArray[np.bool_], scores: Floats) -> Floats:
        """Fit the linear model and return its coefficients, (words, classes)."""
        if not is_kept.shape[1]:
            return np.empty((0, scores.shape[1]))
        distances = 100 * (1 - np.sqrt(is_kept.mean(axis=1)))  # cosine distance from the full text, × 100
        coefficients, _ = weighted_ridge(
            is_kept.T[None].astype(np.float64),
            scores.T[None],
            kernel_weights(distances[None] ** 2, self.kernel_width),
        )
        return self._round(coefficients[0], scores)

    def _round(self, weights: Floats, scores: Floats) -> Floats:
        """Round the weights of a text to the decimals that the scores of its variants determine."""
        scale = ScoreScale.of(scores) if self.predictor_.is_regressor else ScoreScale()
        return scale.round(weights, self.decimals_) + 0.0

    def _build_rule(self, text: "SplitText", weights: Floats) -> tuple[faithkit.Rule | None, str | None]:
        is_regressor = self.predictor_.is_regressor
        strengths = np.abs(weights) if is_regressor else weights
        ranking = sorted(zip(-strengths, text.distinct, strict=True))[: self.num_features]
        conditions = [
            faithkit.plugin.Contains(word, self.tokenizer) for strength, word in ranking if strength < 0
        ]
        remark = "no word moves the number" if is_regressor else "no word speaks for the class"
        return (faithkit.Rule(conditions), None) if conditions else (None, remark)

    def _weighted_words(self, text: "SplitText", weights: Floats) -> tuple[tuple[str, float], ...]:
        """Return the words of largest absolute weight for each class, sorted so that equal sets are equal."""
        pairs: WeightedWords = []
        prefixes = self.target_.prefixes
        for prefix, column in zip(prefixes, weights.T, strict=True):
            top = sorted(zip(-np.abs(column), text.distinct, column.tolist(), strict=True))
            pairs += [
                (prefix + word, self._round_weight(weight)) for _, word, weight in top[: self.num_features]
            ]
        return tuple(sorted(pairs))

    def _round_weight(self, weight: float) -> float:
        return weight if self.digits is None else round(weight, self.digits) + 0.0


@attrs.frozen
class SplitText:
    """A text split into words and separators.

    Examples
    --------
    >>> text = SplitText.split("So dull, so dull!", "word")
    >>> text.distinct
    ['so', 'dull']
    >>> text.keep_words(np.array([[True, False], [False, True]]))
    ['so , so !', ' dull,  dull!']
    """

    distinct: list[str]
    pieces: list[str]
    _word_numbers: NDArray[np.int64]  # of each piece, −1 for separators

    @classmethod
    def split(cls, text: str, tokenizer: str) -> "SplitText":
        """Split a text as lime does, into the words of the tokenizer."""
        from lime.lime_text import IndexedString

        if tokenizer == "word":
            text = text.lower()
        words = faithkit.plugin.tokenize(text, tokenizer)
        if not words:
            return cls([], [text], np.array([-1]))
        indexed = IndexedString(text, split_expression=lambda _: words)
        word_numbers = np.full(len(indexed.as_list), -1)
        for number, positions in enumerate(indexed.positions):
            word_numbers[positions] = number
        return cls([str(word) for word in indexed.inverse_vocab], indexed.as_list, word_numbers)

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def draw_kept_words(self, samples: int, seed: int) -> NDArray[np.bool_]:
        """Draw which words are kept, (samples, words), as lime does: all, then all but some random ones."""
        n_words = len(self.distinct)
        if not n_words:
            return np.empty((0, 0), dtype=bool)
        rng = np.random.Generator(np.random.SFC64(seed))
        n_removed = np.r_[0, rng.integers(1, n_words + 1, samples - 1)]
        return rng.random((samples, n_words)).argsort(axis=1) >= n_removed[:, None]

    def keep_words(self, is_kept: NDArray[np.bool_]) -> list[str]:
        """Return the text with only these words kept, one variant per row of `is_kept`."""
        separators = np.ones((len(is_kept), 1), dtype=bool)
        masks = np.hstack([is_kept, separators])[:, self._word_numbers]  # −1 selects the last column
        return ["".join(compress(self.pieces, mask)) for mask in masks.tolist()]


def _batches(sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Divide texts into batches for one call of the model, by their number of characters."""
    batch_numbers = np.cumsum(sizes) // CHARACTERS_PER_CALL
    return np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(batch_numbers)) + 1)


def _unique_patterns(is_kept: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the distinct patterns of kept words, and the number of each sample's pattern."""
    bits = np.packbits(is_kept, axis=1)
    keys = np.empty(len(bits), dtype=object)
    keys[:] = [row.tobytes() for row in bits]
    pattern_numbers, _ = pd.factorize(keys)
    return is_kept[np.unique(pattern_numbers, return_index=True)[1]], pattern_numbers


def _check_integer(name: str, value: Any, minimum: int) -> None:
    faithkit.plugin.check_integer(
        value, f"lime-text: {name}", minimum=minimum, error=faithkit.errors.ParameterError
    )


def _check_tokenizer(tokenizer: str) -> None:
    try:
        faithkit.plugin.tokenize("", tokenizer)
    except faithkit.errors.InputError as error:
        raise faithkit.errors.ParameterError(f"lime-text: {error}") from None


def _check_texts(X: Any) -> None:
    if not isinstance(X, list):
        raise faithkit.errors.InputError(
            f"lime-text explains a list of texts, and was given a {type(X).__name__}: for a column of texts "
            "give X['column'].tolist(), for a table use lime."
        )
