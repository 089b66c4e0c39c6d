"""What a measure means in words: each case has its own sentence, and none can be read as praise by mistake."""

import attrs
import numpy as np
import pandas as pd
import pytest
from looping import one_test
from pages import page_of

import faithkit
from faithkit import Explanations
from faithkit.measure.difference import Difference
from faithkit.measure.estimate import Estimate
from faithkit.measure.sentences import explain_measure
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.comparisons.subgroups import Subgroups

pytestmark = pytest.mark.usefixtures("no_pictures")  # titles and sentences are tested


def make_estimate(**fields):
    """Return an estimate of 200 instances, of which 80 were checked; consistency is above chance."""
    usual = {
        "value": 0.36, "estimate": 0.85, "merging": "pairs", "verified": 0.4, "checked": 80, "agree": 0.9,
        "bracket": (0.85, 0.96), "se": 0.03, "low": 0.7812, "high": 0.98, "floor": None, "confidence": 0.95,
        "p_value": None, "mse_bound": None, "chance": 0.504, "finding": "above chance",
    }  # fmt: skip
    return Estimate(**usual | fields)


ALL = {"verified": 1.0, "checked": 200, "merging": "nothing"}
NONE = {"verified": 0.0, "checked": 0, "agree": None, "value": None}
UNKNOWN = {"finding": "unknown", "high": 1.0}
ALONE = "No two instances share an explanation, so "
PAIRS = (
    "pairs of instances with similar explanations were compared. This can only underestimate consistency. "
)
BLOCK = "all instances were compared with each other, as if they had one explanation. This can only underestimate consistency. "
CHECKED = "others with their explanation get the same prediction 90 % of the time. "
SURE = "Consistency is above chance: the lower end of its interval is 0.781; chance alone would give 0.504."

