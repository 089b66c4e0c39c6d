"""Several explanation systems on one sample: paired differences, and ties told honestly."""

import json

import attrs
import numpy as np
import pytest
from looping import one_test
from pages import json_of, page_of

import faithkit
from faithkit.measure.difference import adjust_by_holm
from faithkit.run.evaluation import Evaluation
from faithkit.run.evaluation_report import EvaluationReport

X = np.random.default_rng(0).normal(size=(300, 2))


def model(X):
    return np.where(X[:, 0] > 0, "yes", "no")


def perfect(X):
    return np.digitize(X[:, 0], [-1, 0, 1]).tolist()


def equally_perfect(X):
    return [f"step {step}" for step in np.digitize(X[:, 0], [-0.5, 0, 0.5])]


def repeats_the_prediction(X):
    return (X[:, 0] > 0).tolist()


def useless(X):
    return (X[:, 1] > 0).tolist()


def all_distinct(X):
    return X[:, :1]


@pytest.fixture(scope="module")
def comparison():
    return faithkit.compare(model, X, explainers=[perfect, equally_perfect, useless])


def test_what_the_sample_cannot_tell_from_the_best_is_the_best_too(comparison):
    assert comparison.best() == ["perfect", "equally_perfect"]


def test_every_pair_is_compared_on_the_same_rows(comparison):
    pairs = {(pair.first, pair.second): pair for pair in comparison.pairs()}
    assert len(pairs) == 3
    assert pairs["perfect", "equally_perfect"].difference.value == 0
    worse = pairs["perfect", "useless"]
    assert worse.difference == comparison.results["perfect"].difference(comparison.results["useless"])
    assert worse.adjusted == pytest.approx(min(1, 3 * worse.difference.p_value))


def test_an_explainer_whose_explanations_nobody_shares_gets_no_mark_and_is_not_called_worse():
    """What could not be checked may be perfect: the sample says nothing for it, and nothing against it."""
    comparison = faithkit.compare(model, X, explainers=[perfect, all_distinct])
    assert comparison.best() == ["perfect"]
    assert comparison.pairs()[0].adjusted > 0.05
    assert comparison.recommendation.system == "perfect"
    assert comparison.recommendation.reason == "no other system could be checked"
    nothing = faithkit.compare(model, X, explainers=[all_distinct])
    assert (nothing.best(), nothing.recommendation.system) == ([], None)
    assert "No explanation could be checked" in str(nothing)


def test_of_systems_that_cannot_be_told_apart_none_is_recommended():
    rng = np.random.default_rng(3)
    labels, row = rng.integers(0, 2, 300), np.arange(300.0)[:, None]

    def noisy(share):
        wrong = rng.random(300) < share
        return lambda X: (labels ^ wrong)[X[:, 0].astype(int)].tolist()

    comparison = faithkit.compare(lambda X: labels[X[:, 0].astype(int)], row, [noisy(0.10), noisy(0.12)])
    recommendation, first = comparison.recommendation, next(iter(comparison.ranked()))
    assert (recommendation.system, len(recommendation.tied)) == (None, 2)
    assert recommendation.reason.startswith(f"This sample cannot separate {first} and ")
    assert recommendation.reason.endswith(" by consistency.")


def test_of_systems_with_the_same_estimate_none_is_recommended(comparison):
    assert comparison.recommendation.to_dict() == {
        "system": None,
        "reason": "This sample cannot separate perfect and equally_perfect by consistency.",
        "tied": ["perfect", "equally_perfect"],
    }


def test_no_system_is_recommended_that_is_not_better_than_chance():
    comparison = faithkit.compare(model, X, [useless])
    assert comparison.recommendation.system is None
    assert "not shown to be better than chance" in comparison.recommendation.reason


def test_no_system_is_recommended_that_may_only_repeat_the_prediction():
    recommendation = faithkit.compare(model, X, [repeats_the_prediction, useless]).recommendation
    assert recommendation.system is None
    assert recommendation.reason == (
        "None: repeats_the_prediction, the highest, may only repeat the prediction."
    )


