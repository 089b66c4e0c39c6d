"""Anchors of texts: the words that, as far as texts with other words masked tell, fix the model's answer.

What is masked are the tokens of the same tokenizer that the rule is judged with, all places of a token
together, so that a rule says what was tested. anchor-exp's own text explainer masks places one by one, and
cuts tokens of more than 80 characters.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.search import Search
from faithkit_scoped_rules.anchors.together import Steps, together

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
        How many samples of a candidate are drawn at a time.
    beam_size : int
        How many candidates of each size are extended; 1 is what anchor-exp does, whatever it is told.
    tokenizer : str
        What a word is: "whitespace", or "word" as CountVectorizer's default.
    within : float, optional
        By how much a number may differ from the text's and still be the model's answer, where it predicts
        numbers; `shared` tells it. By default what the measure counts as equal (``agree="within:ε"``), else
        half a standard deviation of the predictions for the background.

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

    outcomes = ("labels", "numbers")
    rows_per_chunk = 256
    learns = False  # of a regressor's background no more than how far its predictions lie apart

    def __init__(
        self,
        threshold: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.15,
        batch_size: int = 10,
        beam_size: int = 4,
        tokenizer: str = "whitespace",
        within: float | None = None,
    ) -> None:
        self.search = Search("anchors-text", threshold, delta, tau, batch_size, beam_size)
        try:
            faithkit.plugin.tokens("", tokenizer)
        except faithkit.errors.InputError as error:
            raise faithkit.errors.ParameterError(f"anchors-text: {error}") from None
        self.tokenizer = tokenizer
        self.within = faithkit.plugin.Tolerance.checked("anchors-text", within)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "AnchorsText":
        """Keep the model; masking needs no background."""
        self.predictor_ = predictor
        self.tolerance_ = faithkit.plugin.Tolerance.of("anchors-text", predictor, background, self.within)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per text, each found with its own seed."""
        if not isinstance(X, list):
            raise faithkit.errors.InputError(
                f"anchors-text explains a list of texts, not a {type(X).__name__}: use anchors for tables."
            )
        searches = (self._steps(text, int(seed)) for text, seed in zip(X, seeds, strict=True))
        letters = 1 + sum(map(len, X)) // max(1, len(X))  # of a text, on average
        ask, bytes_a_round = self.predictor_.predict, self.search.rows_a_round * letters
        found = together(searches, ask, bytes_a_round, self.predictor_.is_regressor)
        return faithkit.Explanations.of(
            [rule for rule, _ in found],
            kind="rule",
            instances=X,
            remarks=np.array([remark for _, remark in found], dtype=object),
            shared=self.tolerance_.to_shared(),
            relation="in-scope",
        )

    def _steps(self, text: str, seed: int) -> Steps[tuple[faithkit.Rule | None, str | None]]:
        words = faithkit.plugin.tokens(text, self.tokenizer)
        if not words:
            return None, "no words"
        masked = MaskedText(text, words, seed)
        anchor = yield from self.search.steps(masked, self.tolerance_, stop_on_first=True)
        chosen = [masked.distinct[number] for number in anchor.predicates]
        rule = faithkit.Rule([faithkit.Contains(word, self.tokenizer) for word in chosen])
        return rule, anchor.remark


class MaskedText:
    """A text in which each distinct word is masked with probability 1/2, in all its places at once.

    Parameters
    ----------
    own : str
        The text.
    words : list of str
        Its words.
    seed : int
        Of its own draws.

    Examples
    --------
    >>> text = MaskedText("so so dull", ["so", "so", "dull"], seed=0)
    >>> text.written(np.array([[True, False], [False, True]]))
    ['so so UNK', 'UNK UNK dull']
    >>> sorted(set(text.draw([1], 100)[1]))
    ['UNK UNK dull', 'so so dull']
    """

    def __init__(self, own: str, words: list[str], seed: int) -> None:
        self.own = own
        self.distinct = list(dict.fromkeys(words))
        number = {word: i for i, word in enumerate(self.distinct)}
        self._place = np.array([number[word] for word in words])
        self._words = np.array(words, dtype=object)
        self._random = np.random.RandomState(seed % 2**32)  # the kind that anchor-exp draws from

    def draw(self, present: Sequence[int], n: int) -> tuple[NDArray[np.bool_], list[str]]:
        """Draw which words are kept in n texts, and write these; the words of `present` always are."""
        kept = np.ones((n, len(self.distinct)), dtype=bool)
        for i in range(len(self.distinct)):
            if i not in present:
                masked = self._random.choice(n, self._random.binomial(n, 0.5), replace=False)
                kept[masked, i] = False
        return kept, self.written(kept)

    def holds(self, drawn: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which words are kept in texts that were drawn."""
        return drawn

    def coverage(self) -> NDArray[np.bool_]:
        """Return one drawn text: all words are masked alike, so coverage tells none from another."""
        return self.draw([], 1)[0]

    def written(self, rows: NDArray[np.bool_]) -> list[str]:
        """Return the texts in which only these words are kept."""
        return [" ".join(words) for words in np.where(rows[:, self._place], self._words, MASK)]