CONSISTENCY = {
    "all checked": (ALL, f"All 200 instances could be checked: {CHECKED}{SURE}"),
    "partly checked, in pairs": (
        {},
        f"80 of 200 instances (40 %) could be checked: {CHECKED}The rest were compared in pairs with similar "
        f"explanations. This can only underestimate consistency. {SURE}",
    ),
    "partly checked, in one block": (
        {"merging": "one block"},
        f"80 of 200 instances (40 %) could be checked: {CHECKED}The rest were compared with each other, as if they "
        f"had one explanation. This can only underestimate consistency. {SURE}",
    ),
    "partly checked, in near blocks": (
        {"merging": "near blocks"},
        f"80 of 200 instances (40 %) could be checked: {CHECKED}The rest were compared with instances of similar "
        f"explanations. This can only underestimate consistency. {SURE}",
    ),
    "partly checked, one row alone": (
        {"merging": "nothing", "verified": 0.995, "checked": 199},
        f"199 of 200 instances (99.5 %) could be checked: {CHECKED}{SURE}",
    ),
    "nearly all": (
        {"merging": "nothing", "verified": 0.99999, "checked": 199, "agree": 0.9999},
        "199 of 200 instances (more than 99.9 % by weight) could be checked: others with their explanation get "
        f"the same prediction more than 99.9 % of the time. {SURE}",
    ),
    "with weights": (
        {"merging": "nothing", "verified": 0.55},
        f"80 of 200 instances (55 % by weight) could be checked: {CHECKED}{SURE}",
    ),
    "nothing checked, and pairs show something": (NONE, f"{ALONE}{PAIRS}{SURE}"),
    "nothing checked, and near blocks show something": (
        NONE | {"merging": "near blocks"},
        f"{ALONE}instances with similar explanations were compared with each other. This can only underestimate "
        f"consistency. {SURE}",
    ),
    "nothing checked, and nothing known in pairs": (
        NONE | UNKNOWN | {"low": 0.408},
        f"{ALONE}{PAIRS}This does not show whether consistency is above chance: the lower end of its interval is "
        "0.408; chance alone would give 0.504.",
    ),
    "nothing checked, and nothing known in one block": (
        NONE | UNKNOWN | {"merging": "one block", "low": 0.488},
        f"{ALONE}{BLOCK}This does not show whether consistency is above chance: the lower end of its interval is "
        "0.488; chance alone would give 0.504.",
    ),
    "the lower end is the floor": (
        NONE | UNKNOWN | {"low": 0.5, "floor": 0.5},
        f"{ALONE}{PAIRS}This does not show whether consistency is above chance: the lower end of its interval is "
        "0.500; chance alone would give 0.504. With two labels consistency cannot be below 0.5.",
    ),
    "the floor of ten labels, above what chance gives in the sample": (
        ALL | {"finding": "not above chance", "low": 0.1, "floor": 0.1, "chance": 0.1},
        f"All 200 instances could be checked: {CHECKED}Consistency is not shown to be above chance: the lower "
        "end of its interval is 0.100; chance alone would give 0.100. With 10 labels consistency cannot be "
        "below 0.1.",
    ),
    "three labels": (
        NONE | UNKNOWN | {"low": 1 / 3, "floor": 1 / 3, "chance": 0.35},
        f"{ALONE}{PAIRS}This does not show whether consistency is above chance: the lower end of its interval is "
        "0.333; chance alone would give 0.350. With three labels consistency cannot be below 0.333.",
    ),
    "a floor that decides nothing": (ALL | {"floor": 0.5}, f"All 200 instances could be checked: {CHECKED}{SURE}"),
    "nothing to compare": (
        NONE | {"merging": "nothing", "finding": "unknown", "low": 0.0, "high": 1.0, "chance": None},
        f"{ALONE}nothing could be checked. The sample rules nothing out: consistency may be anything from 0 to 1.",
    ),
    "at chance": (
        ALL | {"finding": "not above chance", "low": 0.488},
        f"All 200 instances could be checked: {CHECKED}Consistency is not shown to be above chance: the lower "
        "end of its interval is 0.488; chance alone would give 0.504.",
    ),
    "above chance by the permutation test alone": (
        ALL | {"low": 0.488, "p_value": 0.001},
        f"All 200 instances could be checked: {CHECKED}Consistency is above chance by the permutation test (p = 0.001), "
        "which its interval does not show.",
    ),
    "above chance by the permutation test of a small sample": (
        NONE | {"merging": "nothing", "low": 0.0, "high": 1.0, "p_value": 0.0001},
        f"{ALONE}nothing could be checked. Consistency is above chance by the permutation test (p < 0.001), which its "
        "interval does not show.",
    ),
    "above chance by both": (ALL | {"p_value": 0.001}, f"All 200 instances could be checked: {CHECKED}{SURE}"),
    "at chance by both": (
        ALL | {"finding": "not above chance", "low": 0.488, "p_value": 0.3},
        f"All 200 instances could be checked: {CHECKED}Consistency is not shown to be above chance: the lower "
        "end of its interval is 0.488; chance alone would give 0.504.",
    ),
    "above chance by little": (
        ALL | {"low": 0.50412, "chance": 0.50408},
        f"All 200 instances could be checked: {CHECKED}Consistency is above chance: the lower end of its "
        "interval is 0.50412; chance alone would give 0.50408.",
    ),
    "above what chance gives in the sample, not above the floor": (
        ALL | {"low": 0.5, "floor": 0.5, "chance": 0.5},
        f"All 200 instances could be checked: {CHECKED}Consistency is above chance. With two labels consistency "
        "cannot be below 0.5.",
    ),
    "below what chance gives, and at the floor": (
        ALL | {"low": 0.5, "high": 0.5, "floor": 0.5, "finding": "below chance", "chance": 0.5},
        f"All 200 instances could be checked: {CHECKED}Consistency is below chance. With two labels consistency "
        "cannot be below 0.5.",
    ),
    "an estimator without an interval": (
        ALL | {"low": None, "high": None},
        f"All 200 instances could be checked: {CHECKED}Consistency is above chance.",
    ),
    "one label": (
        ALL | {"finding": "one label"},
        "All explained instances have the same prediction, so any explanation agrees with it: nothing was tested.",
    ),
    "names the label": (
        ALL | {"finding": "names the label"},
        "Each prediction has one explanation, which may only repeat the prediction: all that could be checked "
        "agree, but that shows nothing.",
    ),
}  # fmt: skip


