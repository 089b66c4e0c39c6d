"""Anchors of texts: the words that, as far as texts with other words masked tell, fix the model's answer.

What is masked are the tokens of the same tokenizer that the rule is judged with, all places of a token
together, so that a rule says what was tested. anchor-exp's own text explainer masks places one by one, and
cuts tokens of more than 80 characters.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchor_search import Search

MASK = "UNK"


class AnchorsText:
    """Words whose presence fixes the model's answer while others are masked (Ribeiro, Singh, Guestrin 2018).

    Parameters
    ----------
    threshold : float
        The precision that a rule must reach.
    delta : float
        The probability with which the confidence bounds may fail.
    tau : float
        How exactly the best candidates of each size are told apart.
    batch_size : int
        How many texts are drawn, and the model is asked about, at a time.
    beam_size : int
        How many candidates of each size are extended; 1 is what anchor-exp does, whatever it is told.
    tokenizer : str
        What a word is: "whitespace", or "word" as CountVectorizer's default.

    Notes
    -----
    The model is asked about the text's tokens joined by blanks, each masked as UNK with probability 1/2: with
    the tokenizer "word" it sees lower case and no punctuation. The rule is the first that reaches the
    threshold, and the shortest; where none does, the most precise that was met, with the remark "below the
    threshold". A text without tokens has no explanation.

    Examples
    --------
    >>> model = faithkit.Predictor(lambda texts: np.array(["dull" in text.split() for text in texts]))
    >>> anchors = AnchorsText().fit(model, None)
    >>> found = anchors.explain(["a dull film indeed", ""], seeds=[1, 2])
    >>> print(found.values[0], "|", found.remarked[1])
    contains 'dull' | no words
    """

    rows_per_chunk = 8
    learns = False

    def __init__(
        self,
        threshold: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.15,
        batch_size: int = 10,
        beam_size: int = 4,
        tokenizer: str = "whitespace",
    ) -> None:
        self.search = Search("anchors-text", threshold, delta, tau, batch_size, beam_size)
        try:
            faithkit.tokens("", tokenizer)
        except faithkit.InputError as error:
            raise faithkit.ParameterError(f"anchors-text: {error}") from None
        self.tokenizer = tokenizer

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "AnchorsText":
        """Keep the model; masking needs no background."""
        self.predictor_ = predictor
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per text, each found with its own seed."""
        if not isinstance(X, list):
            raise faithkit.InputError(
                f"anchors-text explains a list of texts, not a {type(X).__name__}: use anchors for tables."
            )
        found = [self._rule(text, int(seed)) for text, seed in zip(X, seeds, strict=True)]
        return faithkit.Explanations.of(
            [rule for rule, _ in found],
            kind="rule",
            instances=X,
            remarks=np.array([remark for _, remark in found], dtype=object),
            relation="in-scope",
        )

    def _rule(self, text: str, seed: int) -> tuple[faithkit.Rule | None, str | None]:
        words = faithkit.tokens(text, self.tokenizer)
        if not words:
            return None, "no words"
        masked = MaskedText(words, self.predictor_.predict([text])[0], self.predictor_.predict)
        anchor = self.search.run(masked, seed, stop_on_first=True)
        chosen = [masked.distinct[number] for number in anchor.predicates]
        rule = faithkit.Rule([faithkit.Contains(word, self.tokenizer) for word in chosen])
        return rule, anchor.remark


class MaskedText:
    """A text in which each distinct word is masked with probability 1/2, in all its places at once.

    Parameters
    ----------
    words : list of str
    label : str, bool, int or float
        What the model says of the text itself.
    ask : callable
        Texts -> their labels.

    Examples
    --------
    >>> text = MaskedText(["so", "so", "dull"], True, lambda texts: np.array(["so" in t for t in texts]))
    >>> text.written(np.array([[True, False], [False, True]]))
    ['so so UNK', 'UNK UNK dull']
    >>> text.agrees(np.array([[True, False], [False, True]]))
    array([ True, False])
    """

    def __init__(self, words: list[str], label: Any, ask: Callable[[list[str]], NDArray[Any]]) -> None:
        self.distinct = list(dict.fromkeys(words))
        number = {word: i for i, word in enumerate(self.distinct)}
        self._place = np.array([number[word] for word in words])
        self._words = np.array(words, dtype=object)
        self._label = label
        self._ask = ask

    def draw(self, present: Sequence[int], n: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Draw which words are kept in n texts; those of `present` always are. In anchor-exp's order."""
        kept = np.ones((n, len(self.distinct)), dtype=bool)
        for i in range(len(self.distinct)):
            if i not in present:
                masked = np.random.choice(n, np.random.binomial(n, 0.5), replace=False)
                kept[masked, i] = False
        return kept, kept

    def agrees(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Ask the model which of the texts have the text's own label."""
        return np.asarray(self._ask(self.written(rows)) == self._label, dtype=bool)

    def coverage(self) -> NDArray[np.bool_]:
        """Return one drawn text: all words are masked alike, so coverage tells none from another."""
        return self.draw([], 1)[0]

    def written(self, rows: NDArray[np.bool_]) -> list[str]:
        """Return the texts in which only these words are kept."""
        return [" ".join(words) for words in np.where(rows[:, self._place], self._words, MASK)]
