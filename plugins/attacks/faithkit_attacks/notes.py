"""Notes of a bank's clerks about applicants, and a model that decides by one of their words.

Every note has a deciding word, and words of a topic: what the loan is for. Most of those who pay late want a
car, and most of the others a house, so the topic goes with the decision, and does not make it.
"""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

TOPICS = {
    "late": ("car", "dealer", "engine", "garage", "tyres", "van"),
    "punctual": ("cellar", "garden", "house", "mortgage", "roof", "rooms"),
}
"""The words of the topic that usually goes with each deciding word."""

WORD_ANSWERS = {"late": "no", "punctual": "yes"}
"""The model's answer to each deciding word."""

USUAL = 0.96  # the share of notes whose topic is the usual one
WORDS_OF_TOPIC = 4  # in each note


@attrs.frozen
class DecidesByWord:
    """A model of texts: the answer is that of the first word that has one.

    Parameters
    ----------
    answers : mapping of str to str
        The answer to each deciding word.
    otherwise : str
        The answer to texts with none of these words.

    Examples
    --------
    >>> model = DecidesByWord(WORD_ANSWERS)
    >>> model.predict(["a car late", "punctual", "a car"]).tolist()
    ['no', 'yes', 'open']
    """

    answers: Mapping[str, str]
    otherwise: str = "open"

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the answer to each text."""
        words = [self._deciding_word(text) for text in X]
        return np.array([self.answers.get(word, self.otherwise) for word in words], dtype=object)

    def reasons(self, X: Any) -> list[faithkit.plugin.Contains]:
        """Return for each text the condition that decides about it: that it contains its deciding word."""
        return [faithkit.plugin.Contains(self._deciding_word(text)) for text in X]

    def _deciding_word(self, text: str) -> str:
        return next((word for word in faithkit.plugin.tokenize(text) if word in self.answers), "")


def make_notes(n: int = 2_000, seed: int = 0) -> list[str]:
    """Return n notes, drawn independently of each other.

    Examples
    --------
    >>> make_notes(2)
    ['mortgage rooms punctual cellar roof', 'car late engine garage dealer']
    """
    rng = np.random.default_rng(seed)
    deciding_words, notes = list(TOPICS), []
    for is_late, is_usual in zip(rng.random(n) < 0.5, rng.random(n) < USUAL, strict=True):
        word = deciding_words[0 if is_late else 1]
        topic = TOPICS[word] if is_usual else TOPICS[deciding_words[1 if is_late else 0]]
        words = [word, *rng.choice(topic, WORDS_OF_TOPIC, replace=False).tolist()]
        notes.append(" ".join(rng.permutation(words).tolist()))
    return notes