@one_test
@pytest.mark.parametrize("case", CONSISTENCY)
def test_consistency_in_words(case):
    fields, words = CONSISTENCY[case]
    assert explain_measure("consistency", make_estimate(**fields), 200) == words


SUFFICIENCY = {
    "below chance": (
        ALL | {"merging": None, "finding": "below chance", "low": 0.2, "high": 0.3102},
        "All 200 instances could be checked: others to which their explanation applies get the same prediction "
        "90 % of the time. Sufficiency is below chance: the upper end of its interval is 0.311; chance alone "
        "would give 0.504.",
    ),
    "nothing checked": (
        NONE | {"merging": None, "finding": "unknown", "low": 0.0, "high": 1.0, "chance": 0.0},
        "No explanation applies to another instance, so nothing could be checked. The sample rules "
        "nothing out: sufficiency may be anything from 0 to 1.",
    ),
    "partly checked": (
        {"merging": None},
        "80 of 200 instances (40 %) could be checked: others to which their explanation applies get the same "
        "prediction 90 % of the time. Sufficiency is above chance: the lower end of its interval is 0.781; "
        "chance alone would give 0.504.",
    ),
}


@one_test
@pytest.mark.parametrize("case", SUFFICIENCY)
def test_sufficiency_in_words(case):
    fields, words = SUFFICIENCY[case]
    assert explain_measure("sufficiency", make_estimate(**fields), 200) == words


def test_what_was_not_measured_says_why():
    sentence = explain_measure("sufficiency", None, 200, "no relation was given")
    assert sentence == "Sufficiency was not measured: no relation was given."


# --- the words that a result has -------------------------------------------------------------------------


LABELS = ["yes", "no"] * 50
RNG = np.random.default_rng(0)
RESULTS = {
    "yes": (LABELS, "names the label"),
    "one label": (["a"] * 100, "not above chance"),
    "distinct words": ([str(i) for i in range(100)], "unknown"),
    "random vectors": (Explanations.vectors(RNG.normal(size=(100, 2))), "unknown"),
    "telling vectors": (
        Explanations.vectors(RNG.normal(size=(100, 2)) + [[9.0, 0.0], [0.0, 0.0]] * 50),
        "above chance",
    ),
}


@one_test
@pytest.mark.parametrize("case", RESULTS)
@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
def test_checkability_is_in_json_and_nobody_reads_it(case):
    explanations, finding = RESULTS[case]
    result = faithkit.score(LABELS, explanations)
    payload = result.to_dict()["measures"]["consistency"]
    assert payload["finding"] == finding
    assert payload["checkability"] in ("verifiable", "unverifiable")
    for text in (str(result), result._repr_html_(), page_of(result), str(result.by(LABELS))):
        assert "verifiable" not in text
        assert "checkability" not in text


@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
def test_a_small_group_shows_how_few_could_be_checked():
    labels = ["yes", "no"] * 200 + ["yes"] * 10 + ["no"] * 23
    words = ["a", "b"] * 200 + [f"c{i}" for i in range(19)] + ["d"] * 14
    groups = ["many"] * 400 + ["few"] * 33
    subgroups = faithkit.score(labels, words).by(groups)
    (row,) = [line.split() for line in str(subgroups).splitlines() if line.startswith("few ")][:1]
    assert row[1] == "33"
    assert row[-6:] == ["42", "%", "100", "%", "of", "14"]
    assert subgroups.to_dict()["groups"]["consistency"]["few"]["checked"] == 14