@pytest.mark.parametrize("n", [100, 800])
def test_two_systems_may_be_kept_together_by_rows_that_could_not_be_checked(n):
    def explain_a_third(X):
        return [("up" if a > 0 else "down") if b > 0.4 else f"case {a!r}" for a, b in X]

    rows = np.random.default_rng(0).normal(size=(n, 2))
    recommendation = faithkit.compare(model, rows, [perfect, explain_a_third]).recommendation
    assert recommendation.system is None
    assert recommendation.reason.endswith(
        "Too many rows of explain_a_third could not be checked: coarser explanations may separate them."
    )


def test_no_system_is_recommended_that_is_not_better_than_its_control():
    def explain_by_another_column(X):
        # x₁ has nothing to do with the prediction, and random columns are as good
        return [
            faithkit.Rule([faithkit.plugin.Interval(1, value - 0.5, value + 0.5)])
            for value in X[:, 1].tolist()
        ]

    rows = np.random.default_rng(0).normal(size=(60, 3))
    comparison = faithkit.compare(lambda X: X[:, 0] > 0, rows, [explain_by_another_column])
    assert comparison.recommendation.system is None
    assert "not shown to be better than its control" in comparison.recommendation.reason


# --- systems without sufficiency ---------------------------------------------------------------------------


def explain_by_side(X):
    """Name the side of x₀, which decides but for a few rows near 0."""
    sides = faithkit.plugin.Interval(0, low=0.05), faithkit.plugin.Interval(0, high=0.05)
    return [faithkit.Rule([sides[0] if a > 0.05 else sides[1]]) for a in X[:, 0].tolist()]


def explain_by_the_other_column(X):
    return [
        faithkit.Rule([faithkit.plugin.Interval(1, low=b, high=b + 1)]) for b in np.floor(X[:, 1]).tolist()
    ]


def encode(X):
    """Give the prediction in a code, with two codes for each: consistency is 1, and nothing is explained."""
    return [f"{'A' if a > 0 else 'B'}{b > 0}" for a, b in X]


def encode_with_errors(X):
    return [f"{'A' if (a > 0) ^ (b > 1.5) else 'B'}{b > 0}" for a, b in X]


def test_a_system_without_sufficiency_changes_nothing_for_those_that_have_it():
    honest, other = "explain_by_side", "explain_by_the_other_column"
    alone = faithkit.compare(model, X, [explain_by_side, explain_by_the_other_column])
    beside = faithkit.compare(
        model, X, [encode_with_errors, explain_by_side, explain_by_the_other_column, encode]
    )
    assert beside.results["encode"].consistency.value == 1 > beside.results[honest].consistency.value
    assert beside.not_comparable == ["encode", "encode_with_errors"]
    for measure in ("consistency", "sufficiency"):
        assert list(beside.ranked(measure)) == list(alone.ranked(measure)) == [honest, other]
        assert beside.best(measure) == alone.best(measure) == [honest]
        assert beside.pairs(measure) == alone.pairs(measure)
    assert beside.recommendation == alone.recommendation
    assert beside.recommendation.system == honest
    assert beside.recommendation.reason.startswith("its sufficiency is higher than that of every other")
    assert faithkit.compare(model, X, [encode, encode_with_errors]).not_comparable == []


def test_of_two_equal_systems_with_sufficiency_none_is_recommended_beside_one_without_it():
    def equal(X):
        return explain_by_side(X)

    recommendation = faithkit.compare(model, X, [explain_by_side, equal, encode]).recommendation
    assert (recommendation.system, set(recommendation.tied)) == (None, {"explain_by_side", "equal"})
    assert recommendation.reason.endswith(" by sufficiency.")


