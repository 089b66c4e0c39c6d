"""`lime-text`: the lime package's own weights of words, and rules made of them."""

import functools

import cloudpickle
import numpy as np
import pandas as pd
import pytest
from faithkit_feature_importance.lime_weights.texts import SplitText
from lime.lime_text import LimeTextExplainer
from looping import one_test
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline

import faithkit

TEXTS = [
    "A good good film , it's good",
    "bad bad film",
    "the plot is good",
    "a bad plot , a dull cast",
    "dull",
    "it is fine",
]
TWO = ("pos", "neg", "pos", "neg", "neg", "pos")
THREE = (2, 0, 2, 0, 1, 1)
NEW = ["A GOOD cast, a good plot; the film is fine", "bad plot , dull film", "so so so fine", "dull"]


def make_lime_text(**params):
    return faithkit.plugin.registry().create("explainer", "lime-text", params)


@functools.cache
def fit_pipeline(y=TWO, vectorizer=None):
    return make_pipeline(vectorizer or CountVectorizer(), LogisticRegression()).fit(TEXTS, y)


def explain(model, texts, seeds=None, **params):
    explainer = make_lime_text(**params).fit(faithkit.Predictor(model), TEXTS)
    return explainer.explain(texts, range(len(texts)) if seeds is None else seeds)


def weigh_with_package(model, text, tokenizer, seed, samples):
    """Let the lime package weigh the words, from the texts that ours has drawn."""
    text = text.lower() if tokenizer == "word" else text
    words = SplitText.split(text, tokenizer)
    masks = words.draw_kept_words(samples, seed)
    package = LimeTextExplainer(
        feature_selection="none",
        split_expression=lambda text: faithkit.plugin.tokenize(text, tokenizer),
        random_state=0,
    )

    def drawn(indexed, scores, n, distance_metric):
        texts = [indexed.inverse_removing(np.flatnonzero(~row)) for row in masks]
        distances = (
            pairwise_distances(masks.astype(float), np.ones((1, masks.shape[1])), metric="cosine") * 100
        )
        return masks.astype(float), scores(texts), distances.ravel()

    package._LimeTextExplainer__data_labels_distances = drawn
    classes = range(len(model.classes_))
    result = package.explain_instance(text, model.predict_proba, labels=classes, num_samples=samples)
    return {str(model.classes_[k]): dict(result.as_list(k)) for k in classes}


# --- the lime package's own numbers ------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(("tokenizer", "y"), [("word", THREE), ("whitespace", TWO)])
def test_weights_are_those_of_the_lime_package_on_the_same_perturbations(tokenizer, y):
    model = fit_pipeline(y, TfidfVectorizer(ngram_range=(1, 2)))
    settings = {"form": "weights", "target": "all", "num_features": 99, "samples": 150}
    explanations = explain(model, NEW, [5, 6, 7, 8], tokenizer=tokenizer, **settings)
    for text, seed, pairs in zip(NEW, [5, 6, 7, 8], explanations.values, strict=True):
        weights = weigh_with_package(model, text, tokenizer, seed, 150)
        expected = {f"{label}: {word}": w for label, words in weights.items() for word, w in words.items()}
        assert dict(pairs) == pytest.approx(expected, rel=1e-9, abs=1e-11)
        assert list(pairs) == sorted(pairs)


def test_words_are_removed_as_the_package_removes_them():
    """How many are removed is uniform, and so is which."""
    text = "one two three four five"
    masks = SplitText.split(text, "word").draw_kept_words(2001, seed=3)
    assert masks[0].all()
    package_texts = []
    package = LimeTextExplainer(random_state=1)
    package.explain_instance(
        text, lambda texts: package_texts.extend(texts) or np.full((len(texts), 2), 0.5), num_samples=2001
    )
    package_masks = np.array([[word in drawn.split() for word in text.split()] for drawn in package_texts])
    for count in (lambda masks: masks.sum(axis=1), lambda masks: masks @ (1 << np.arange(5))):
        table = pd.crosstab(np.r_[count(masks[1:]), count(package_masks[1:])], np.repeat([0, 1], 2000))
        assert len(table) > 4
        assert stats.chi2_contingency(table).pvalue > 0.01


