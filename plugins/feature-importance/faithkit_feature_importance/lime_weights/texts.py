"""LIME for texts: which words of a text speak for a class, as far as texts without some of them tell."""

from collections.abc import Sequence
from itertools import chain, compress
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.lime_weights.tables import check_kernel_width, check_samples
from faithkit_feature_importance.lime_weights.weighted_ridge import kernel, weighted_ridge
from faithkit_feature_importance.targets import Target, check_target
from faithkit_feature_importance.units import Unit

Floats = NDArray[np.float64]
Weights = list[tuple[str, float]]

FORMS = ("words", "weights")
# of a weight, in double and in single precision: what lies behind them is an error of arithmetic, which may
# depend on the texts beside this one, and no word speaks by it
DECIMALS = {False: 12, True: 6}
CHARACTERS = 2**24  # that a model is asked about at a time


class LimeText:
    """LIME for texts: the words that speak for the model's answer (Ribeiro et al. 2016).

    Of a regressor they are the words that move what it predicts most, up or down.

    Parameters
    ----------
    num_features : int
        How many words. The more there are, the fewer texts have the same.
    form : str
        "words": those that speak most for the explained class, as a rule that applies to every text with
        these words; of a regressor those of largest absolute weight. "weights": the words of largest
        absolute weight, each with its weight.
    digits : int, optional
        To how many decimals the weights are rounded; by default they are not.
    samples : int
        How many texts the linear model is fitted to: the text itself, and the text without some words.
    kernel_width : float
        How far from the text others still count, in hundredths of the cosine distance.
    tokenizer : str
        What a word is: "whitespace", or "word" as CountVectorizer's default.
    target : str, optional
        Which class is explained: "positive" (the second of two), "predicted" (the default), or "all", which
        needs weights. A regressor has none to choose.

    Notes
    -----
    The weights are those of the lime package with all words in the linear model. A word is removed in all its
    places at once. With the tokenizer "word" the model is asked about the text in lower case.

    A text without words has no explanation, nor, as words, has one in which no word speaks for the class or
    moves the number.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["good good film", "bad film", "a good plot", "bad cast"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    >>> lime = LimeText().fit(faithkit.Predictor(model), texts)
    >>> found = lime.explain(["Good plot", "a bad plot", "!"], seeds=[1, 2, 3])
    >>> print(found.values[0], "|", found.values[1], "|", found.remarked[2])
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
    ) -> None:
        _check_whole("num_features", num_features, 1)
        if form not in FORMS:
            raise faithkit.errors.ParameterError(
                f"lime-text: form must be 'words' or 'weights', got {form!r}."
            )
        if digits is not None:
            _check_whole("digits", digits, 0)
        if form == "words" and (digits is not None or target == "all"):
            what = "target=all" if digits is None else "digits"
            raise faithkit.errors.ParameterError(f"lime-text: {what} is about weights: say form=weights too.")
        check_samples("lime-text", samples)
        check_kernel_width("lime-text", kernel_width)
        try:
            faithkit.plugin.tokens("", tokenizer)
        except faithkit.errors.InputError as error:
            raise faithkit.errors.ParameterError(f"lime-text: {error}") from None
        self.num_features = num_features
        self.form = form
        self.digits = digits
        self.samples = samples
        self.kernel_width = kernel_width
        self.tokenizer = tokenizer
        self.target = check_target("lime-text", target)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "LimeText":
        """Keep the model; removing words needs no background."""
        _check_texts(background)
        text = background[:1] or [""]
        predictor.scores(text)  # a model without scores says so here
        self.decimals_ = DECIMALS[predictor.scores_are_single(text)]
        self.predictor_ = predictor
        default = None if predictor.is_regressor else "predicted"
        self.target_ = Target.choose("lime-text", self.target or default, predictor, text)
        if self.form == "words" and predictor.is_regressor and len(self.target_.labels) > 1:
            raise faithkit.errors.InputError(
                f"lime-text: the model predicts {len(self.target_.labels)} numbers, and words speak of one: "
                "say form=weights."
            )
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the words, or words and weights, of every text."""
        _check_texts(X)
        words = [Words.split(text, self.tokenizer) for text in X]
        weights = self._weights(words, seeds)
        found = [self._explanation(*row) for row in zip(words, weights, self.target_.classes(X), strict=True)]
        shared = {"target": self.target_.name}
        return faithkit.Explanations.of(
            [value for value, _ in found],
            kind="rule" if self.form == "words" else "words",
            instances=X,
            remarks=np.array([remark for _, remark in found], dtype=object),
            shared=shared,
            relation="in-scope" if self.form == "words" else None,
        )

    def _explanation(
        self, words: "Words", weights: Floats, classes: NDArray[np.int64]
    ) -> tuple[Any, str | None]:
        if not words.distinct:
            return None, "no words"
        if self.form == "words":
            return self._rule(words, weights[:, classes[0]])
        return self._pairs(words, weights[:, classes]), None

    def _weights(self, texts: Sequence["Words"], seeds: Any) -> list[Floats]:
        """Return the weight of every word for every class, text by text; a call is about many texts."""
        found: list[Floats] = []
        for part in _parts([len(words) * self.samples for words in texts]):
            kept = [texts[i].perturb(self.samples, int(seeds[i])) for i in part]
            scores = self._scores([texts[i] for i in part], kept)
            found += map(self._fitted, kept, scores)
            faithkit.plugin.rows_done(len(part))
        return found

    def _scores(self, texts: Sequence["Words"], kept: Sequence[NDArray[np.bool_]]) -> list[Floats]:
        """Return the scores of texts in which these words are kept, from one call of the model."""
        distinct = [_distinct(patterns) for patterns in kept]  # short texts have few: ask once
        asked = [words.without(patterns) for words, (patterns, _) in zip(texts, distinct, strict=True)]
        scores = self.predictor_.scores(list(chain.from_iterable(asked)))
        starts = np.cumsum([0, *map(len, asked)])[:-1]
        return [scores[start + place] for start, (_, place) in zip(starts, distinct, strict=True)]

    def _fitted(self, kept: NDArray[np.bool_], scores: Floats) -> Floats:
        """Return the linear model's coefficients, (words, classes)."""
        if not kept.shape[1]:
            return np.empty((0, scores.shape[1]))
        distances = 100 * (1 - np.sqrt(kept.mean(axis=1)))  # of the cosine, from a text with all words
        coefficients, _ = weighted_ridge(
            kept.T[None].astype(np.float64), scores.T[None], kernel(distances[None] ** 2, self.kernel_width)
        )
        unit = Unit.of(scores) if self.predictor_.is_regressor else Unit()
        return unit.rounded(coefficients[0], self.decimals_) + 0.0

    def _rule(self, words: "Words", weights: Floats) -> tuple[faithkit.Rule | None, str | None]:
        is_number = self.predictor_.is_regressor
        strengths = np.abs(weights) if is_number else weights
        order = sorted(zip(-strengths, words.distinct, strict=True))[: self.num_features]
        speaking = [faithkit.Contains(word, self.tokenizer) for strength, word in order if strength < 0]
        why_none = "no word moves the number" if is_number else "no word speaks for the class"
        return (faithkit.Rule(speaking), None) if speaking else (None, why_none)

    def _pairs(self, words: "Words", weights: Floats) -> tuple[tuple[str, float], ...]:
        """Return the words of largest absolute weight for each class, in one order: equal sets are equal."""
        pairs: Weights = []
        labels = self.target_.prefixes
        for label, column in zip(labels, weights.T, strict=True):
            top = sorted(zip(-np.abs(column), words.distinct, column.tolist(), strict=True))
            pairs += [(label + word, self._rounded(weight)) for _, word, weight in top[: self.num_features]]
        return tuple(sorted(pairs))

    def _rounded(self, weight: float) -> float:
        return weight if self.digits is None else round(weight, self.digits) + 0.0


