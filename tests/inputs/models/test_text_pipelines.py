"""Callables that answer as pipelines of transformers do: a label with its score, or all labels, per text."""

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import Predictor
from faithkit.errors import InputError

TEXTS = ["good film", "bad film", "so good", "so bad", "a film"]


def chance(text):
    return {True: 0.9, False: 0.2}["good" in text]


def best(texts):
    """Give the best label only."""
    return [max(one, key=lambda told: told["score"]) for one in every(texts)]


def every(texts):
    """Give all labels, the best first, as with top_k=None."""
    told = [[("POSITIVE", chance(text)), ("NEGATIVE", 1 - chance(text))] for text in texts]
    ordered = [sorted(one, key=lambda pair: -pair[1]) for one in told]
    return [[{"label": label, "score": score} for label, score in one] for one in ordered]


class Pipeline:
    """An object with `predict`, as transformers' own has."""

    def __call__(self, texts):
        return every(texts)

    def predict(self, texts):
        return self(texts)


EXPECTED = ["POSITIVE", "NEGATIVE", "POSITIVE", "NEGATIVE", "NEGATIVE"]


@one_test
@pytest.mark.parametrize("pipeline", [best, every, Pipeline()])
@pytest.mark.parametrize("background", [None, TEXTS])
def test_the_label_is_that_of_the_highest_score(pipeline, background):
    predictor = Predictor(pipeline, background=background)
    assert predictor.predict(TEXTS).tolist() == EXPECTED
    assert predictor.predict(TEXTS[:1]).tolist() == EXPECTED[:1]


@one_test
@pytest.mark.parametrize("pipeline", [every, Pipeline()])
@pytest.mark.parametrize("background", [TEXTS, TEXTS[:1]])
def test_where_all_labels_have_scores_they_are_the_models(pipeline, background):
    predictor = Predictor(pipeline, background=background)
    assert predictor.classes.tolist() == ["NEGATIVE", "POSITIVE"]
    assert np.allclose(predictor.scores(TEXTS)[:, 1], [chance(text) for text in TEXTS])


def test_of_the_best_label_alone_there_are_no_scores():
    predictor = Predictor(best, background=TEXTS)
    assert predictor.classes.tolist() == ["NEGATIVE", "POSITIVE"]
    assert not predictor.has_scores
    with pytest.raises(InputError, match=r"best gives labels only.*top_k=None"):
        predictor.scores(TEXTS)


def test_explainers_of_texts_take_them():
    result = faithkit.evaluate(
        every, TEXTS * 4, "lime-text:num_features=1,samples=60", background=TEXTS, progress=False
    )
    assert result.setup.model == "every"
    assert result.rows.row_predictions == EXPECTED * 4


def test_labels_that_are_numbers_are_in_their_order():
    def stars(texts):
        return [[{"label": label, "score": 0.5} for label in (10, 9)] for _ in texts]

    assert Predictor(stars, background=TEXTS).classes.tolist() == [9, 10]


def test_classes_can_be_renamed():
    predictor = Predictor(every, classes=["bad", "good"], background=TEXTS)
    assert predictor.predict(TEXTS[:2]).tolist() == ["good", "bad"]


@one_test
@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (lambda texts: every(texts)[:-1], "returned 4 labels for 5 rows"),
        (lambda texts: [*every(texts)[:-1], "good"], "for a row; expected"),
        (lambda texts: [*every(texts)[:-1], [{"label": "ODD"}]], "for a row; expected"),
        (lambda texts: [*every(texts)[:-1], []], "for a row; expected"),
    ],
)
def test_answers_that_are_odd_in_one_row_are_refused(odd, words):
    with pytest.raises(InputError, match=words):
        Predictor(odd).predict(TEXTS)


def test_labels_that_were_not_there_before_are_refused():
    def two_of_three(texts):
        return [
            one if "film" in text else [{"label": "ODD", "score": 1.0}, one[0]]
            for text, one in zip(texts, every(texts), strict=True)
        ]

    predictor = Predictor(two_of_three, background=TEXTS)
    assert predictor.has_scores
    with pytest.raises(InputError, match=r"two_of_three gave scores of ODD, .*top_k=None"):
        predictor.scores(TEXTS)
