"""Results about numbers and scores say what was measured, and never speak of labels or of "the same"."""

import re
import warnings

import faithkit_html
import numpy as np
import pandas as pd
import pytest
from faithkit_html.drawing import draw_ranges, make_line_axes
from hypothesis import given
from hypothesis import strategies as st
from looping import one_test
from pages import page_of
from sklearn.linear_model import LinearRegression

import faithkit
from faithkit import Explanations, Rule
from faithkit.measure.estimate import Estimate
from faithkit.measure.intervals import MeasureStatistics
from faithkit.measure.sentences import explain_measure
from faithkit.measure.words import Near, Scores, Shares
from faithkit.plugin import Interval

pytestmark = pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")

RNG = np.random.default_rng(7)
GROUPS = RNG.integers(0, 10, 300)
PRICES = 1000.0 * GROUPS + RNG.normal(size=300) * 1500


def make_estimate(**fields):
    """Return an estimate of 200 instances, all of which were checked; the measure is above chance."""
    usual = {
        "value": 0.81, "estimate": 0.81, "merging": "nothing", "verified": 1.0, "checked": 200, "agree": 0.81,
        "bracket": (0.81, 0.81), "se": 0.02, "low": 0.7645, "high": 0.85, "floor": 0.0, "confidence": 0.95,
        "p_value": None, "mse_bound": None, "chance": 0.0, "finding": "above chance",
    }  # fmt: skip
    return Estimate(**usual | fields)


def make_unchecked_statistics(span):
    return MeasureStatistics.of_rows(200, 0.0, None, 0.0, span=span, is_bounded=False)


ALL = "All 200 instances could be checked: "
ABOVE = "is above chance: the lower end of its interval is 0.764; chance alone would give 0.000."
PAIRS = (
    "pairs of instances with similar explanations were compared. This can only underestimate consistency. "
)
NONE = {"verified": 0.0, "checked": 0, "agree": None, "value": None}