@pytest.mark.usefixtures("no_pictures")
def test_systems_without_sufficiency_stand_below_the_others_without_a_mark(tmp_path):
    comparison = faithkit.compare(model, X, [encode, explain_by_side], control_draws=10)
    text = str(comparison)
    assert max(map(len, text.splitlines())) <= 80
    lines = [line for line in text.splitlines() if "encode" in line]
    assert [line[0] for line in lines] == [" ", "e"]  # its row, and why it has no sufficiency
    words = " ".join(text.split())
    assert "Use explain_by_side: no other system's sufficiency could be checked" in words
    below = words.partition("Not comparable with the systems above, because sufficiency was not measured:")[2]
    assert "encode 1.000" in below
    assert below.endswith(
        "encode: explanations of kind 'value' need a relation that says where they apply (relation=, CLI: "
        "--relation)."
    )
    assert repr(comparison).endswith("; not comparable: encode>")
    frame = comparison.to_frame().set_index(["system", "measure"])["best"]
    assert frame.to_dict() == {
        ("encode", "consistency"): False,
        ("explain_by_side", "consistency"): True,
        ("explain_by_side", "sufficiency"): True,
    }
    comparison.write(tmp_path / "saved.json")
    payload = json.loads((tmp_path / "saved.json").read_text())
    assert payload["not_comparable"] == ["encode"]
    assert payload["ranked"]["consistency"] == payload["best"]["consistency"] == ["explain_by_side"]
    page = page_of(comparison)
    assert ">Not comparable<" in page
    assert str(faithkit.load(tmp_path / "saved.json")) == text


@pytest.mark.parametrize(
    "verdict",
    [
        *("not faithful", "nothing was tested"),
        *("explanations name the prediction", "explanations determine the prediction"),
    ],
)
def test_no_system_is_recommended_by_its_sufficiency_against_its_verdict(monkeypatch, verdict):
    comparison = faithkit.compare(model, X, [explain_by_side, explain_by_the_other_column])
    assert comparison.recommendation.system == "explain_by_side"
    reached = attrs.evolve(comparison.results["explain_by_side"].verdict, name=verdict, reason="it lies")
    monkeypatch.setattr(Evaluation, "verdict", reached)
    recommendation = comparison.recommendation
    assert recommendation.system is None
    assert recommendation.reason.startswith("None: explain_by_side, the highest, ")
    if verdict != "explanations name the prediction":
        assert recommendation.reason.endswith(f'has the verdict "{verdict}": it lies.')


# --- what is left out --------------------------------------------------------------------------------------


def test_an_explainer_that_fails_is_left_out_with_its_reason_and_the_others_stay():
    def broken(X):
        raise RuntimeError("no licence")

    comparison = faithkit.compare(model, X, [perfect, broken])
    assert list(comparison.results) == ["perfect"]
    assert "broken" in comparison.left_out[0]
    assert "no licence" in comparison.left_out[0]
    assert "no licence" in " ".join(str(comparison).split())
    with pytest.raises(faithkit.errors.FaithkitError, match="no licence"):
        faithkit.compare(model, X, [broken])


def test_each_explainer_may_have_a_relation_of_its_own():
    def covers(x, explanation):
        return explanation == (x[0] > 0)

    systems = [repeats_the_prediction, useless]
    comparison = faithkit.compare(model, X, systems, relation={"repeats_the_prediction": covers})
    assert comparison.results["repeats_the_prediction"].sufficiency.value == 1
    assert comparison.not_comparable == ["useless"]
    with pytest.raises(faithkit.errors.InputError, match="'nobody', which is not compared"):
        faithkit.compare(model, X, [perfect], relation={"nobody": covers})


def test_every_explainer_explains_once_whatever_the_number_of_discretizers():
    calls = []

    def count_rows(X):
        calls.append(len(X))
        return X[:, :1]

    comparison = faithkit.compare(model, X, [count_rows], discretizers=["original", "1fp", "sign"])
    assert sum(calls) == len(X)
    assert list(comparison.results) == ["count_rows", "count_rows · 1fp", "count_rows · sign"]
    assert "count_rows · sign" in comparison.best()


def test_a_discretizer_that_does_not_take_an_explainers_kind_is_left_out():
    comparison = faithkit.compare(model, X, [perfect, all_distinct], discretizers=["sign"])
    assert list(comparison.results) == ["all_distinct · sign"]
    with pytest.raises(faithkit.errors.InputError, match="no discretizer takes"):
        faithkit.compare(model, X, [perfect], discretizers=["sign"])