def test_the_texts_asked_about_lack_words_and_nothing_else():
    calls = []

    class Spy:
        classes_ = np.array([0, 1])

        def predict(self, texts):
            return np.zeros(len(texts), dtype=int)

        def predict_proba(self, texts):
            calls.append(texts)
            return np.full((len(texts), 2), 0.5)

    explainer = make_lime_text(samples=500, tokenizer="whitespace").fit(faithkit.Predictor(Spy()), TEXTS)
    calls.clear()
    explainer.explain(["So  dull, so dull,"], [1])
    (texts,) = calls
    patterns = [(a, b, c) for a in ("So", "") for b in ("dull,", "") for c in ("so", "")]
    assert sorted(texts) == sorted(f"{so}  {dull} {so_too} {dull}" for so, dull, so_too in patterns)


# --- engine=library ----------------------------------------------------------------------------------------


def test_engine_library_returns_the_weights_that_lime_has_by_default():
    """In lower case and without words of one letter, the words are those of lime's own expression."""
    model = fit_pipeline(THREE, TfidfVectorizer(ngram_range=(1, 2)))
    texts = ["the film is fine, good; the plot is dull!", "dull"]
    explanations = explain(
        model,
        texts,
        [5, 6],
        engine="library",
        form="weights",
        target="all",
        num_features=99,
        samples=300,
        kernel_width=20.0,
    )
    for text, seed, pairs in zip(texts, [5, 6], explanations.values, strict=True):
        package = LimeTextExplainer(kernel_width=20.0, random_state=seed)
        classes = range(len(model.classes_))
        answer = package.explain_instance(
            text, model.predict_proba, labels=classes, num_features=99, num_samples=300
        )
        expected = {
            f"{model.classes_[k]}: {word}": weight for k in classes for word, weight in answer.as_list(k)
        }
        assert dict(pairs) == pytest.approx(expected, rel=1e-9, abs=1e-11)


def test_engine_library_splits_texts_as_the_rule_does_and_names_the_word_that_decides():
    X = ["A GOOD cast, a good plot", "bad plot , dull film", "", " ,! ", "unheard of words"]
    explanations = explain(fit_pipeline(), X, engine="library", samples=200)
    assert list(map(str, explanations.values[:2])) == ["contains the word 'good'", "contains the word 'bad'"]
    assert explanations.remarked.tolist() == [
        *(None, None, "no words", "no words"),
        "no word speaks for the class",
    ]
    (pairs,) = explain(
        fit_pipeline(),
        ["Good, good"],
        engine="library",
        tokenizer="whitespace",
        form="weights",
        num_features=9,
        samples=200,
    ).values
    assert [word for word, _ in pairs] == ["Good,", "good"]


def test_engine_library_explains_the_numbers_that_a_regressor_predicts():
    model = make_pipeline(CountVectorizer(), Ridge()).fit(TEXTS, 1000 * np.c_[THREE, THREE])
    text = "bad plot, dull film"
    (pairs,) = explain(
        model, [text], [3], engine="library", form="weights", num_features=99, samples=300
    ).values
    package = LimeTextExplainer(random_state=3)
    answer = package.explain_instance(text, model.predict, labels=(0,), num_features=99, num_samples=300)
    expected = dict(answer.as_list(0))  # both numbers are equal
    assert sorted(weight for _, weight in pairs) == pytest.approx(sorted([*expected.values()] * 2), rel=1e-9)
    assert {word for word, _ in pairs} == {f"output {k}: {word}" for k in (0, 1) for word in expected}


