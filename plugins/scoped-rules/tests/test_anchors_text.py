"""Anchors of texts: rules about the words of one tokenizer, searched for with exactly these words masked."""

import functools
import random

import numpy as np
import pytest
from looping import one_test
from pages import json_of
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import faithkit

WORDS = ["fine", "dull", "plot", "cast", "long", "loud", "warm", "cold"]


def make_anchors(**params):
    return faithkit.plugin.registry().create("explainer", "anchors-text", params)


def explain(model, X, seed=0, **params):
    fitted = make_anchors(**params).fit(faithkit.Predictor(model), None)
    return fitted.explain(X, faithkit.plugin.row_seeds(X, seed))


def find_word(word, tokenizer="whitespace"):
    return lambda texts: np.array([word in faithkit.plugin.tokenize(text, tokenizer) for text in texts])


def make_reviews(n=60):
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS, 5)) for _ in range(n)]


@functools.cache
def fit_model():
    texts = make_reviews()
    score = np.array([text.count("fine") + text.count("warm") - text.count("dull") for text in texts])
    labels = np.array(["bad", "so-so", "good"])[np.digitize(score, [0, 2])]
    return make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)).fit(texts, labels)


@one_test
@pytest.mark.parametrize("tokenizer", ["whitespace", "word"])
def test_every_rule_covers_its_own_text(tokenizer):
    texts = make_reviews()
    X = [*texts[:3], "Fine, FINE plot; dull cast!", "fine\nwarm\tplot  "]
    explanations = explain(fit_model(), X, tokenizer=tokenizer, beam_size=2, tau=0.3)
    assert explanations.kind == "rule"
    assert explanations.relation == "in-scope"
    for i, rule in enumerate(explanations.values):
        assert rule.covers(X)[i], f"{X[i]}: {rule}"
        assert {p.tokenizer for p in rule.predicates} <= {tokenizer}


def test_the_word_that_decides_is_found():
    explanations = explain(find_word("dull"), ["a dull film indeed", "such a dull dull day"], beam_size=1)
    assert explanations.values.tolist() == [faithkit.Rule([faithkit.plugin.Contains("dull")])] * 2
    assert explanations.remarks.tolist() == [None, None]


def test_words_are_those_of_the_tokenizer():
    """A tokenizer of spaCy's would split "dull," in two, and the rule would look for a word that nobody has."""
    (rule,) = explain(find_word("dull,"), ["it was dull, and long"], beam_size=1).values
    assert rule == faithkit.Rule([faithkit.plugin.Contains("dull,")])
    (rule,) = explain(
        find_word("dull", "word"), ["It was DULL, and long"], tokenizer="word", beam_size=1
    ).values
    assert rule == faithkit.Rule([faithkit.plugin.Contains("dull", "word")])
    assert rule.covers(["Dull!"]).all()


def test_all_places_of_a_word_are_masked_together():
    def twice(texts):
        return np.array([text.split().count("so") == 2 for text in texts])

    explanations = explain(twice, ["so so a film", "so a so"])
    assert explanations.values.tolist() == [faithkit.Rule([faithkit.plugin.Contains("so")])] * 2


def test_a_long_word_is_not_cut():
    long = "x" * 200
    (rule,) = explain(find_word(long), [f"see {long} there"]).values
    assert rule == faithkit.Rule([faithkit.plugin.Contains(long)])


@pytest.mark.slow
def test_the_texts_drawn_are_those_of_anchor_exp():
    spacy = pytest.importorskip("spacy")
    from anchor.anchor_text import AnchorText
    from faithkit_scoped_rules.anchors.texts import MaskedText

    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: spacy.tokens.Doc(nlp.vocab, words=text.split())
    text, model = "a dull, slow and overlong film", find_word("dull,")
    words, _, _, draw_upstream = AnchorText(nlp, ["no", "yes"], use_unk_distribution=True).get_sample_fn(
        text, model
    )
    masked = MaskedText(text, text.split(), seed=5)
    assert words.tolist() == masked.distinct
    with faithkit.plugin.seed_global_generators(5):
        for present in ([], [1], [0, 3]):
            raw, upstream_masks, _ = draw_upstream(present, 30)
            masks, texts = masked.draw(present, 30)
            assert np.array_equal(masks, upstream_masks)
            assert texts == raw[:, 0].tolist()


@pytest.mark.slow
def test_engine_library_returns_the_words_that_anchor_exp_prints():
    spacy = pytest.importorskip("spacy")
    from anchor.anchor_text import AnchorText

    nlp = spacy.blank("en")
    nlp.tokenizer = lambda text: spacy.tokens.Doc(nlp.vocab, words=text.split())
    texts = make_reviews()
    model, X = fit_model(), [*texts[:8], "so, so dull, so fine: so warm"]
    rules = explain(model, X, engine="library", threshold=0.9, batch_size=20, beam_size=1).values
    package = AnchorText(nlp, ["bad", "so-so", "good"])
    for text, rule, seed in zip(X, rules, faithkit.plugin.row_seeds(X, 0), strict=True):
        with faithkit.plugin.seed_global_generators(int(seed)):
            answer = package.explain_instance(text, model.predict, threshold=0.9, batch_size=20)
        assert {p.token for p in rule.predicates} == set(answer.names())


