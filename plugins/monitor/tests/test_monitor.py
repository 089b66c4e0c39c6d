"""A monitor in Python: a batch counts once, in any order, and an alarm is raised when agreement changes."""

import json
import shutil
import warnings
from pathlib import Path

import faithkit_html
import numpy as np
import pandas as pd
import pytest
from faithkit_monitor import Monitor
from looping import one_test
from monitor.streams import columns, log
from pages import page_of

import faithkit
from faithkit.errors import FaithkitWarning, InputError

REFERENCE = log(3000, seed=0)


@pytest.fixture(scope="module")
def saved_state(tmp_path_factory):
    return Monitor.create(tmp_path_factory.mktemp("saved") / "loans.state", *columns(REFERENCE)).path


@pytest.fixture
def monitor(saved_state, tmp_path):
    return Monitor.open(shutil.copy(saved_state, tmp_path))


def test_a_new_monitor_knows_the_reference_and_nothing_else(monitor):
    payload = monitor.to_dict()
    assert payload["reference"]["n"] == 3000
    assert payload["reference"]["pool"] + payload["calibration"]["n"] == 3000
    assert payload["reference"]["n_explanations"] == 4
    assert (payload["n"], payload["agreement"], payload["low"], payload["high"], payload["alarm"]) == (
        0,
        None,
        0,
        1,
        None,
    )
    assert "No rows were added yet." in str(monitor)


def test_the_calibration_is_where_the_agreement_is(monitor):
    """With a large pool a row's expected score is Σ mass · (share² + (1 − share)²), here 0.810."""
    payload = monitor.to_dict()["calibration"]
    assert payload["low"] < 0.4 * 0.905 + 0.3 * 0.82 + 0.2 * 0.52 + 0.1 * 0.9802 < payload["high"]
    assert payload["agreement"] == pytest.approx(0.81, abs=0.02)
    assert payload["high"] - payload["low"] < 0.06


def test_looks_are_kept_in_the_order_of_addition(monitor):
    for seed, name in enumerate("cab", start=1):
        monitor = monitor.add(*columns(log(100, seed)), name=name)
    assert [look.name for look in monitor.looks] == ["c", "a", "b"]
    assert [look.name for look in Monitor.open(monitor.path).looks] == ["c", "a", "b"]


def test_tallies_do_not_depend_on_the_order_of_batches(tmp_path):
    results = []
    for order in ([1, 2, 3], [3, 1, 2]):
        monitor = Monitor.create(tmp_path / f"{order}.state", *columns(REFERENCE))
        for seed in order:
            monitor = monitor.add(*columns(log(137 * seed, seed)), name=f"batch {seed}")
        payload = monitor.to_dict()
        fields = "n", "unverified", "agreement"
        looks = {look["name"]: [look[field] for field in fields] for look in payload["looks"]}
        results.append([*(payload[field] for field in fields), payload["calibration"], looks])
    assert results[0] == results[1]


def test_a_name_with_the_same_rows_counts_once_in_whatever_order_these_come(monitor):
    batch = log(200, seed=1)
    monitor.add(*columns(batch), name="Monday")
    with pytest.raises(InputError, match=r"^Monday was added before, and a batch counts once\. Give another"):
        monitor.add(*columns(batch.sample(frac=1, random_state=0)), name="Monday")
    assert [look.n for look in Monitor.open(monitor.path).looks] == [200]


def test_other_rows_under_a_name_are_another_batch(monitor):
    for seed in (1, 2):  # such as a file today.csv that is written anew every day
        monitor = monitor.add(*columns(log(200, seed=seed)), name="today.csv")
    assert [look.name for look in monitor.looks] == ["today.csv", "today.csv"]


@one_test
@pytest.mark.parametrize("n_rows", [1, 6, 300])
def test_equal_rows_under_another_name_count_and_are_warned_of_where_chance_cannot_make_them(
    saved_state, tmp_path, n_rows
):
    monitor = Monitor.open(shutil.copy(saved_state, tmp_path))
    batch = log(n_rows, seed=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        looks = monitor.add(*columns(batch), name="Monday").add(*columns(batch), name="Tuesday").looks
    assert [look.n for look in looks] == [n_rows, n_rows]
    assert looks[0].fingerprint == looks[1].fingerprint
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        "Tuesday and Monday have equal rows, and both count, because their names differ: are they one batch?"
    ] * (n_rows == 300)