def test_engine_library_depends_on_seed_and_text_only():
    explainer = make_lime_text(engine="library", form="weights", num_features=9, samples=50).fit(
        faithkit.Predictor(fit_pipeline(THREE)), TEXTS
    )
    state = np.random.get_state()[1].tolist()
    together = explainer.explain(NEW[:2], [1, 2]).values.tolist()
    assert np.random.get_state()[1].tolist() == state
    copied = cloudpickle.loads(cloudpickle.dumps(explainer))
    assert together == [copied.explain([NEW[i]], [i + 1]).values[0] for i in (0, 1)]


# --- words as rules ----------------------------------------------------------------------------------------


def pick_top_words(weights, k):
    """The k words with the largest weights, of those that speak for the class at all."""
    speaking = sorted((-weight, word) for word, weight in weights.items() if weight > 0)
    return sorted(word for _, word in speaking[:k])


@one_test
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
def test_a_rule_holds_the_words_that_speak_most_for_the_predicted_class(y):
    model = fit_pipeline(y)
    weights = [
        weigh_with_package(model, text, "word", seed, 200)[str(model.predict([text])[0])]
        for seed, text in enumerate(NEW)
    ]
    for k in (2, 99):
        explanations = explain(model, NEW, num_features=k, samples=200)
        assert (explanations.kind, explanations.relation) == ("rule", "in-scope")
        for text, words, rule in zip(NEW, weights, explanations.values, strict=True):
            assert [predicate.token for predicate in rule.predicates] == pick_top_words(words, k)
            assert rule.covers([text]).all()


def test_the_positive_class_can_be_asked_for():
    explanations = explain(fit_pipeline(), ["bad plot , dull film , fine"], target="positive")
    assert str(explanations.values[0]) == "contains the word 'fine'"
    assert explanations.shared == {"target": "positive", "class": "pos"}


def test_texts_without_words_or_without_a_word_that_speaks_have_no_explanation():
    explanations = explain(fit_pipeline(), ["good", "", " ,! ", "unheard of words"], samples=100)
    assert explanations.missing.tolist() == [False, True, True, True]
    assert explanations.remarked.tolist() == [None, "no words", "no words", "no word speaks for the class"]
    weights = explain(fit_pipeline(), ["", "unheard of"], samples=100, form="weights", num_features=9)
    assert weights.values.tolist() == [None, (("of", 0.0), ("unheard", 0.0))]
    assert explain(fit_pipeline(), []).missing.tolist() == []


def test_digits_round_the_weights():
    exact = explain(fit_pipeline(), NEW, form="weights", num_features=3, samples=200)
    rounded = explain(fit_pipeline(), NEW, form="weights", num_features=3, samples=200, digits=1)
    assert (exact.kind, exact.relation) == ("words", None)
    for many, few in zip(exact.values, rounded.values, strict=True):
        assert few == tuple((word, round(weight, 1)) for word, weight in many)
    assert len(exact.values[0]) == 3
    heavy = weigh_with_package(fit_pipeline(), NEW[0], "word", 0, 200)["pos"]
    order = sorted(heavy, key=lambda word: -abs(heavy[word]))[:3]
    assert [word for word, _ in exact.values[0]] == sorted(order)


def test_lime_text_is_evaluated_beside_other_explainers_of_texts():
    model = fit_pipeline()
    words = ["good", "bad", "film", "plot", "fine", "dull"]
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, 4)) for _ in range(40)]
    result = faithkit.evaluate(model, texts, explainer="lime-text:samples=300")
    top = faithkit.evaluate(model, texts, explainer="top-coefficient:by=predicted")
    assert result.sufficiency is not None
    assert result.sufficiency.value == pytest.approx(top.sufficiency.value, abs=0.15)
    weights = faithkit.evaluate(
        model, texts[:9], explainer="lime-text:form=weights,num_features=2,digits=1,samples=30"
    )
    assert weights.sufficiency is None


# --- one row is one row ------------------------------------------------------------------------------------