def test_both_engines_find_the_same_rules_for_texts_of_distinct_words():
    X = [" ".join(dict.fromkeys(text.split())) for text in make_reviews()[:2]]
    rules, library_rules = (
        explain(fit_model(), X, engine=engine, beam_size=2, tau=0.3).values.tolist()
        for engine in ("faithkit", "library")
    )
    assert rules == library_rules


def test_engine_library_masks_each_place_of_a_word_on_its_own():
    queries = set()

    def twice(texts):
        queries.update(texts)
        return np.array([text.split().count("so") == 2 for text in texts])

    explanations = explain(twice, ["so so dull", ""], engine="library")
    assert explanations.values[0] == faithkit.Rule([faithkit.plugin.Contains("so")])
    assert explanations.remarks.tolist() == [None, "no words"]
    assert queries & {"so UNK dull", "UNK so dull"}  # which the other engine never asks about


def test_engine_library_takes_the_words_of_the_tokenizer():
    (rule,) = explain(
        find_word("dull", "word"), ["It was DULL, and long"], engine="library", tokenizer="word", beam_size=1
    ).values
    assert rule == faithkit.Rule([faithkit.plugin.Contains("dull", "word")])


def test_engine_library_explains_regressors_and_remarks_imprecise_rules():
    def length(texts):
        return np.array([10.0 * ("dull" in text.split()) + 0.1 * text.count("a") for text in texts])

    regressor = faithkit.Predictor(length, outcome="numbers")
    texts = ["a dull film indeed", "a long day"]
    fitted = make_anchors(engine="library", within=1.0).fit(regressor, texts)
    explanations = fitted.explain(texts[:1], [1])
    assert explanations.values[0] == faithkit.Rule([faithkit.plugin.Contains("dull")])
    assert explanations.shared["within"] == 1.0
    X = ["two\nlines"]
    explanations = explain(lambda texts: np.array(["\n" in text for text in texts]), X, engine="library")
    assert explanations.remarks.tolist() == ["below the threshold"]


def test_a_text_without_words_has_no_explanation():
    X = ["", " \n", "a dull film"]
    result = faithkit.evaluate(find_word("dull"), X, explainer="anchors-text")
    assert result.why_unexplained == {"no words": 2}
    assert result.rows.explanations.missing.tolist() == [True, True, False]
    assert explain(find_word("dull"), ["a b c"], tokenizer="word").remarks.tolist() == ["no words"]


def test_a_rule_that_does_not_reach_the_threshold_is_kept_and_remarked():
    X = ["two\nlines", "one line"]  # masked texts are single lines, so the first label is never met again
    explanations = explain(lambda texts: np.array(["\n" in text for text in texts]), X)
    assert explanations.remarks.tolist() == ["below the threshold", None]
    assert explanations.values[0].covers(X)[0]


def test_a_rule_depends_on_seed_and_text_only():
    texts = make_reviews()
    fitted = make_anchors(beam_size=2, tau=0.3).fit(faithkit.Predictor(fit_model()), None)
    X, seeds = texts[:4], faithkit.plugin.row_seeds(texts[:4], 0)
    straight = fitted.explain(X, seeds).values.tolist()
    assert fitted.explain(X[::-1], seeds[::-1]).values.tolist() == straight[::-1]
    assert [fitted.explain([X[i]], seeds[i : i + 1]).values[0] for i in range(4)] == straight


@pytest.mark.slow
def test_two_workers_give_the_same_bytes():
    texts = make_reviews()
    model = fit_model()
    alone, by_workers = (
        json_of(faithkit.evaluate(model, texts[:16], explainer="anchors-text:beam_size=1", n_jobs=n))
        for n in (1, 2)
    )
    assert alone == by_workers


def test_the_global_generators_are_left_as_they_were():
    before, python = np.random.get_state(), random.getstate()
    explain(find_word("dull"), ["a dull film"])
    assert random.getstate() == python
    assert all(np.array_equal(a, b) for a, b in zip(np.random.get_state(), before, strict=True))


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"engine": "anchor-exp"}, "engine must be one of faithkit, library, got 'anchor-exp'"),
        ({"threshold": 1.5}, "threshold must be a number between 0 and 1, got 1.5"),
        ({"delta": -0.1}, "delta must be a number between 0 and 1"),
        ({"tau": 1}, "tau must be a number between 0 and 1"),
        ({"batch_size": "10"}, "batch_size must be a whole number of at least 1"),
        ({"beam_size": 0}, "beam_size must be a whole number of at least 1"),
        ({"tokenizer": "spacy"}, "no tokenizer 'spacy': choose one of whitespace, word"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=f"^anchors-text: {message}"):
        make_anchors(**params)


def test_a_table_is_refused():
    with pytest.raises(
        faithkit.errors.InputError, match="anchors-text explains a list of texts, not a ndarray: use anchors"
    ):
        explain(lambda X: X[:, 0] > 0, np.zeros((2, 2)))