@one_test
@pytest.mark.parametrize("name", ["", "n", "checked", "a\nb", "x" * 90])
def test_a_table_of_groups_is_there_whatever_the_column_is_called(name):
    groups = pd.Series(["one", "two " * 30] * 30, name=name)
    text = str(faithkit.score(["y", "n", "n"] * 20, ["a"] * 60).by(groups))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count(" % of 30") == 2


# --- which is the best, where nothing could be checked ---------------------------------------------------


def score_system(share, good, n=300):
    """Return a system of which a share of the rows can be checked, on labels that all systems have."""
    labels = np.array(["yes", "no"] * (n // 2))
    words = [f"{label} {i % 2}" if i < share * n else f"alone {i}" for i, label in enumerate(labels)]
    if not good:
        words = ["same" if i < share * n else f"alone {i}" for i in range(n)]
    return faithkit.score(labels, words, X=pd.DataFrame({"row": range(n)}))


BEST = [
    ({"one": 0, "two": 0}, [], "None is marked: hardly any explanation could be checked against another instance."),
    ({"one": 0.04, "two": 0}, [], "None is marked: hardly any explanation could be checked against another instance."),
    ({"one": 1, "two": 0}, ["one"], "*: the best of the systems that could be checked (paired differences"),
    ({"one": 1, "two": 1}, ["one", "two"], "*: the best, or not shown to be worse than the best, of the systems that could be checked (paired differences"),
]  # fmt: skip


@one_test
@pytest.mark.parametrize(("systems", "best", "words"), BEST, ids=[str(systems) for systems, *_ in BEST])
@pytest.mark.filterwarnings("ignore::faithkit.errors.FaithkitWarning")
def test_only_systems_that_could_be_checked_are_marked(systems, best, words):
    comparison = Comparison({name: score_system(share, good=True) for name, share in systems.items()})
    assert comparison.best() == best
    for text in (str(comparison), page_of(comparison), comparison._repr_html_()):
        assert words in " ".join(text.split())


# --- eighty columns --------------------------------------------------------------------------------------


WIDEST = {
    "value": 0.99998, "estimate": 0.99999, "verified": 0.999999, "checked": 999_999, "agree": 0.99999,
    "bracket": (0.99999, 1.0), "low": 0.9999, "high": 1.0, "chance": 0.99991,
}  # fmt: skip


@one_test
@pytest.mark.parametrize(
    ("estimator", "confidence"), [("leave-one-out", 0.95), ("verified-only", 0.95), ("majority", 0.99999)]
)
def test_a_million_rows_fit_eighty_columns_and_no_number_is_cut(estimator, confidence, monkeypatch):
    small = faithkit.score(["yes", "no"], ["a", "a"], estimator=estimator, confidence=confidence)
    widest = attrs.evolve(small.consistency, **WIDEST, statistics=None, checkable_counts=None)
    named = estimator.replace("majority", "an_estimator_of_others")
    setup = attrs.evolve(small.setup, estimator=attrs.evolve(small.setup.estimator, text=named))
    result = attrs.evolve(
        small, n=1_000_000, measures={"consistency": widest}, setup=setup, saved_steps=["Do it again."]
    )
    change = Difference(-0.9, -0.91, -0.89, confidence, 0.0001)
    monkeypatch.setattr(
        Subgroups, "differences", lambda groups, measure: dict.fromkeys(groups, (change, 1e-4))
    )
    groups = Subgroups("occupation", {"a group of a long name": attrs.evolve(result, n=999_999)}, {})
    compared = Comparison({"an explainer of a long name · a discretizer": result})
    first_screen = " ".join(str(result).split())
    assert f"> 0.999 {100 * confidence:g} % interval 0.999 – 1.000; baseline (chance) > 0.999" in first_screen
    for text in (result.to_text(verbose=True), str(groups), str(compared)):
        assert max(map(len, text.splitlines())) <= 80
        assert all(number in " ".join(text.split()) for number in ("> 0.999 0.999 – 1.000", "> 99.9 %"))
        assert "…" not in text