class Averaged:
    """The share of good words, in single or double precision; its last bits depend on what else is asked."""

    classes_ = np.array(["neg", "pos"])

    def __init__(self, dtype):
        self.dtype, self.sizes = dtype, []

    def predict(self, texts):
        return self.classes_[(self.predict_proba(texts)[:, 1] > 0.5).astype(int)]

    def predict_proba(self, texts):
        self.sizes.append(len(texts))
        good = np.array(
            [(text.count("good") + text.count("fine")) / (1 + len(text.split())) for text in texts]
        )
        good = good.astype(self.dtype) * (1 + len(texts) % 7 * np.finfo(self.dtype).eps)
        return np.column_stack([1 - good, good]).astype(self.dtype)


@one_test
@pytest.mark.parametrize(("dtype", "form"), [(np.float64, "words"), (np.float32, "weights")])
def test_a_model_is_asked_about_many_texts_at_once_even_where_its_last_bits_depend_on_that(dtype, form):
    model = Averaged(dtype)
    explainer = make_lime_text(form=form, num_features=3, samples=200).fit(faithkit.Predictor(model), TEXTS)
    alone = [explainer.explain([text], [i]) for i, text in enumerate([*NEW, ""])]
    model.sizes.clear()
    together = explainer.explain([*NEW, ""], range(5))
    assert len(model.sizes) == 2  # for the labels, and for the scores of all texts
    assert together.values.tolist() == [single.values[0] for single in alone]


def test_no_call_is_about_more_characters_than_memory_should_hold(monkeypatch):
    from faithkit_feature_importance.lime_weights import texts

    whole = explain(fit_pipeline(), NEW, form="weights", samples=100)
    monkeypatch.setattr(texts, "CHARACTERS_PER_CALL", 100 * len(NEW[3]))
    model = Averaged(np.float64)
    explain(model, NEW, form="weights", samples=100)
    compared = 1  # without a background, scores of the first texts are compared with their labels
    assert len(model.sizes) == 2 + 4 + 1 + compared  # at fit, for each text, and for the labels
    assert explain(fit_pipeline(), NEW, form="weights", samples=100).values.tolist() == whole.values.tolist()


# --- bad input ---------------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"num_features": 0}, "num_features must be a whole number of at least 1, got 0"),
        ({"num_features": True}, "num_features must be a whole number"),
        ({"form": "vector"}, "form must be 'words' or 'weights', got 'vector'"),
        ({"digits": -1, "form": "weights"}, "digits must be a whole number of at least 0"),
        ({"digits": 1}, "digits needs form=weights"),
        ({"target": "all"}, "target=all needs form=weights"),
        ({"target": "negative"}, "target must be one of positive, predicted, all"),
        ({"samples": 1}, "samples must be a whole number of at least 2"),
        ({"kernel_width": -1.0}, "kernel_width must be a number above 0"),
        ({"tokenizer": r"\W+"}, "no tokenizer"),
        ({"engine": "lime"}, "engine must be one of faithkit, library, got 'lime'"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    with pytest.raises(faithkit.errors.ParameterError, match=f"lime-text: .*{message}"):
        make_lime_text(**params)


def test_wrong_data_and_models_are_refused():
    model = faithkit.Predictor(fit_pipeline())
    table = np.zeros((2, 2))
    for call in (
        lambda: make_lime_text().fit(model, table),
        lambda: make_lime_text().fit(model, TEXTS).explain(table, [1, 2]),
    ):
        with pytest.raises(faithkit.errors.InputError, match=r"was given a ndarray: .* for a table use lime"):
            call()
    labels = faithkit.Predictor(lambda texts: np.array(["good" in text for text in texts]), background=TEXTS)
    with pytest.raises(faithkit.errors.InputError, match="gives labels only"):
        make_lime_text().fit(labels, TEXTS)
    with pytest.raises(faithkit.errors.InputError, match="target=positive needs two classes"):
        make_lime_text(target="positive").fit(faithkit.Predictor(fit_pipeline(THREE)), TEXTS)
