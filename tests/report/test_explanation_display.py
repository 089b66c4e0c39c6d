"""Explanations as people see them: bars, words, marks and outlines, with the class that they speak for."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from consoles import run
from faithkit_html.page import page_html
from faithkit_html.row_pictures import draw_row
from looping import one_test
from pages import page_of
from PIL import Image
from report.examples import CELL, SCRIPT

import faithkit
from faithkit import Explanations, Rule
from faithkit.measure.instances.explanation_view import ExplanationView
from faithkit.measure.instances.shown_explanations import mark_words
from faithkit.plugin import Contains, Interval

pytestmark = pytest.mark.usefixtures("no_pictures", "few_control_draws")  # titles and sentences are tested

BLUE, ORANGE = (24, 100, 171), (226, 98, 18)
CHURN = {"names": ["income", "debt", "age"], "target": "positive", "class": "churn"}


def score_weights(shared=CHURN, labels=("churn", "stay"), **options):
    """Two rows with the same weights and different predictions."""
    explanations = Explanations.vectors([[2.0, -1.0, 0.0]] * 2, shared=shared)
    return faithkit.score(list(labels), explanations, **options)


def read_pictures(page):
    return [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(text))))
        for text in re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    ]


def render_local_page(result, row=0):
    return page_html(result.local(row).page())


def test_weights_are_said_in_words_with_their_class():
    sentence = "income (+2) pushes towards churn, debt (−1) away from it"
    assert sentence in str(score_weights().contradictions()).replace("\n   ", " ")
    assert f"explanation: {sentence}" in str(score_weights().local(0))


def test_weights_are_bars_from_a_common_zero():
    bars = re.findall(
        r'<th>(\w+)</th><td><span class="(\w+)" style="margin-left: ([\d.]+)%; width: ([\d.]+)%"></span></td>'
        r"<td>(.+?)</td>",
        page_of(score_weights()),
    )
    # from −1 to 2: zero is at a third, and a bar of 2 fills the other two
    assert bars == [("income", "for", "33.3", "66.7", "+2"), ("debt", "against", "0.0", "33.3", "−1")]


@one_test
@pytest.mark.parametrize("labels", [("churn", "stay"), ("stay", "churn")])
def test_a_class_has_the_colour_of_the_row_that_is_predicted_so(labels):
    is_swapped = 'class="bars swapped"' in page_of(score_weights(labels=labels))
    assert is_swapped == (labels[1] == "churn")  # the second row is orange


@one_test
@pytest.mark.parametrize(
    ("discretizer", "sentence"),
    [
        ("sign", "income pushes towards churn, debt away from it"),
        ("sign-of-top:k=1", "income pushes towards churn"),
        ("fp:digits=0", "income (+2) pushes towards churn, debt (−1) away from it"),
        ("rank", "debt ≤ age ≤ income (importances for churn)"),
    ],
)
def test_what_was_compared_is_shown(discretizer, sentence):
    assert f"explanation: {sentence}\n" in str(score_weights(discretizer=discretizer).local(0))


def test_weights_for_the_predicted_class_name_it_where_it_is_one():
    result = score_weights({"names": CHURN["names"], "target": "predicted"})
    assert "pushes towards stay" in str(result.local(1))
    assert "pushes towards the prediction of the row" in " ".join(str(result.contradictions()).split())


def test_weights_without_a_class_claim_none():
    assert "explanation: income = 2, debt = -1, age = 0" in str(
        score_weights({"names": CHURN["names"]}).local(0)
    )


def test_a_long_explanation_names_the_largest_and_counts_the_others():
    names = [f"x{i}" for i in range(9)]
    explanations = Explanations.vectors([np.arange(1.0, 10.0)] * 2, shared=CHURN | {"names": names})
    result = faithkit.score(["churn", "stay"], explanations)
    text = " ".join(str(result.local(0)).split())
    assert "x8 (+9), x7 (+8), x6 (+7), x5 (+6) and x4 (+5) push towards churn; 4 more push less" in text
    assert "x0 = 1, x1 = 2" in page_of(result)  # folded


def test_explainers_declare_the_class_of_their_values():
    X = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0] * 5, "sex": [0.0, 1.0] * 10})

    def scores(X):
        return np.column_stack([X["age"] > 35, X["age"] <= 35]).astype(float)

    predictor = faithkit.Predictor(scores=scores, classes=["old", "young"])
    result = faithkit.evaluate(predictor, X, "shap", background=X)
    assert "pushes away from young" in str(result.local(2))  # an old one, told of the second class
    assert "pushes towards young" in str(result.local(0))


def test_a_rule_marks_the_columns_of_its_conditions_and_names_its_prediction():
    X = pd.DataFrame({"job": ["cook"] * 4, "age": [20, 30, 50, 60]})
    rules = [Rule([Interval("age", high=40)])] * 2 + [Rule([Interval("age", low=10)])] * 2
    explanations = Explanations.of(rules, kind="rule", relation="in-scope")
    result = faithkit.score(["yes", "yes", "no", "no"], explanations, X=X)
    (worst,) = result.contradictions()
    assert "given for no, holds for 4 instances" in str(worst)
    assert re.search(r"row 2 → no: age = 50; also job = cook", str(worst))
    page = page_of(result)
    assert '<th class="named">age &gt; 10</th>' in page
    assert (
        '<td><mark class="named differs">50</mark></td><td><mark class="named differs">30</mark></td>' in page
    )
    assert "<th>job</th>\n<td>cook</td>" in page or "<th>job</th><td>cook</td>" in page


@one_test
@pytest.mark.parametrize(
    ("condition", "marked"),
    [
        (Contains("good", "word"), ["Good", "good"]),
        (Contains("good"), ["good"]),
        (Contains("film."), ["film."]),
        (Contains("film", "word"), ["film"]),
        (Contains("(", "whitespace"), []),
    ],
)
def test_words_are_marked_as_the_tokenizer_cuts_them(condition, marked):
    text = "Good, goodish and good film."
    pieces = mark_words(text, ExplanationView("", conditions=(condition,)))
    assert "".join(piece for piece, _ in pieces) == text
    assert [piece for piece, mark in pieces if mark] == marked


def test_words_for_and_against_are_marked_in_texts_and_their_markup_stays_text():
    weights = ((SCRIPT, 0.5), ("dull", -0.25))
    explanations = Explanations.of([weights] * 2, kind="words", shared={"target": "positive", "class": "pos"})
    texts = [f"{SCRIPT} and dull", f"dull {CELL}"]
    result = faithkit.score(["pos", "neg"], explanations, X=texts)
    page = page_of(result) + render_local_page(result)
    assert page.count('<mark class="against">dull</mark>') == 2 + 3  # the decision's row is shown twice
    assert '<mark class="for">&lt;script&gt;' in page
    assert SCRIPT not in page
    assert "and *dull*" in str(result.contradictions())


def test_weights_of_words_are_told_like_those_of_features():
    explanations = Explanations.of([(("good", 0.123456789), ("dull", -1))] * 2 + [()], kind="words")
    result = faithkit.score(["pos", "neg", "pos"], explanations)
    assert result.to_frame("losses")["explanation"].tolist() == ["good = 0.123457, dull = -1", "no words"]


@one_test
@pytest.mark.parametrize("words", ["good", ("good", "dull"), (("good", "dull"),)])
def test_words_without_weights_have_no_bars(words):
    result = faithkit.score(["pos", "neg"], Explanations.of([words] * 2, kind="words"), X=["good", "dull"])
    assert str(words) in str(result.contradictions())
    assert 'class="bars' not in page_of(result)


def make_images(n=2):
    return np.linspace(0.2, 0.6, n * 64).reshape(n, 8, 8)


def make_patches(values, n=2):
    names = ["[0:4, 0:4]", "[0:4, 4:8]", "[4:8, 0:4]", "[4:8, 4:8]"]
    shared = {"names": names, "target": "positive", "class": "seven"}
    return Explanations.vectors([values] * n, shared=shared)


def has_outline(picture, box, colour):
    """Whether the pixels along all four sides of a patch have the colour; dashes leave some out."""
    scale = len(picture) // 8
    (top, bottom), (left, right) = ([scale * end for end in ends] for ends in box)
    patch = picture[top:bottom, left:right]
    return all(
        (side == colour).all(axis=-1).any() for side in (patch[0], patch[-1], patch[:, 0], patch[:, -1])
    )


def test_patches_are_outlined_in_both_rows():
    result = faithkit.score(["seven", "one"], make_patches([0.0, 3.0, -2.0, 0.0]), X=make_images())
    page = page_of(result)
    assert page == page_of(result)
    drawn = read_pictures(page)
    assert len(drawn) == 2
    for picture in drawn:
        assert has_outline(picture, ((0, 4), (4, 8)), BLUE)
        assert has_outline(picture, ((4, 8), (0, 4)), ORANGE)
        for box in (((0, 4), (0, 4)), ((4, 8), (4, 8))):
            assert not has_outline(picture, box, BLUE)
            assert not has_outline(picture, box, ORANGE)
        grey = picture[(picture[..., 0] == picture[..., 1]) & (picture[..., 1] == picture[..., 2])]
        assert len(np.unique(grey, axis=0)) > 20  # the image itself is there
    assert "Dashed: away from seven." in page
    assert "patch [0:4, 4:8] (+3) pushes towards seven" in " ".join(str(result.contradictions()).split())


def test_signs_of_patches_outline_what_was_compared():
    result = faithkit.score(
        ["seven", "one"], make_patches([1.0, 3.0, 2.0, 0.5]), X=make_images(), discretizer="sign-of-top:k=1"
    )
    (picture, *_) = read_pictures(render_local_page(result))
    assert has_outline(picture, ((0, 4), (4, 8)), BLUE)
    assert not has_outline(picture, ((4, 8), (0, 4)), BLUE)


@one_test
@pytest.mark.parametrize("shape", [(500, 400, 3), (3, 500, 400), (64, 64, 1), (28, 28), (4, 4)])
def test_a_picture_is_small_whatever_the_image(shape):
    row = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    address = draw_row(row, [(((0, 2),) * len(shape), True)])
    data = address.removeprefix("data:image/png;base64,")
    assert len(data) <= 40_000
    height, width = [n for n in shape if n > 3]
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert picture.mode == "RGB"
    assert picture.width / picture.height == pytest.approx(width / height, rel=0.02)


@one_test
@pytest.mark.parametrize("shape", [(100, 3), (7,), (8, 8, 8), (0, 8)])
def test_a_series_is_no_picture(shape):
    assert draw_row(np.zeros(shape), []) is None


def test_missing_pixels_and_other_ranges_are_drawn():
    row = np.full((8, 8), -5.0)
    row[0, 0], row[7, 7] = np.nan, 5.0
    (picture,) = read_pictures(f'src="{draw_row(row, [])}"')
    assert picture[0, 0].tolist() == picture[30, 30].tolist() == [0, 0, 0]
    assert picture[-1, -1].tolist() == [255, 255, 255]


def test_bytes_of_0_and_1_are_black_and_white():
    (picture,) = read_pictures(f'src="{draw_row(np.eye(8, dtype=np.uint8), [])}"')
    assert np.unique(picture).tolist() == [0, 255]


def test_a_row_that_was_compared_with_none_is_not_called_uncontradicted():
    result = faithkit.score(["yes", "no", "no"], ["a", "b", "b"])
    assert "It was compared with no other row" in render_local_page(result, 0)
    assert "No other row of the sample that it was compared with gets another" in render_local_page(result, 1)


def test_the_page_of_a_decision_shows_its_bars(tmp_path):
    page = tmp_path / "page.html"
    model = ("--data", "iris", "--model", "tree", "--explainer", "shap")
    done = run("local", *model, "--row", 3, "--out", page)
    assert done.exit_code == 0, done.output
    (label,) = re.findall(r"Prediction: (\w+)", page.read_text("utf-8"))
    assert f"towards {label} →" in page.read_text("utf-8")  # of three classes, the predicted one