def test_equal_days_are_in_unrelated_orders(monitor):
    """One order for all equal days would repeat its chance in every one of them."""
    batch, estimates = log(200, seed=1), set()  # in which early rows weigh more
    for day in range(20):
        state = Monitor.open(shutil.copy(monitor.path, f"{monitor.path}.{day}"))
        estimates.add(state.add(*columns(batch), name=f"day {day}").looks[0].so_far)
    assert len(estimates) == 20


def test_the_reference_is_no_batch(monitor):
    with pytest.raises(InputError, match="has the rows of the reference"):
        monitor.add(*columns(REFERENCE[::-1]), name="Monday")


def test_a_day_that_equals_a_reference_of_few_rows_by_chance_counts(tmp_path):
    frame = log(60, seed=0)
    monitor = Monitor.create(tmp_path / "state", *columns(frame))
    assert monitor.add(*columns(frame[::-1]), name="Monday").looks[0].n == 60


def test_a_quiet_stream_raises_no_alarm_and_its_interval_gets_narrower(monitor):
    for seed in range(1, 11):
        monitor = monitor.add(*columns(log(200, seed)), name=str(seed))
        assert monitor.looks[-1].low < monitor.looks[-1].so_far < monitor.looks[-1].high
    assert monitor.alarm is None
    widths = [look.high - look.low for look in monitor.looks]
    assert widths[0] > 2 * widths[4] > 2 * widths[-1]
    assert widths[-1] < 0.1


@one_test
@pytest.mark.parametrize(("wrong", "change"), [(0.3, "lower"), (0.0, "higher")])
def test_an_alarm_is_raised_and_stays(tmp_path, wrong, change):
    monitor = Monitor.create(tmp_path / "state", *columns(log(4000, seed=0, wrong=0.15)))
    for seed in (1, 2):
        monitor = monitor.add(*columns(log(800, seed, wrong=0.15)), name=f"day {seed}")
    assert monitor.alarm is None
    for seed in (3, 4):
        monitor = monitor.add(*columns(log(800, seed, wrong)), name=f"day {seed}")
    alarm = monitor.alarm
    assert alarm["change"] == change
    assert alarm["since"] in ("day 3", "day 4")
    assert alarm["look"] in ("day 3", "day 4")
    for seed in (5, 6):  # all is well again
        monitor = monitor.add(*columns(log(400, seed, wrong=0.15)), name=f"day {seed}")
    assert monitor.alarm == alarm


def test_explanations_that_the_pool_lacks_are_unverified_and_agree_with_nobody(monitor):
    batch = log(100, seed=1)
    batch.loc[:29, "why"] = "weather"
    batch.loc[30:39, "why"] = None
    look = monitor.add(*columns(batch), name="Monday").looks[0]
    known = monitor.add(*columns(batch[40:]), name="known").looks[-1]
    assert (look.unverified, known.unverified) == (40, 0)
    assert look.agreement == pytest.approx(known.agreement * 0.6)


def test_predictions_that_the_reference_has_not_are_warned_about(monitor):
    batch = log(50, seed=1).replace({"label": {"granted": 1, "refused": 0}})
    with pytest.warns(
        FaithkitWarning, match=r"no prediction of Monday \(0, 1\) occurs in the reference"
    ) as caught:
        look = monitor.add_counts(faithkit.plugin.count_rows(*columns(batch)), "Monday").looks[0]
    assert look.agreement == 0
    assert caught[0].filename == __file__


@one_test
@pytest.mark.parametrize("labels", [(1.0, 0.0), (np.int8(1), np.int8(0)), ("1", "0")])
def test_a_label_is_the_same_in_every_type(tmp_path, labels):
    def map_labels(frame, yes, no):
        return frame["label"].map({"granted": yes, "refused": no}), frame["why"]

    monitor = Monitor.create(tmp_path / "state", *map_labels(REFERENCE, 1, 0))
    look = monitor.add(*map_labels(log(300, seed=1), *labels), name="a").looks[0]
    assert look.agreement > 0.7


VECTORS = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (400, 2)) / 10, columns=["phi_a", "phi_b"])
LABELS = (VECTORS.sum(axis=1) > 0.2).tolist()