def test_a_discretizer_that_learns_from_the_sample_is_announced_and_marked_as_in_evaluate():
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match="quantile:bins=2 learns from the rows it is judged on"
    ):
        comparison = faithkit.compare(
            model, X, [all_distinct], discretizers=["sign", "quantile:bins=2"], progress=False
        )
    sources = [result.to_dict()["background"] for result in comparison.results.values()]
    assert sources == [None, "the sample itself"]


def test_nothing_to_compare_is_an_error():
    with pytest.raises(faithkit.errors.InputError, match="at least one explainer"):
        faithkit.compare(model, X, [])


def test_the_same_numbers_come_out_as_when_each_is_evaluated_alone(comparison):
    alone = faithkit.evaluate(model, X, explainer=useless)
    assert comparison.results["useless"].consistency == alone.consistency


def test_the_table_fits_eighty_columns_and_marks_the_best(comparison):
    lines = str(comparison).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line[0] for line in lines[2:] if "perfect" in line] == ["*", "*"]
    assert [line[0] for line in lines if "useless" in line] == [" "]


def test_json_is_the_same_twice_and_has_all_differences(comparison, tmp_path):
    comparison.write(tmp_path / "comparison.json")
    text = (tmp_path / "comparison.json").read_text()
    again = json_of(faithkit.compare(model, X, explainers=[perfect, equally_perfect, useless]))
    assert again == text
    assert len(json.loads(text)["differences"]["consistency"]) == 3


def test_the_frame_has_a_row_per_system_and_measure(comparison):
    frame = comparison.to_frame()
    assert frame["system"].tolist() == ["perfect", "equally_perfect", "useless"]
    assert frame["best"].tolist() == [True, True, False]
    ends = frame[["bracket_low", "bracket_high"]].to_numpy().tolist()
    assert ends == [list(result.consistency.bracket) for result in comparison.results.values()]
    assert "bracket" not in frame


class Rounding:
    learns = False

    def __init__(self, digits):
        self.digits = digits

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return faithkit.Explanations.vectors(X[:, :1].round(self.digits))


def test_systems_of_one_name_are_told_apart_and_none_is_lost():
    comparison = faithkit.compare(
        model, X, [Rounding(0), Rounding(1), Rounding(2)], discretizers=["original", "sign"]
    )
    assert list(comparison.results) == [
        *("Rounding", "Rounding · sign", "Rounding (2)", "Rounding (2) · sign"),
        *("Rounding (3)", "Rounding (3) · sign"),
    ]
    sizes = [comparison.results[name].n_explanations for name in ("Rounding", "Rounding (2)", "Rounding (3)")]
    assert sizes == [len(np.unique(X[:, 0].round(digits))) for digits in (0, 1, 2)]


def test_functions_without_a_name_are_told_apart():
    coarser = [lambda phi: phi.values > 0, lambda phi: [0] * len(phi)]
    comparison = faithkit.compare(model, X, [all_distinct], discretizers=coarser)
    assert {name: result.n_explanations for name, result in comparison.results.items()} == {
        "all_distinct · <lambda>": 2,
        "all_distinct · <lambda> (2)": 1,
    }


def test_one_explainer_and_one_discretizer_may_be_given_alone():
    assert list(faithkit.compare(model, X, perfect).results) == ["perfect"]
    assert list(faithkit.compare(model, X, Rounding(1), discretizers="sign").results) == ["Rounding · sign"]
    assert list(faithkit.compare(model, X, "tree", discretizers="original", background=X).results) == ["tree"]


def test_what_was_left_out_is_told_with_the_reason():
    comparison = faithkit.compare(model, X, [perfect, all_distinct], discretizers=["original", "sign", "1fp"])
    assert comparison.left_out == (
        "sign and 1fp for perfect (made for explanations of kind vector, not value)",
    )
    for text in (str(comparison), page_of(comparison), comparison._repr_html_()):
        assert f"Left out: {comparison.left_out[0]}." in " ".join(text.split())
    assert "Left out" not in str(faithkit.compare(model, X, all_distinct, discretizers=["original", "sign"]))


