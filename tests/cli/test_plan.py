"""`faithkit plan`: what it prints is what a person can act on, and what it writes is the plan."""

import json

import pytest
from consoles import run
from looping import one_test

import faithkit
from faithkit.measure.planning.plans import PilotPlan, Plan, RangePlan


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [str(number % 7) for number in range(300)]
    result = faithkit.score([int(word) % 2 for word in words], words)
    result.write("pilot.json")
    faithkit.run.comparisons.comparison.Comparison({"one": result, "two": result}).write("compared.json")
    payload = result.to_dict()
    del payload["measures"]["consistency"]["others"]
    (tmp_path / "old.json").write_text(json.dumps(payload))
    return result


def test_a_range_gives_the_bias_the_interval_and_the_papers_number_and_says_which_to_use():
    done = run("plan", "--range", "2048", "--epsilon", "0.1")
    for number in (
        "7,535 rows: a bias",
        "5,617 rows: a 95 % interval",
        "835,879 rows: a mean-squared error of at most 0.1, by the paper's corollary",
    ):
        assert number in done.stdout
    assert "Explain 7,535 rows: enough can be checked from 7,535 rows on" in done.stdout


@one_test
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        (("--range", "2048"), {"n_explanations": 2048}),
        (("--pilot", "pilot.json"), {"pilot": True}),
        (
            ("--pilot", "pilot.json", "--range", "7", "--epsilon", "0.01"),
            {"pilot": True, "n_explanations": 7},
        ),
    ],
)
def test_what_is_written_is_what_python_tells(here, options, arguments):
    epsilon = 0.01 if "--epsilon" in options else 0.1
    arguments = arguments | ({"pilot": here} if "pilot" in arguments else {})
    done = run("plan", *options, "--out", "-", "--format", "json")
    assert json.loads(done.stdout) == json.loads(json.dumps(faithkit.plan(epsilon, **arguments).to_dict()))


def test_a_pilot_that_was_saved_is_planned_from(here):
    done = run("plan", "--pilot", "pilot.json", "--epsilon", "0.05", "--out", "plan.json")
    assert done.exit_code == 0, done.stderr
    with open("plan.json") as file:
        result = json.load(file)
    assert f"Explain {result['n']:,} rows" in done.stdout
    assert "from a pilot of 300 rows" in done.stdout


@one_test
@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ((), 2, "nothing to plan from: give --range K, --pilot FILE, or both."),
        (("--range", "0"), 2, "--range"),
        (("--range", "3", "--pool", "-1"), 2, "--pool"),
        (("--range", "3", "--measure", "accuracy"), 2, "--measure"),
        (("--range", "3", "--epsilon", "0"), 1, "epsilon must be a number between 0 and 1"),
        (("--range", "3", "--measure", "sufficiency"), 1, "a range says nothing about sufficiency"),
        (("--range", "3", "--pool", "3"), 1, "a pool is no help"),
        (("--pilot", "missing.json"), 1, "there is no file missing.json"),
        (("--pilot", "old.json"), 1, "is a required property"),
        (("--pilot", "compared.json"), 1, "a comparison of one, two: give the result of one system"),
        (("--pilot", "pilot.json", "--measure", "sufficiency"), 1, "the pilot has no sufficiency"),
        (("--pilot", "pilot.json", "--out", "pilot.json"), 1, "cannot write pilot.json"),
    ],
)
def test_what_cannot_be_planned_is_said_in_one_line(here, options, code, message):
    done = run("plan", *options)
    assert done.exit_code == code
    assert message in done.stderr
    assert done.stdout == ""
    assert code == 2 or len(done.stderr.splitlines()) == 1


RANGE = RangePlan(1, bias=700, half_width=9000, corollary=10**5)

PLANS = {
    "one explanation": (Plan(0.1, from_range=RANGE), "with at most 1 explanation:\n  - 700 rows: a bias"),
    "a range": (
        Plan(0.1, from_pilot=PilotPlan(100, (50, 300), 250)),
        "  - 300 rows (50 at best): at most 0.1 of",
    ),
    "both ends one": (
        Plan(0.1, from_pilot=PilotPlan(100, (50, 50), 250)),
        "  - 50 rows: at most 0.1 of them",
    ),
    "nobody knows": (
        Plan(0.1, from_pilot=PilotPlan(100, (50, None), 250)),
        "  - more than 800 rows at worst, 50 at best: at most 0.1 of them unchecked, on\n"
        "    average.\n"
        "  - 250 rows: a 95 % interval of ± 0.1 or less, in nine cases of ten.\n"
        "No sample size is certain to be enough: the pilot is too small to say what leaves at most 0.1\n"
        "unchecked, though the interval is narrow enough from 250 rows on, in nine cases\n"
        "of ten. Take a larger pilot.\n",
    ),
    "hopeless": (Plan(0.1, from_pilot=PilotPlan(1, (None, None), None)), "  - more than 8 rows: at most 0.1"),
    "wide": (
        Plan(0.1, from_pilot=PilotPlan(1, (None, None), None)),
        "  - more than 100 rows: a 95 % interval",
    ),
    "enough": (
        Plan(0.1, from_pilot=PilotPlan(100, (5, 30), 100)),
        "The pilot has them; fewer may be enough.\n",
    ),
    "a pool would help": (
        Plan(0.1, "sufficiency", from_pilot=PilotPlan(100, (50, 300), 250)),
        "With a pool of 50 rows, explain only 250.\n",
    ),
    "a pool would not help": (
        Plan(0.1, "sufficiency", from_pilot=PilotPlan(100, (50, 200), 250)),
        "Explain 250 rows: enough can be checked from 200 rows on, and the interval is\n"
        "narrow enough from 250 on, in nine cases of ten; use the larger number.\n",
    ),
    "the pilot is narrow by luck": (
        Plan(0.1, from_pilot=PilotPlan(100, (5, 30), 250, on_average=100)),
        "  - 250 rows: a 95 % interval of ± 0.1 or less, in nine cases of ten. The pilot's\n"
        "    own interval is that narrow, which may be by chance.\n",
    ),
    "fewer are usual": (
        Plan(0.1, from_pilot=PilotPlan(100, (5, 30), 250, on_average=180)),
        "in nine cases of ten. On average\n    180 rows are enough.\n",
    ),
    "a pool": (
        Plan(0.1, "sufficiency", from_pilot=PilotPlan(100, (50, 300), 250, pool=1)),
        "They are checked against each other and a pool of 1 row.\n",
    ),
}


@one_test
@pytest.mark.parametrize(("plan", "words"), PLANS.values(), ids=PLANS)
def test_a_plan_in_words(plan, words):
    assert " ".join(words.split()) in " ".join(str(plan).split())
    assert max(map(len, str(plan).splitlines())) <= 80