@one_test
@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (["a"] * 400, "of kind value, and those before it of kind vector"),
        (
            VECTORS[["phi_b", "phi_a"]],
            "in the columns phi_b, phi_a, and those before it in the columns phi_a",
        ),
        (VECTORS.astype(np.float32), "made of float32, float32, and those before it made of number, number"),
        (VECTORS.assign(phi_c=0.0), "in the columns phi_a, phi_b, phi_c"),
        (VECTORS.to_numpy()[:, :1], "made of number, and those before it made of number, number"),
        (VECTORS[:10], "10 explanations for 400 predictions"),
    ],
)
def test_explanations_that_cannot_be_compared_are_refused(tmp_path, batch, message):
    monitor = Monitor.create(tmp_path / "state", LABELS[1:], VECTORS[1:])
    with pytest.raises(InputError, match=message):
        monitor.add(LABELS, batch, name="Monday")


@one_test
@pytest.mark.parametrize(
    "batch",
    [VECTORS.to_numpy(), VECTORS * 10 // 1, [None] * 400],
    ids=["without names", "whole numbers", "nothing explained"],
)
def test_explanations_that_can_be_compared_are_taken(tmp_path, batch):
    monitor = Monitor.create(tmp_path / "state", LABELS[1:], VECTORS[1:])
    assert monitor.add(LABELS, batch, name="Monday").looks[0].n == 400


def test_a_reference_whose_explanations_seldom_repeat_is_warned_about(tmp_path):
    phi = np.random.default_rng(0).normal(size=(400, 2))
    phi[:12] = 0  # 3 % of the rows share an explanation
    with pytest.warns(FaithkitWarning, match=r"9[5-9] % of the rows to calibrate by .* coarser discretizer"):
        Monitor.create(tmp_path / "state", phi[:, 0] > 0, phi)


def test_a_discretizer_is_used_at_every_look(tmp_path):
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(2000, 2))
    monitor = Monitor.create(tmp_path / "state", phi[:, 0] > 0, phi, discretizer="sign")
    later = rng.normal(size=(300, 2)).astype(np.float32)
    look = Monitor.open(monitor.path).add(later[:, 0] > 0, later, name="a").looks[0]
    assert (look.agreement, look.unverified) == (1.0, 0)


