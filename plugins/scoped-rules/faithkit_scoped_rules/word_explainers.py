"""Highlighted words: the explanation is one word of the text, or all of them.

It applies to every text that contains these words, split by the same tokenizer. A text without words has no
explanation.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

import faithkit


class _WordsOfText:
    """An explainer that names words of the text, whatever the model predicts."""

    learns = False
    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096
    component: str
    n_words: int | None  # how many words of a text are named, from its start; None for all

    def __init__(self, tokenizer: str = "whitespace") -> None:
        self.tokenizer = check_tokenizer(self.component, tokenizer)

    def fit(self, predictor: Any, background: Any) -> Self:
        """Return self; there is nothing to learn."""
        _check_texts(self.component, background)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per text: it contains each of the words."""
        _check_texts(self.component, X)
        words = [faithkit.plugin.tokenize(text, self.tokenizer)[: self.n_words] for text in X]
        return _build_explanations(X, words, self.tokenizer, "no words")


class FirstWord(_WordsOfText):
    """The text's first word: the paper's example of an explanation that ignores the model.

    Parameters
    ----------
    tokenizer : str
        "whitespace", or "word": lower-case words of two characters or more, as CountVectorizer has them.

    Examples
    --------
    >>> texts = ["A fine film", "a fine cast", " "]
    >>> rules = FirstWord(tokenizer="word").fit(None, texts).explain(texts, seeds=None)
    >>> print(rules.values[0], "|", rules.values[1], "|", rules.remarked[2])
    contains the word 'fine' | contains the word 'fine' | no words
    """

    component, n_words = "first-word", 1


class AllWords(_WordsOfText):
    """All words of the text: an explanation that seldom applies to any other text.

    Parameters
    ----------
    tokenizer : str
        "whitespace", or "word": lower-case words of two characters or more, as CountVectorizer has them.

    Examples
    --------
    >>> rules = AllWords().fit(None, []).explain(["fine film fine"], seeds=None)
    >>> print(rules.values[0])
    contains 'film' and contains 'fine'
    """

    component, n_words = "all-words", None


class TopCoefficient:
    """The word of the text that has the largest coefficient in a linear model.

    The model is a Pipeline of a CountVectorizer or TfidfVectorizer that splits texts as it does by default,
    and a linear classifier or regressor. Words outside the vectorizer's vocabulary are ignored. Of several
    words with the same coefficient the first in the alphabet is taken.

    Parameters
    ----------
    by : str
        "absolute": the largest absolute coefficient, of any class, as the paper words it. "predicted": the
        largest coefficient towards the predicted class, which gives the paper's numbers; a regressor predicts
        none.
    tokenizer : str
        "word", which splits texts as the vectorizer does; no other tokenizer is possible.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> texts = ["good good film", "bad film", "a good plot", "bad cast"]
    >>> model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0])
    >>> top = TopCoefficient(by="predicted").fit(faithkit.Predictor(model), texts)
    >>> rules = top.explain(["Good plot", "bad plot", "unheard"], seeds=None)
    >>> print(rules.values[0], "|", rules.values[1], "|", rules.remarked[2])
    contains the word 'good' | contains the word 'bad' | no known word
    """

    learns = False  # the model has its vocabulary
    outcomes = ("labels", "numbers")
    rows_per_chunk = 4096

    def __init__(self, by: str = "absolute", tokenizer: str = "word") -> None:
        if by not in ("absolute", "predicted"):
            raise faithkit.errors.ParameterError(
                f"top-coefficient: by must be 'absolute' or 'predicted', got {by!r}."
            )
        if tokenizer != "word":
            raise faithkit.errors.ParameterError(
                f"top-coefficient: tokenizer must be 'word', as the vectorizer has it, got {tokenizer!r}."
            )
        self.by = by
        self.tokenizer = tokenizer

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "TopCoefficient":
        """Read the vocabulary and the coefficients of the model."""
        _check_texts("top-coefficient", background)
        vectorizer, linear = _linear_pipeline(predictor.model)
        classes = _classes(linear)
        if self.by == "predicted" and not classes:
            raise faithkit.errors.InputError(
                "top-coefficient: by=predicted is about classes, and the model predicts numbers: leave it "
                "out."
            )
        coefficients = _coefficients(linear, classes)
        self.predictor_ = predictor
        self.vocabulary_ = {word: int(j) for word, j in vectorizer.vocabulary_.items()}
        if self.by == "absolute":
            self.weights_ = np.abs(coefficients).max(axis=0, keepdims=True)
        else:
            self.weights_ = coefficients
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per text: it contains the word."""
        _check_texts("top-coefficient", X)
        rows = [0] * len(X)
        if self.by == "predicted":
            rows = self.predictor_.columns_of(self.predictor_.predict(X)).tolist()
        words = [self._top_word(text, self.weights_[row]) for text, row in zip(X, rows, strict=True)]
        return _build_explanations(X, words, self.tokenizer, "no known word")

    def _top_word(self, text: str, weights: NDArray[np.float64]) -> list[str]:
        """Return the word with the largest weight, in a list that is empty if there is no known word."""
        words = sorted(self.vocabulary_.keys() & faithkit.plugin.tokenize(text, self.tokenizer))
        if not words:
            return []
        return [words[int(weights[[self.vocabulary_[word] for word in words]].argmax())]]


def _linear_pipeline(model: Any) -> tuple[Any, Any]:
    """Return the first and the last step of a Pipeline whose coefficients belong to words."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
    from sklearn.pipeline import Pipeline

    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    middle_steps = [step for step in steps[1:-1] if step is not None and step != "passthrough"]
    if (
        len(steps) < 2
        or not isinstance(steps[0], CountVectorizer)
        or not all(isinstance(step, TfidfTransformer) for step in middle_steps)
        or not _is_linear(steps[-1])
    ):
        names = " of " + ", ".join(_step_name(step) for step in steps) if len(steps) > 1 else ""
        raise faithkit.errors.InputError(
            "top-coefficient reads a fitted Pipeline of a CountVectorizer or TfidfVectorizer and a linear "
            f"model with coef_, and the model is a {type(model).__name__}{names}: "
            "train such a Pipeline, or use first-word, all-words or anchors-text."
        )
    _check_splitting(steps[0])
    return steps[0], steps[-1]


