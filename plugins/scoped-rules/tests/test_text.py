"""Highlighted text: `first-word`, `all-words` and `top-coefficient`, and the paper's numbers for them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from looping import one_test
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import faithkit

TEXTS = [
    "A good good film , it's good",
    "bad bad film",
    "the plot is good",
    "a bad plot , a dull cast",
    "dull",
    "it is fine",
]
TWO = ["pos", "neg", "pos", "neg", "neg", "pos"]
THREE = [2, 0, 2, 0, 1, 1]


def make_explainer(name, **params):
    return faithkit.plugin.registry().create("explainer", name, params)


def fit_pipeline(y=TWO, vectorizer=None, linear=None):
    return make_pipeline(vectorizer or CountVectorizer(), linear or LogisticRegression()).fit(TEXTS, y)


def list_words(explanations):
    """The words of every rule, None where there is none."""
    return [
        None if rule is None else [predicate.token for predicate in rule.predicates]
        for rule in explanations.values
    ]


def explain_by_first(texts, **params):
    return make_explainer("first-word", **params).fit(None, texts).explain(texts, None)


def explain_by_all(texts, **params):
    return make_explainer("all-words", **params).fit(None, texts).explain(texts, None)


def explain_by_top(model, texts, **params):
    return (
        make_explainer("top-coefficient", **params).fit(faithkit.Predictor(model), TEXTS).explain(texts, None)
    )


# --- first-word and all-words ------------------------------------------------------------------------------


def test_the_first_word_is_that_of_the_named_tokenizer():
    texts = ["A fine film", "fine , fine", "... A"]
    assert list_words(explain_by_first(texts)) == [["A"], ["fine"], ["..."]]
    assert list_words(explain_by_first(texts, tokenizer="word")) == [["fine"], ["fine"], None]


def test_all_words_are_named_once_each():
    texts = ["Fine film , fine cast"]
    assert list_words(explain_by_all(texts)) == [[",", "Fine", "cast", "film", "fine"]]
    assert list_words(explain_by_all(texts, tokenizer="word")) == [["cast", "film", "fine"]]


@one_test
@pytest.mark.parametrize("find", [explain_by_first, explain_by_all])
def test_a_text_without_words_has_no_explanation_and_the_reason_is_told(find):
    explanations = find(["a good film", "", " \n"])
    assert explanations.missing.tolist() == [False, True, True]
    assert explanations.remarked.tolist() == [None, "no words", "no words"]
    assert find([]).missing.tolist() == []


@one_test
@pytest.mark.parametrize("find", [explain_by_first, explain_by_all])
def test_rules_apply_by_the_relation_in_scope_and_equal_ones_are_one_object(find):
    explanations = find(["good film", "bad film", "good film"])
    assert (explanations.kind, explanations.relation) == ("rule", "in-scope")
    assert explanations.values[0] is explanations.values[2]
    assert explanations.values[0] != explanations.values[1]


@given(
    st.lists(st.text(alphabet="aAbé ,.\n", max_size=8), max_size=6), st.sampled_from(["whitespace", "word"])
)
def test_every_rule_covers_its_own_text_and_exactly_those_with_its_words(texts, tokenizer):
    splits = [set(faithkit.plugin.tokenize(text, tokenizer)) for text in texts]
    for find in (explain_by_first, explain_by_all):
        explanations = find(texts, tokenizer=tokenizer)
        assert explanations.missing.tolist() == [not split for split in splits]
        for row in np.flatnonzero(~explanations.missing):
            rule_words = {predicate.token for predicate in explanations.values[row].predicates}
            covered = explanations.values[row].covers(texts)
            assert covered[row]
            assert covered.tolist() == [rule_words <= split for split in splits]
            assert rule_words == splits[row] if find is explain_by_all else len(rule_words) == 1


# --- top-coefficient ---------------------------------------------------------------------------------------


def find_word_by_hand(model, text, by):
    """The word with the largest coefficient, straight from the definition."""
    coefficients = np.atleast_2d(model[-1].coef_)
    if len(coefficients) == 1:
        coefficients = np.vstack([-coefficients[0], coefficients[0]])
    label = list(model.classes_).index(model.predict([text])[0])
    best, most = None, -np.inf
    for word in sorted(set(model[0].build_analyzer()(text))):
        if word in model[0].vocabulary_:
            column = coefficients[:, model[0].vocabulary_[word]]
            value = max(abs(column)) if by == "absolute" else column[label]
            if value > most:
                best, most = word, value
    return None if best is None else [best]


@one_test
@pytest.mark.parametrize("by", ["absolute", "predicted"])
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (make_pipeline(CountVectorizer(), LogisticRegression()), TWO),
        (make_pipeline(CountVectorizer(), LogisticRegression()), THREE),
        (make_pipeline(TfidfVectorizer(stop_words=["is"], max_df=0.9), LinearSVC()), THREE),
        (make_pipeline(CountVectorizer(binary=True), TfidfTransformer(), SGDClassifier(random_state=0)), TWO),
        (make_pipeline(CountVectorizer(), "passthrough", RidgeClassifier()), THREE),
    ],
    ids=["logistic, two classes", "logistic, three classes", "svm", "sgd", "ridge"],
)
def test_the_word_is_the_one_that_the_definition_names(model, y, by):
    fitted = model.fit(TEXTS, y)
    texts = [*TEXTS, "good or bad", "BAD film it is", "unheard of", ""]
    expected = [find_word_by_hand(fitted, text, by) for text in texts]
    result = explain_by_top(fitted, texts, by=by)
    assert list_words(result) == expected
    assert expected[-2:] == [None, None]
    assert result.remarked[-2:].tolist() == ["no known word", "no known word"]


def test_a_ridge_classifiers_coefficients_may_have_one_dimension():
    model = fit_pipeline(linear=RidgeClassifier())
    assert model[-1].coef_.ndim == 1
    flat = list_words(explain_by_top(model, TEXTS, by="predicted"))
    model[-1].coef_ = model[-1].coef_[None, :]
    assert list_words(explain_by_top(model, TEXTS, by="predicted")) == flat


def test_sparse_coefficients_are_read_too():
    model = fit_pipeline()
    expected = list_words(explain_by_top(model, TEXTS, by="predicted"))
    model[-1].sparsify()
    assert list_words(explain_by_top(model, TEXTS, by="predicted")) == expected


def test_of_equal_coefficients_the_first_word_in_the_alphabet_is_taken():
    model = make_pipeline(CountVectorizer(vocabulary=["zebra", "apple", "mouse"]), LogisticRegression())
    model.fit(["zebra apple mouse", "none"], [1, 0])
    assert np.unique(model[-1].coef_.round(12)).size == 1
    for text in ("zebra apple mouse", "mouse zebra apple"):
        assert (
            list_words(explain_by_top(model, [text]))
            == list_words(explain_by_top(model, [text], by="predicted"))
            == [["apple"]]
        )


def test_absolute_and_predicted_part_where_a_word_speaks_against_the_prediction():
    texts = ["good good film", "bad film", "good", "bad bad bad", "film"]
    model = make_pipeline(CountVectorizer(), LogisticRegression(C=10)).fit(texts, [1, 0, 1, 0, 1])
    good, bad = (model[-1].coef_[0, model[0].vocabulary_[word]] for word in ("good", "bad"))
    stronger, weaker = ("good", "bad") if abs(good) > abs(bad) else ("bad", "good")
    text = f"{stronger} {' '.join([weaker] * 9)}"  # the weaker word decides by its number
    assert list_words(explain_by_top(model, [text])) == [[stronger]]
    assert list_words(explain_by_top(model, [text], by="predicted")) == [[weaker]]


# --- the measures ------------------------------------------------------------------------------------------


def test_sufficiency_counts_the_texts_that_contain_the_word():
    texts = ["good film", "bad good", "good", "bad film", ""]
    labels = np.array(["pos", "neg", "pos", "neg", "neg"])

    def model(X):
        return labels[[texts.index(text) for text in X]]

    result = faithkit.evaluate(model, texts, explainer="first-word")
    # good: in 0, 1 and 2, explains 0 and 2; bad: in 1 and 3, explains both
    assert result.sufficiency.value == pytest.approx((0.5 + 1 + 0.5 + 1 + 0) / 5)
    assert result.consistency.value == pytest.approx((1 + 1 + 1 + 1 + 0) / 5)
    assert result.unexplained == 1
    assert result.why_unexplained == {"no words": 1}


@pytest.fixture(scope="module")
def polarity():
    if "FAITHKIT_DATA" not in os.environ:
        pytest.skip("needs rt-polarity: set FAITHKIT_DATA to the folder of datasets")
    table = pd.read_csv(Path(os.environ["FAITHKIT_DATA"], "rt-polarity.csv.gz"), keep_default_na=False)
    table = table[table["text"].map(str.isascii)]
    train, test = train_test_split(table, test_size=0.2, random_state=42)
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=2000))
    return model.fit(train["text"].tolist(), train["target"].tolist()), test["text"].tolist(), len(table)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("top-coefficient:by=predicted", (0.69, 0.68, 0.50)),
        ("top-coefficient", (0.52, 0.61, 0.47)),
        ("first-word", (0.37, 0.46, 0.38)),
        ("all-words", (0.0, 0.0, 1.0)),
    ],
)
def test_the_papers_numbers_on_rt_polarity(polarity, name, expected):
    model, texts, n = polarity
    assert (n, len(model[0].vocabulary_)) == (10433, 15888)
    measured = []
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(len(texts), 1000, replace=False)
        result = faithkit.evaluate(model, [texts[row] for row in rows], explainer=name)
        # where nothing can be checked, the paper has 0
        values = [estimate.value or 0.0 for estimate in (result.consistency, result.sufficiency)]
        measured.append((*values, result.uniqueness))
    assert np.mean(measured, axis=0) == pytest.approx(expected, abs=0.03)


# --- what is refused ---------------------------------------------------------------------------------------


@one_test
@pytest.mark.parametrize("name", ["first-word", "all-words", "top-coefficient"])
def test_a_table_is_refused_with_a_way_out(name):
    model = faithkit.Predictor(fit_pipeline())
    for table in (np.zeros((3, 2)), pd.DataFrame({"text": TEXTS})):
        with pytest.raises(faithkit.errors.InputError, match="for a table use tree or anchors"):
            make_explainer(name).fit(model, table)
        with pytest.raises(faithkit.errors.InputError, match="for a table use tree or anchors"):
            make_explainer(name).fit(model, TEXTS).explain(table, None)
    with pytest.raises(faithkit.errors.InputError, match="row 1 is a NoneType"):
        make_explainer(name).fit(model, TEXTS).explain(["a film", None], None)


@one_test
@pytest.mark.parametrize("name", ["first-word", "all-words"])
def test_an_unknown_tokenizer_is_refused(name):
    with pytest.raises(
        faithkit.errors.ParameterError, match=f"{name}: no tokenizer 'spacy'.*whitespace, word"
    ):
        make_explainer(name, tokenizer="spacy")


def test_wrong_parameters_of_top_coefficient_are_refused():
    with pytest.raises(faithkit.errors.ParameterError, match="'absolute' or 'predicted', got 'relative'"):
        make_explainer("top-coefficient", by="relative")
    with pytest.raises(faithkit.errors.ParameterError, match=r"must be 'word'.*got 'whitespace'"):
        make_explainer("top-coefficient", tokenizer="whitespace")


@one_test
@pytest.mark.parametrize(
    ("model", "description"),
    [
        (lambda X: ["pos"] * len(X), "the model is a function"),
        (fit_pipeline(linear=MultinomialNB()), "a Pipeline of CountVectorizer, MultinomialNB"),
        (
            fit_pipeline(linear=DecisionTreeClassifier()),
            "a Pipeline of CountVectorizer, DecisionTreeClassifier",
        ),
        (fit_pipeline(THREE, linear=SVC(kernel="linear")), "a Pipeline of CountVectorizer, SVC"),
        (fit_pipeline(vectorizer=HashingVectorizer(n_features=16)), "a Pipeline of HashingVectorizer"),
        (
            make_pipeline(CountVectorizer(), MaxAbsScaler(), LogisticRegression()).fit(TEXTS, TWO),
            "a Pipeline of CountVectorizer, MaxAbsScaler, LogisticRegression",
        ),
        (make_pipeline(CountVectorizer(), LogisticRegression()), "reads a fitted Pipeline"),
    ],
)
def test_a_model_that_is_no_linear_pipeline_is_refused_with_a_way_out(model, description):
    with pytest.raises(
        faithkit.errors.InputError, match=f"{description}.*first-word, all-words or anchors-text"
    ):
        explain_by_top(model, TEXTS)


@one_test
@pytest.mark.parametrize(
    ("vectorizer", "description"),
    [
        (CountVectorizer(ngram_range=(1, 2)), r"CountVectorizer has ngram_range=\(1, 2\)"),
        (TfidfVectorizer(lowercase=False), "TfidfVectorizer has lowercase=False"),
        (CountVectorizer(token_pattern=r"\S+"), "has token_pattern="),
        (CountVectorizer(strip_accents="ascii"), "has strip_accents='ascii'"),
        (CountVectorizer(analyzer="char"), "has analyzer='char'"),
        (CountVectorizer(tokenizer=str.split, token_pattern=None), "has token_pattern=None|has tokenizer="),
    ],
)
def test_a_vectorizer_with_other_words_than_the_rules_is_refused(vectorizer, description):
    with pytest.raises(faithkit.errors.InputError, match=f"({description}).*the default"):
        explain_by_top(fit_pipeline(vectorizer=vectorizer), TEXTS)


@one_test
@pytest.mark.parametrize("name", ["first-word", "all-words", "top-coefficient"])
def test_an_empty_background_is_refused(name):
    with pytest.raises(faithkit.errors.InputError, match=r"empty \(0 rows\)"):
        faithkit.evaluate(fit_pipeline(), TEXTS, explainer=name, background=[])
