"""The explainer `anchors-text`: words that fix the model's answer while other words are masked.

It masks tokens of the tokenizer that also evaluates the rule, and all occurrences of a token together. So a
rule says exactly what was tested. anchor-exp's own text explainer masks occurrences one by one, and cuts
tokens of more than 80 characters.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.beam_search import Search
from faithkit_scoped_rules.anchors.library import check_engine, find_text_anchor
from faithkit_scoped_rules.anchors.lockstep_searches import Steps, run_together
from faithkit_scoped_rules.word_explainers import check_tokenizer

MASK = "UNK"
NO_WORDS = "no words"  # the remark of a text without any
RuleAndRemark = tuple[faithkit.Rule | None, str | None]


class AnchorsText:
    """Words whose presence fixes the model's answer while others are masked (Ribeiro, Singh, Guestrin 2018).

    Parameters
    ----------
    threshold : float
        The precision that a rule must reach.
    delta : float
        The probability with which the confidence bounds may fail.
    tau : float
        The tolerance in the comparison of the best candidates of each size.
    batch_size : int
        The number of samples of a candidate to draw at a time.
    beam_size : int
        The number of candidates of each size to extend. anchor-exp always uses 1, whatever its parameter.
    tokenizer : str
        What a word is: "whitespace", or "word" as CountVectorizer's default.
    within : float, optional
        The largest difference of predicted numbers that count as the same answer; stored in `shared`. By
        default the tolerance of the measure (``agree="within:ε"``), else
        half a standard deviation of the predictions for the background.
    engine : str
        "faithkit" searches for many texts together; "library" calls anchor-exp text by text, with the same
        parameters, words and beam, and the text's own seed.

    Notes
    -----
    The model is asked about the text's tokens joined by blanks, each masked as UNK with probability 1/2: with
    the tokenizer "word" it sees lower case and no punctuation. The rule is the first that reaches the
    threshold, and the shortest; where none does, the most precise that was met, with the remark "below the
    threshold". A text without tokens has no explanation.

    With ``engine="library"`` each occurrence of a word is masked on its own, the model sees the first 80
    characters of a word, and each text takes the memory of 10,000 batches.

    Examples
    --------
    >>> model = faithkit.Predictor(lambda texts: np.array(["dull" in text.split() for text in texts]))
    >>> anchors = AnchorsText().fit(model, None)
    >>> explanations = anchors.explain(["a dull film indeed", ""], seeds=[1, 2])
    >>> print(explanations.values[0], "|", explanations.remarked[1])
    contains 'dull' | no words
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 256
    learns = False  # of a regressor's background only the spread of the predictions is used

    def __init__(
        self,
        threshold: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.15,
        batch_size: int = 10,
        beam_size: int = 4,
        tokenizer: str = "whitespace",
        within: float | None = None,
        engine: str = "faithkit",
    ) -> None:
        self.search = Search("anchors-text", threshold, delta, tau, batch_size, beam_size)
        self.tokenizer = check_tokenizer("anchors-text", tokenizer)
        self.within = faithkit.plugin.Tolerance.check_within("anchors-text", within)
        self.engine = check_engine("anchors-text", engine)
        if engine == "library":
            self.rows_per_chunk = 16  # texts are searched one by one, so small chunks balance the workers

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "AnchorsText":
        """Store the model; masking needs no background."""
        self.predictor_ = predictor
        self.tolerance_ = faithkit.plugin.Tolerance.of(
            "anchors-text", predictor, background, within=self.within
        )
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per text, each found with its own seed."""
        if not isinstance(X, list):
            raise faithkit.errors.InputError(
                f"anchors-text explains a list of texts, not a {type(X).__name__}: use anchors for tables."
            )
        search = self._search_with_library if self.engine == "library" else self._search_together
        results = search(X, seeds)
        return faithkit.Explanations.of(
            [rule for rule, _ in results],
            kind="rule",
            instances=X,
            remarks=np.array([remark for _, remark in results], dtype=object),
            shared=self.tolerance_.to_shared(),
            relation="in-scope",
        )

    def _search_with_library(self, X: list[str], seeds: Any) -> list[RuleAndRemark]:
        results: list[RuleAndRemark] = []
        for text, seed in zip(X, seeds, strict=True):
            words = faithkit.plugin.tokenize(text, self.tokenizer)
            if words:
                agree = functools.partial(self._agree, self.predictor_.predict([text])[0])
                anchor_words, remark = find_text_anchor(text, words, agree, int(seed), self.search)
                results.append((self._build_rule(anchor_words), remark))
            else:
                results.append((None, NO_WORDS))
            faithkit.plugin.report_progress()
        return results

    def _search_together(self, X: list[str], seeds: Any) -> list[RuleAndRemark]:
        searches = (self._steps(text, int(seed)) for text, seed in zip(X, seeds, strict=True))
        mean_length = 1 + sum(map(len, X)) // max(1, len(X))  # characters per text
        predict, bytes_per_round = self.predictor_.predict, self.search.rows_per_round * mean_length
        return run_together(searches, predict, bytes_per_round, self.predictor_.is_regressor)

    def _agree(self, label: Any, texts: list[str]) -> NDArray[np.bool_]:
        return self.tolerance_.agree(self.predictor_.predict(texts), label)

    def _steps(self, text: str, seed: int) -> Steps[RuleAndRemark]:
        words = faithkit.plugin.tokenize(text, self.tokenizer)
        if not words:
            return None, NO_WORDS
        masked = MaskedText(text, words, seed)
        anchor = yield from self.search.steps(masked, self.tolerance_, stop_on_first=True)
        return self._build_rule([masked.distinct[number] for number in anchor.predicates]), anchor.remark

    def _build_rule(self, words: list[str]) -> faithkit.Rule:
        return faithkit.Rule([faithkit.plugin.Contains(word, self.tokenizer) for word in words])


class MaskedText:
    """A text in which each distinct word is masked with probability 1/2, at all its occurrences.

    Parameters
    ----------
    text : str
        The text.
    words : list of str
        Its words.
    seed : int
        The seed of the draws.

    Examples
    --------
    >>> text = MaskedText("so so dull", ["so", "so", "dull"], seed=0)
    >>> text.join_words(np.array([[True, False], [False, True]]))
    ['so so UNK', 'UNK UNK dull']
    >>> sorted(set(text.draw([1], 100)[1]))
    ['UNK UNK dull', 'so so dull']
    """

    def __init__(self, text: str, words: list[str], seed: int) -> None:
        self.instance_row = text
        self.distinct = list(dict.fromkeys(words))
        number_of_word = {word: i for i, word in enumerate(self.distinct)}
        self._word_numbers = np.array([number_of_word[word] for word in words])
        self._words = np.array(words, dtype=object)
        self._random = np.random.RandomState(seed % 2**32)  # the generator of anchor-exp

    def draw(self, present: Sequence[int], n: int) -> tuple[NDArray[np.bool_], list[str]]:
        """Draw the kept words of n texts, and return both; the words of `present` are always kept."""
        kept = np.ones((n, len(self.distinct)), dtype=bool)
        for i in range(len(self.distinct)):
            if i not in present:
                masked = self._random.choice(n, self._random.binomial(n, 0.5), replace=False)
                kept[masked, i] = False
        return kept, self.join_words(kept)

    def holds(self, draws: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which words are kept in drawn texts."""
        return draws

    def coverage(self) -> NDArray[np.bool_]:
        """Return one drawn text: all words are equally probable, so coverage does not separate candidates."""
        return self.draw([], 1)[0]

    def join_words(self, rows: NDArray[np.bool_]) -> list[str]:
        """Return the texts in which only these words are kept."""
        return [" ".join(words) for words in np.where(rows[:, self._word_numbers], self._words, MASK)]