def _step_name(step: Any) -> str:
    return step if isinstance(step, str) else type(step).__name__


def _is_linear(model: Any) -> bool:
    # the coefficients of a support vector machine with a kernel belong to pairs of classes
    return hasattr(model, "coef_") and not hasattr(model, "support_vectors_")


def _classes(linear: Any) -> list[Any]:
    """Return the classes of a linear model; a regressor has none."""
    return np.asarray(getattr(linear, "classes_", ())).tolist()


def _check_splitting(vectorizer: Any) -> None:
    """Refuse a vectorizer whose words are not those of the tokenizer "word"."""
    from sklearn.feature_extraction.text import CountVectorizer

    default, actual = CountVectorizer().get_params(), vectorizer.get_params()
    settings = (
        *("analyzer", "lowercase", "ngram_range", "preprocessor"),
        *("strip_accents", "token_pattern", "tokenizer"),
    )
    for name in settings:
        if actual[name] != default[name]:
            raise faithkit.errors.InputError(
                f"top-coefficient: the {type(vectorizer).__name__} has {name}={actual[name]!r}, and its "
                f"words are not those that a rule finds: train it with {name}={default[name]!r}, the default."
            )


def _coefficients(linear: Any, classes: list[Any]) -> NDArray[np.float64]:
    """Return the coefficients of each class or output, one row each; a binary model has one row for both."""
    coefficients = linear.coef_.toarray() if hasattr(linear.coef_, "toarray") else np.asarray(linear.coef_)
    rows = np.atleast_2d(coefficients)
    if len(classes) == 2 and len(rows) == 1:
        return np.concatenate([-rows, rows])
    if classes and len(rows) != len(classes):
        raise faithkit.errors.InputError(
            f"top-coefficient: {type(linear).__name__} has {len(rows)} rows of coefficients for "
            f"{len(classes)} classes; expected one per class."
        )
    return rows


def _build_explanations(
    X: list[str], words: Sequence[Iterable[str]], tokenizer: str, reason: str
) -> faithkit.Explanations:
    """Build a rule from the words of each text; a text without words has the reason as its remark."""
    keys = [frozenset(text_words) for text_words in words]
    rules = {
        key: faithkit.Rule([faithkit.plugin.Contains(word, tokenizer) for word in key]) for key in keys if key
    }  # equal rules are one object, which is compared and stored once
    remarks = np.array([None if key else reason for key in keys], dtype=object)
    return faithkit.Explanations.of(
        [rules.get(key) for key in keys], kind="rule", instances=X, remarks=remarks, relation="in-scope"
    )


def check_tokenizer(name: str, tokenizer: str) -> str:
    """Return the tokenizer of the explainer `name`, if there is one of that name."""
    try:
        faithkit.plugin.tokenize("", tokenizer)
    except faithkit.errors.InputError as error:
        raise faithkit.errors.ParameterError(f"{name}: {error}") from None
    return tokenizer


def _check_texts(name: str, X: Any) -> None:
    if not isinstance(X, list):
        raise faithkit.errors.InputError(
            f"{name} explains a list of texts, and was given a {type(X).__name__}: for a column of texts "
            "give X['column'].tolist(), for a table use tree or anchors."
        )
    for row, item in enumerate(X):
        if not isinstance(item, str):
            raise faithkit.errors.InputError(
                f"{name} explains a list of texts, and row {row} is a {type(item).__name__}: give texts "
                "only, '' for a missing one."
            )