SENTENCES = {
    "a share of the variance": (
        Shares(), "consistency", {},
        f"{ALL}their explanations account for 81 % of the prediction's variance. Consistency {ABOVE}",
    ),
    "where explanations apply": (
        Shares(), "sufficiency", {"floor": None, "merging": None},
        f"{ALL}where they apply, their explanations account for 81 % of the prediction's variance. Sufficiency {ABOVE}",
    ),
    "more than any two differ": (
        Shares(), "sufficiency",
        {"floor": None, "merging": None, "agree": -0.3, "low": -0.5111, "high": -0.1, "finding": "below chance"},
        f"{ALL}others to which their explanation applies differ from them by 1.300 times the prediction's variance, "
        "which is more than any two do on average. Sufficiency is below chance: the upper end of its interval is "
        "−0.100; chance alone would give 0.000.",
    ),
    "at the floor": (
        Shares(), "consistency", {"low": 0.0, "agree": 0.01, "finding": "not above chance"},
        f"{ALL}their explanations account for 1 % of the prediction's variance. Consistency is not shown to be above "
        "chance: the lower end of its interval is 0.000; chance alone would give 0.000.",
    ),
    "nothing checked of numbers": (
        Shares(), "consistency", NONE | {"merging": "pairs", "estimate": 0.5},
        f"No two instances share an explanation, so {PAIRS}Consistency {ABOVE}",
    ),
    "nothing known of numbers": (
        Shares(), "sufficiency",
        NONE | {"merging": None, "floor": None, "low": -4.0, "high": 1.0, "statistics": make_unchecked_statistics(5.0),
                "finding": "unknown", "estimate": -4.0, "chance": -4.0},
        "No explanation applies to another instance, so nothing could be checked. The sample rules nothing out: "
        "sufficiency may be anything up to 1.",
    ),
    "one number": (
        Shares(), "consistency", {"finding": "one label"},
        "All explained instances have the same prediction, so any explanation agrees with it: nothing was tested.",
    ),
    "names the number": (
        Shares(), "consistency", {"finding": "names the label"},
        "Each prediction has one explanation, which may only repeat the prediction: explanations account for all of "
        "the variance that could be checked, but that shows nothing.",
    ),
    "within a tolerance": (
        Near(within="2000"), "consistency", {"floor": None, "chance": 0.3},
        f"{ALL}others with their explanation get a prediction within 2000 of theirs 81 % of the time. Consistency is "
        "above chance: the lower end of its interval is 0.764; chance alone would give 0.300.",
    ),
    "all within the tolerance": (
        Near(within="0.5"), "consistency", {"finding": "one label"},
        "All explained instances have predictions within 0.5 of each other: nothing was tested.",
    ),
    "scores": (
        Scores(), "sufficiency", {"floor": None, "merging": None, "chance": 0.5},
        f"{ALL}scores of others to which their explanation applies agree with theirs by 0.810 on average. Sufficiency "
        "is above chance: the lower end of its interval is 0.764; chance alone would give 0.500.",
    ),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", SENTENCES)
def test_what_a_measure_of_numbers_means_in_words(case):
    words, measure, fields, sentences = SENTENCES[case]
    assert explain_measure(measure, make_estimate(**fields), 200, words=words) == sentences


CELLS = [
    (Shares(), 0.81, 300, "81 % in 300"),
    (Shares(), -0.3, 4, "−30 % in 4"),
    (Shares(), None, 0, "–"),
    (Near("0"), 0.81, 300, "81 % of 300"),
    (Scores(), 0.93, 300, "0.930 in 300"),
    (Scores(), None, 0, "–"),
]


@one_test
@pytest.mark.parametrize(("words", "share", "count", "cell"), CELLS)
def test_a_cell_says_what_was_checked(words, share, count, cell):
    assert words.format_agreement(share, count) == cell


# --- whole results ------------------------------------------------------------------------------------------

UNCHOSEN = " Set outcome='labels' (CLI: --outcome labels) if they are labels."
SHARE = (
    "Predictions are numbers, so the measure is the share of their variance that explanations account for."
)
OUTCOMES = {
    "floats": (PRICES, {}, f"{SHARE}{UNCHOSEN}"),
    "numbers by choice": (PRICES, {"outcome": "numbers"}, SHARE),
    "whole numbers by choice": (PRICES.round(), {"outcome": "numbers"}, SHARE),
    "a tolerance": (
        PRICES, {"agree": "within:2000"},
        "Predictions are numbers, and two agree if they differ by at most 2000.",
    ),
    "probabilities": (
        np.column_stack([GROUPS / 10, 1 - GROUPS / 10]), {}, "Predictions are scores: two agree by 1 minus half"
    ),
}  # fmt: skip


def flatten(text):
    return " ".join(text.replace("\u00a0", " ").replace("&#39;", "'").split())


@one_test
@pytest.mark.parametrize("case", OUTCOMES)
@pytest.mark.usefixtures("no_pictures")
def test_a_result_says_what_predictions_are_and_nothing_of_labels(case):
    predictions, options, sentence = OUTCOMES[case]
    result = faithkit.score(predictions, (GROUPS // 2).tolist(), **options)
    comparison = faithkit.results.Comparison(
        {"fine": result, "poor": faithkit.score(predictions, [0] * 300, **options)}
    )
    pages = (result._repr_html_(), page_of(result), page_of(comparison))
    for text in map(flatten, (str(result), str(comparison), *pages)):
        assert sentence in text
        assert "same prediction" not in text
    assert "get the same" not in flatten(str(result.by(["f", "m"] * 150)))


def test_a_regressor_predicts_no_labels():
    model = LinearRegression().fit([[0], [1]], [0.25, 0.75])
    result = faithkit.evaluate(model, np.arange(20.0)[:, None], lambda X: (X[:, 0] // 5).tolist())
    assert SHARE in flatten(str(result))
    assert UNCHOSEN not in flatten(str(result))


def test_rows_that_differ_most_are_not_called_the_nearest():
    X = np.array([[0.0], [0.1], [5.0], [9.0], [9.5]])
    local = faithkit.score([10.5, 11.0, 90.0, 50.0, 40.0], ["a", "a", "a", "b", "b"], X=X).local(0)
    assert local.contradicted_by[0].row == 2  # the furthest of all
    assert "\nRows that contradict it:\n" in str(local)


def test_labels_are_not_remarked_on():
    assert "Predictions are" not in flatten(
        str(faithkit.score(["yes", "no"] * 20, ["a", "b", "b", "b"] * 10))
    )


def test_what_was_decided_is_in_json_and_comes_back(tmp_path):
    result = faithkit.score(PRICES, GROUPS.tolist())
    assert result.to_dict()["outcome"] == {"kind": "numbers", "within": None, "range": None, "unasked": True}
    result.write(tmp_path / "result.json")
    again = faithkit.load(tmp_path / "result.json")
    assert str(again) == str(result)


def test_measures_of_two_kinds_are_not_subtracted():
    numbers = faithkit.score(PRICES, GROUPS.tolist())
    near = faithkit.score(PRICES, GROUPS.tolist(), agree="within:2000")
    with pytest.raises(faithkit.errors.InputError, match="numbers here and numbers, within 2000 there"):
        numbers.difference(near)


def test_all_predictions_within_the_tolerance_test_nothing():
    result = faithkit.score([1.0, 1.2, 1.4, 1.1], ["a", "a", "b", "b"], agree="within:0.5")
    assert result.consistency.finding == "one label"
    assert result.verdict.name == "nothing was tested"
    assert "within 0.5 of each other: nothing was tested" in flatten(result.to_text(verbose=True))


def make_outliers(n=40):
    """Return predictions with one outlier, and rules that hold for it and hardly anybody but their owner."""
    frame = pd.DataFrame({"x": np.arange(n, dtype=float)})
    rules = [
        Rule([Interval("x", high=0.5)]) if i % 2 else Rule([Interval("x", low=i - 0.5)]) for i in range(n)
    ]
    return (
        [1000.5] + [i % 2 + 0.5 for i in range(1, n)],
        Explanations.of(rules, kind="rule", relation="in-scope"),
        frame,
    )


def test_sufficiency_below_0_is_explained(draw_only):
    draw_only("local")
    y, rules, X = make_outliers()
    result = faithkit.score(y, rules, X=X)
    assert result.sufficiency.estimate < 0
    text = flatten(str(result))
    assert (
        "A measure below 0 means that predictions differ more for the same explanation than for random pairs"
        in text
    )
    assert "95 % interval −" in text
    assert not re.search(r"-\d", text)  # a minus sign is no hyphen
    page_of(result)


LAWS = {
    "normal": (lambda rng, n: rng.normal(size=n), False),
    "Student's, five degrees": (lambda rng, n: rng.standard_t(5, n), False),
    "zero-inflated": (lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, 1.0 + rng.normal(size=n)), False),
    "two points": (lambda rng, n: 0.5 + (rng.random(n) < 0.1), False),
    "lognormal": (lambda rng, n: np.exp(rng.normal(size=n)), True),
}


@one_test
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.usefixtures("no_next_steps")
def test_heavy_tails_are_warned_of(law):
    draw, heavy = LAWS[law]
    words = ["a", "b", "c"] * 100
    texts = [str(faithkit.score(draw(np.random.default_rng(seed), 300), words)) for seed in range(10)]
    warned = sum("A few instances decide" in flatten(text) for text in texts)
    assert warned >= 6 if heavy else warned <= 1


def test_the_share_of_the_largest_hundredth_is_counted():
    y = np.concatenate([np.zeros(150), np.full(148, 2.0), [101.0, -99.0]])
    apart = ((y[:, None] - y[None]) ** 2).sum(axis=1)  # from all others, which share the explanation
    result = faithkit.score(y + 0.5, ["a"] * 300)
    assert result.tails == pytest.approx(np.sort(apart)[-3:].sum() / apart.sum())


@given(
    st.integers(0, 2**32 - 1), st.integers(3, 40), st.integers(1, 6), st.sampled_from([None, "within:0.5"])
)
def test_a_printed_interval_contains_what_is_printed_beside_it(seed, n, groups, agree):
    rng = np.random.default_rng(seed)
    y = np.round(rng.standard_t(2, n), 1) + 0.05
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(set(y)) == 1:
            return
        result = faithkit.score(y, rng.integers(0, groups, n).tolist(), agree=agree)
    row = next(line for line in str(result).splitlines() if line.startswith("consistency "))
    if "nothing could be compared" in row:
        return
    row = row.replace("> 0.999", "0.9995").replace("< 0.001", "0.0005")
    least, low, high = re.match(r"consistency  (\S+)  95 % interval (\S+) – (\S+);", row).groups()
    assert float(low) <= float(least) <= float(high)


@one_test
@pytest.mark.parametrize("case", ["floats", "a tolerance", "probabilities"])
def test_plots_say_what_is_measured_of_each_instance(case, draw_only):
    draw_only("local")
    predictions, options, _ = OUTCOMES[case]
    page = flatten(page_of(faithkit.score(predictions, (GROUPS // 2).tolist(), **options)))
    assert "For each instance, how" in page
    assert "get its prediction" not in page
    assert "same prediction" not in page


def test_a_plot_of_a_measure_below_0_shows_where_it_is():
    y, rules, X = make_outliers()
    ax = faithkit_html.plots.measures(faithkit.score(y, rules, X=X))
    left, right = ax.get_xlim()
    drawn = [x for line in ax.lines for x in line.get_xdata()]
    assert left <= min(drawn) < 0
    assert max(drawn) <= right


@pytest.mark.usefixtures("no_pictures")
def test_predictions_under_the_worst_explanations_are_drawn_where_they_are_numbers():
    title = "redictions under one explanation"
    assert title in page_of(faithkit.score(PRICES, GROUPS.tolist()))
    assert title in page_of(faithkit.score(PRICES, GROUPS.tolist(), agree="within:2000"))
    assert title not in page_of(faithkit.score(["yes", "no", "no"] * 20, ["a", "b", "a", "b"] * 15))


def test_a_range_is_drawn_from_the_least_to_the_most():
    contradictions = faithkit.score(PRICES, GROUPS.tolist()).contradictions(2)
    shown = {contradiction.explanation: contradiction.numbers for contradiction in contradictions}
    ax = draw_ranges(make_line_axes(2), shown)
    drawn = [x for line in ax.lines for x in line.get_xdata()]
    assert min(drawn) == min(numbers.minimum for numbers in shown.values())
    assert max(drawn) == max(numbers.maximum for numbers in shown.values())
    assert [text.get_text() for text in ax.texts] == list(shown)