@attrs.frozen
class Words:
    """A text cut into its words and what stands between them.

    Examples
    --------
    >>> words = Words.split("So dull, so dull!", "word")
    >>> words.distinct
    ['so', 'dull']
    >>> words.without(np.array([[True, False], [False, True]]))
    ['so , so !', ' dull,  dull!']
    """

    distinct: list[str]
    pieces: list[str]
    _word: NDArray[np.int64]  # of each piece, −1 for what stands between

    @classmethod
    def split(cls, text: str, tokenizer: str) -> "Words":
        """Cut a text as lime does, at the tokenizer's words."""
        from lime.lime_text import IndexedString

        if tokenizer == "word":
            text = text.lower()
        found = faithkit.plugin.tokens(text, tokenizer)
        if not found:
            return cls([], [text], np.array([-1]))
        indexed = IndexedString(text, split_expression=lambda _: found)
        word = np.full(len(indexed.as_list), -1)
        for number, places in enumerate(indexed.positions):
            word[places] = number
        return cls([str(word) for word in indexed.inverse_vocab], indexed.as_list, word)

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def perturb(self, samples: int, seed: int) -> NDArray[np.bool_]:
        """Draw which words are kept, (samples, words), as lime does: all, then all but a random number."""
        n = len(self.distinct)
        if not n:
            return np.empty((0, 0), dtype=bool)
        rng = np.random.Generator(np.random.SFC64(seed))
        removed = np.r_[0, rng.integers(1, n + 1, samples - 1)]
        return rng.random((samples, n)).argsort(axis=1) >= removed[:, None]

    def without(self, kept: NDArray[np.bool_]) -> list[str]:
        """Return the texts in which only these words are kept."""
        between = np.ones((len(kept), 1), dtype=bool)
        masks = np.hstack([kept, between])[:, self._word]  # −1 is the last column
        return ["".join(compress(self.pieces, mask)) for mask in masks.tolist()]


def _parts(sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Divide texts into parts that are asked about together, by how many characters that takes."""
    number = np.cumsum(sizes) // CHARACTERS
    return np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(number)) + 1)


def _distinct(kept: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return the patterns of words without copies, in order, and which of them each one is."""
    bits = np.packbits(kept, axis=1)
    names = np.empty(len(bits), dtype=object)
    names[:] = [row.tobytes() for row in bits]
    place, _ = pd.factorize(names)
    return kept[np.unique(place, return_index=True)[1]], place


def _check_whole(name: str, value: Any, least: int) -> None:
    faithkit.plugin.whole_number(value, f"lime-text: {name}", least, error=faithkit.errors.ParameterError)


def _check_texts(X: Any) -> None:
    if not isinstance(X, list):
        raise faithkit.errors.InputError(
            f"lime-text explains a list of texts, and was given a {type(X).__name__}: for a column of texts "
            "give X['column'].tolist(), for a table use lime."
        )