def test_order_best_and_differences_are_of_one_estimate_whatever_the_estimator():
    """No rows share an explanation of `all_distinct`: plug-in and majority give it 1, and nothing is checked."""
    explainers = [all_distinct, useless, perfect]
    usual = faithkit.compare(model, X, explainers)
    sentence = "Order, intervals, differences and p are the same for every estimator."
    assert sentence not in " ".join(str(usual).split())
    assert sentence not in " ".join(page_of(usual).split())
    for estimator in ("plug-in", "verified-only", "majority"):
        comparison = faithkit.compare(model, X, explainers, estimator=estimator)
        assert list(comparison.ranked()) == list(usual.ranked()) == ["perfect", "all_distinct", "useless"]
        assert comparison.best() == usual.best() == ["perfect"]
        assert comparison.pairs() == usual.pairs()
        assert sentence in " ".join(str(comparison).split())
        marks = [line.split()[:2] for line in str(comparison).splitlines() if "%" in line][1:]
        assert marks[0] == ["*", "perfect"]
        assert marks[1][0] in ("all_distinct", "all_distinc")  # a narrow column folds its last letter
        assert marks[2][0] == "useless"
    assert sentence in " ".join(page_of(comparison).split())


def test_p_values_are_printed_where_they_were_asked_for(comparison):
    text = str(faithkit.compare(model, X, [perfect, useless], permutations=19))
    assert "p (19 permutations): perfect 0.050, useless " in text
    assert max(map(len, text.splitlines())) <= 80
    assert "permutation" not in str(comparison)


@one_test
@pytest.mark.parametrize("progress", [True, False])
def test_a_terminal_shows_how_long_each_explainer_took(capsys, monkeypatch, progress):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    comparison = faithkit.compare(model, X, [perfect], progress=progress)
    assert ("perfect: " in capsys.readouterr().err) == progress
    assert "s a row" not in json_of(comparison)


# --- Holm's correction for many groups and many pairs ------------------------------------------------------

RNG = np.random.default_rng(3)
N = 1200
GROUPS = RNG.integers(0, 6, N)
LABELS = RNG.choice(["no", "yes"], N)
# explained well in every group but the first, where it is not, and the second, where it is nearly not
RIGHT = np.array([0.5, 0.9, 0.97, 0.97, 0.97, 0.97])[GROUPS]
WORDS = np.where(RNG.random(N) < RIGHT, LABELS, RNG.choice(["no", "yes"], N)).tolist()
WORSE = np.where(RNG.random(N) < 0.7, LABELS, RNG.choice(["no", "yes"], N)).tolist()


@pytest.fixture(scope="module")
def many_groups():
    return faithkit.score(LABELS, WORDS)


@pytest.fixture(scope="module")
def three_systems():
    explanations = {"good": WORDS, "worse": WORSE, "same": ["same"] * N}
    return faithkit.results.Comparison(
        {name: faithkit.score(LABELS, words) for name, words in explanations.items()}
    )


def test_p_values_of_groups_are_adjusted_for_their_number(many_groups):
    parts = many_groups.by(GROUPS)
    adjusted = adjust_by_holm([parts.difference(group).p_value for group in parts])
    assert parts.to_frame()["p_value"].tolist() == adjusted
    assert [group["p_value"] for group in parts.to_dict()["groups"]["consistency"].values()] == adjusted


def test_p_values_of_pairs_are_adjusted_for_their_number(three_systems):
    pairs = three_systems.pairs()
    assert [pair.adjusted for pair in pairs] == adjust_by_holm([pair.difference.p_value for pair in pairs])


def test_every_report_names_the_adjustment(many_groups, three_systems):
    report = EvaluationReport.of(many_groups, by=GROUPS)
    for text in (str(report), str(report.subgroups), page_of(report), page_of(three_systems)):
        assert "(Holm)" in " ".join(text.split())
    assert "(paired differences, Holm's correction)" in " ".join(str(three_systems).split())