@one_test
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"discretizer": "quantile"},
            "learns from explanations, so counts of two samples could not be compared",
        ),
        ({"discretizer": lambda explanations: explanations.values}, "expected the name of an installed one"),
        ({"discretizer": "1fp"}, "takes explanations of kind vector"),
        ({"confidence": 1.0}, "confidence must be a number between 0 and 1"),
        ({"seed": 0.5}, "the seed must be a whole number"),
    ],
)
def test_what_cannot_be_settled_is_refused_and_nothing_is_written(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        Monitor.create(tmp_path / "state", *columns(REFERENCE), **options)
    assert list(tmp_path.iterdir()) == []


@one_test
@pytest.mark.parametrize(
    "reference",
    [log(1, seed=0), REFERENCE.assign(why=None), REFERENCE.assign(why=range(len(REFERENCE)))],
    ids=["one row", "nothing explained", "all explanations unique"],
)
def test_a_reference_that_nothing_can_be_compared_with_is_refused(tmp_path, reference):
    with pytest.raises(InputError, match="which nothing can be compared with"):
        Monitor.create(tmp_path / "state", *columns(reference))
    assert list(tmp_path.iterdir()) == []


REASONS = np.array(["debt", "income"] * 200)
HAS_REASON = np.arange(400) < 300
UNTESTED = {
    "one label": (["approved"] * 400, REASONS, {}),
    "one label, beside rows without an explanation": (
        np.where(HAS_REASON, "approved", "declined"),
        np.where(HAS_REASON, REASONS, None),
        {},
    ),
    "numbers within the tolerance": (np.arange(400) % 3 / 2, REASONS, {"agree": "within:1"}),
}


@one_test
@pytest.mark.parametrize("case", UNTESTED)
def test_a_reference_that_agrees_whatever_explanations_are_worth_is_refused(tmp_path, case):
    predictions, explanations, options = UNTESTED[case]
    with pytest.raises(InputError, match="tests nothing, because all its explained predictions agree: give"):
        Monitor.create(tmp_path / "state", predictions, explanations, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [("declined", "approved"), (0.5, 1.5)])
def test_a_reference_whose_explanations_may_only_repeat_the_prediction_is_warned_of(tmp_path, names):
    predictions = np.where(REASONS == "debt", *names)
    with pytest.warns(FaithkitWarning, match="each prediction has one explanation, which may only repeat it"):
        Monitor.create(tmp_path / "state", predictions, REASONS)


@one_test
@pytest.mark.parametrize(
    "change",
    [
        {0: ("declined", "income")},
        {0: ("approved", "debt")},
        {0: ("declined", "age"), 1: ("declined", "age")},
    ],
    ids=["another prediction", "another reason", "two reasons for a prediction"],
)
def test_one_row_that_an_explanation_could_have_got_wrong_makes_a_reference_a_test(tmp_path, change):
    explanations = REASONS.copy()
    predictions = np.where(REASONS == "debt", "declined", "approved")
    for row, (prediction, reason) in change.items():
        predictions[row], explanations[row] = prediction, reason
    assert Monitor.create(tmp_path / "state", predictions, explanations).looks == ()


def test_a_state_that_is_there_is_opened_if_it_was_made_of_the_same(monitor):
    monitor.add(*columns(log(50, seed=1)), name="Monday")
    again = Monitor.create(monitor.path, *columns(REFERENCE[::-1]))
    assert [look.name for look in again.looks] == ["Monday"]
    for rows, options, message in (
        (REFERENCE, {"confidence": 0.9}, "was made with the confidence 0.95, and not with 0.9"),
        (REFERENCE, {"seed": 1}, "was made with the seed 0, and not with 1"),
        (REFERENCE[1:], {}, "was made with the reference .*, and this is another one"),
    ):
        with pytest.raises(InputError, match=message):
            Monitor.create(monitor.path, *columns(rows), **options)


def test_the_same_question_gives_the_same_bytes(tmp_path):
    texts = []
    for name in ("here", "there"):
        monitor = Monitor.create(tmp_path / name, *columns(REFERENCE))
        monitor.add(*columns(log(50, seed=1)), name="a").write(tmp_path / f"{name}.json")
        texts.append((tmp_path / f"{name}.json").read_text())
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["looks"][0]["name"] == "a"


def test_a_frame_has_a_row_for_every_look(monitor):
    assert monitor.to_frame().empty
    frame = monitor.add(*columns(log(50, seed=1)), name="a").to_frame()
    assert frame[["name", "n", "alarm"]].to_numpy().tolist() == [["a", 50, None]]


@pytest.mark.usefixtures("no_pictures")
def test_the_text_and_the_page_show_the_last_looks_and_the_alarm(tmp_path, monkeypatch):
    monkeypatch.setattr("faithkit_monitor.report.MAX_LOOKS", 4)
    monitor = Monitor.create(tmp_path / "state", *columns(log(4000, seed=0)))
    for seed in range(1, 8):
        monitor = monitor.add(*columns(log(300, seed, wrong=0.4 * (seed > 5))), name=f"day {seed}")
    text = str(monitor)
    assert max(map(len, text.splitlines())) <= 80
    assert "3 earlier looks: CSV files and to_frame() have all." in text
    assert "day 4 " in text
    assert "day 3 " not in text
    assert "Alarm at day 6: rows since day 6 agree less with the" in text
    assert "is at most 5 %." in text
    for page in (page_of(monitor), monitor._repr_html_()):
        assert "Alarm at day 6" in page
        assert ">day 4<" in page


def test_names_are_shown_and_never_obeyed(monitor):
    name = "<script>alert(1)</script>\x1b[2J"
    monitor = monitor.add(*columns(log(50, seed=1)), name=name)
    assert "<script>" not in page_of(monitor)
    assert "\x1b" not in page_of(monitor) + str(monitor)
    assert monitor.looks[0].name == name


def test_a_plot_of_nothing_of_one_look_and_of_an_alarm(monitor):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        faithkit_html.plots.draw(monitor).figure.canvas.draw()
        monitor = monitor.add(*columns(log(50, seed=1)), name="a")
        faithkit_html.plots.draw(monitor).figure.canvas.draw()
        monitor = monitor.add(*columns(log(5000, seed=2, wrong=0.5)), name="b")
        axes = faithkit_html.plots.draw(monitor)
        axes.figure.canvas.draw()
    assert monitor.alarm is not None
    assert "alarm" in [text.get_text() for text in axes.texts]


def test_later_looks_that_are_as_bad_stay_marked(monitor):
    for day in range(5):
        monitor = monitor.add(*columns(log(600, seed=1 + day, wrong=0.3)), name=f"bad {day}")
    marks = [look.alarm is not None for look in monitor.looks]
    assert any(marks[:-1])
    assert all(marks[marks.index(True) :])


def test_the_docs_list_every_field_of_the_json(monitor):
    page = (Path(__file__).parents[3] / "docs" / "howto" / "monitor.rst").read_text("utf-8")
    fields = page.partition("As JSON")[2].partition("Reference\n")[0]
    assert [name for name in monitor.to_dict() if f"`{name}`" not in fields] == []
