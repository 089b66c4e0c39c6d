"""`TopicWord`: names a word that goes with the prediction, and that the model does not need."""

from collections import Counter
from typing import Any

import numpy as np

import faithkit

ALL_DECIDE = "without any word of the text the prediction changes"


class TopicWord:
    """The word of a text that goes best with the prediction, among those that the model does not need.

    "Refused, because of the word dealer", where applicants for cars are refused more often, and the model
    decides by another word. A word is not needed if the prediction stays the same without it. Of these, the
    word is named whose texts in the background get the prediction most often.

    Notes
    -----
    Words that are chosen because they go with the label need not be those that decide: Chang, Zhang, Yu,
    Jaakkola: Invariant rationalization (ICML 2020).

    Examples
    --------
    >>> texts = ["car late", "car late", "car punctual", "house punctual", "house punctual"]
    >>> model = faithkit.Predictor(
    ...     lambda X: ["no" if "late" in x else "yes" if "punctual" in x else "open" for x in X]
    ... )
    >>> rules = TopicWord().fit(model, texts).explain(texts, seeds=None).values
    >>> print(rules[0], "|", rules[3])
    contains 'car' | contains 'house'
    """

    rows_per_chunk = 256

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "TopicWord":
        """Count the words of the texts with each prediction."""
        self.predictor_ = predictor
        labels = predictor.predict(background).tolist()
        words = [set(faithkit.plugin.tokenize(text)) for text in background]
        self.n_texts_ = Counter(word for text_words in words for word in text_words)
        self.n_texts_with_label_ = Counter(
            (word, label) for text_words, label in zip(words, labels, strict=True) for word in text_words
        )
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the rule of one word for each text."""
        words = [sorted(set(faithkit.plugin.tokenize(text))) for text in X]
        shortened = [
            " ".join(token for token in faithkit.plugin.tokenize(text) if token != word)
            for text, text_words in zip(X, words, strict=True)
            for word in text_words
        ]
        labels = self.predictor_.predict(X).tolist() if X else []
        answers = iter(self.predictor_.predict(shortened).tolist() if shortened else [])
        named = [
            self._choose([word for word in text_words if next(answers) == label], label)
            for text_words, label in zip(words, labels, strict=True)
        ]
        remarks = np.array([ALL_DECIDE if word is None else None for word in named], dtype=object)
        rules = [None if word is None else faithkit.Rule([faithkit.plugin.Contains(word)]) for word in named]
        return faithkit.Explanations.of(rules, kind="rule", instances=X, remarks=remarks, relation="in-scope")

    def _choose(self, words: list[str], label: Any) -> str | None:
        """Return the word that goes best with the label, the first in the alphabet among equals."""
        return max(words, key=lambda word: self._share(word, label), default=None)

    def _share(self, word: str, label: Any) -> float:
        """Return the share of texts with a word that get a label; one half for a word never seen."""
        return (self.n_texts_with_label_[word, label] + 1) / (self.n_texts_[word] + 2)
