"""Callables that answer as pipelines of transformers do: a label with its score, or all labels, per text."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import Predictor
from faithkit.errors import InputError

TEXTS = ["good film", "bad film", "so good", "so bad", "a film"]


def score_text(text):
    return {True: 0.9, False: 0.2}["good" in text]


def predict_best(texts):
    """Give the best label only."""
    return [max(answer, key=lambda label: label["score"]) for answer in predict_all(texts)]


def predict_all(texts):
    """Give all labels, the best first, as with top_k=None."""
    pairs = [[("POSITIVE", score_text(text)), ("NEGATIVE", 1 - score_text(text))] for text in texts]
    ordered = [sorted(answer, key=lambda pair: -pair[1]) for answer in pairs]
    return [[{"label": label, "score": score} for label, score in answer] for answer in ordered]


class Pipeline:
    """An object with `predict`, as transformers' own has."""

    def __call__(self, texts):
        return predict_all(texts)

    def predict(self, texts):
        return self(texts)


EXPECTED = ["POSITIVE", "NEGATIVE", "POSITIVE", "NEGATIVE", "NEGATIVE"]


@one_test
@pytest.mark.parametrize("pipeline", [predict_best, predict_all, Pipeline()])
@pytest.mark.parametrize("background", [None, TEXTS])
def test_the_label_is_that_of_the_highest_score(pipeline, background):
    predictor = Predictor(pipeline, background=background)
    assert predictor.predict(TEXTS).tolist() == EXPECTED
    assert predictor.predict(TEXTS[:1]).tolist() == EXPECTED[:1]


@one_test
@pytest.mark.parametrize("pipeline", [predict_all, Pipeline()])
@pytest.mark.parametrize("background", [TEXTS, TEXTS[:1]])
def test_where_all_labels_have_scores_they_are_the_models(pipeline, background):
    predictor = Predictor(pipeline, background=background)
    assert predictor.classes.tolist() == ["NEGATIVE", "POSITIVE"]
    assert np.allclose(predictor.scores(TEXTS)[:, 1], [score_text(text) for text in TEXTS])


def test_of_the_best_label_alone_there_are_no_scores():
    predictor = Predictor(predict_best, background=TEXTS)
    assert predictor.classes.tolist() == ["NEGATIVE", "POSITIVE"]
    assert not predictor.has_scores
    with pytest.raises(InputError, match=r"predict_best gives labels only.*top_k=None"):
        predictor.scores(TEXTS)


def test_explainers_of_texts_take_them():
    result = faithkit.evaluate(
        predict_all, TEXTS * 4, "lime-text:num_features=1,samples=60", background=TEXTS, progress=False
    )
    assert result.setup.model == "predict_all"
    assert result.rows.row_predictions == EXPECTED * 4


def test_labels_that_are_numbers_are_in_their_order():
    def rate_stars(texts):
        return [[{"label": label, "score": 0.5} for label in (10, 9)] for _ in texts]

    assert Predictor(rate_stars, background=TEXTS).classes.tolist() == [9, 10]


def test_classes_can_be_renamed():
    predictor = Predictor(predict_all, classes=["bad", "good"], background=TEXTS)
    assert predictor.predict(TEXTS[:2]).tolist() == ["good", "bad"]


@one_test
@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (lambda texts: predict_all(texts)[:-1], "returned 4 labels for 5 rows"),
        (lambda texts: [*predict_all(texts)[:-1], "good"], "for a row; expected"),
        (lambda texts: [*predict_all(texts)[:-1], [{"label": "ODD"}]], "for a row; expected"),
        (lambda texts: [*predict_all(texts)[:-1], []], "for a row; expected"),
    ],
)
def test_answers_that_are_odd_in_one_row_are_refused(odd, words):
    with pytest.raises(InputError, match=words):
        Predictor(odd).predict(TEXTS)


def test_labels_that_were_not_there_before_are_refused():
    def add_a_label(texts):
        return [
            answer if "film" in text else [{"label": "ODD", "score": 1.0}, answer[0]]
            for text, answer in zip(texts, predict_all(texts), strict=True)
        ]

    predictor = Predictor(add_a_label, background=TEXTS)
    assert predictor.has_scores
    with pytest.raises(InputError, match=r"add_a_label gave scores of ODD, .*top_k=None"):
        predictor.scores(TEXTS)
