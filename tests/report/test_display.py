"""Every value that comes back is one line in Python, lines when it is printed, and HTML, once, in a notebook."""

import re
from functools import cache
from pathlib import Path

import faithkit_html
import numpy as np
import pandas as pd
import pytest
from faithkit_integrations import judge
from faithkit_monitor import Monitor
from looping import one_test
from pages import Reader
from report.examples import CELL, GROUP, HOSTILE, LABEL, SCRIPT, score_ordinary

import faithkit
from faithkit.measure.instances.contradictions import Contradictions
from faithkit.report.base import Displayable
from faithkit.report.sheet import MAX_ROWS
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation_report import EvaluationReport

TAGS = {
    *("div", "p", "strong", "ul", "li", "mark", "span", "details", "summary"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
# values of a few numbers, whose names say it all: Python's own line will do
PLAIN = {
    "Mean",
    "MeasureStatistics",
    "CheckableCounts",
    "EstimatedShare",
    "PredictionSummary",
    "RangePlan",
    "PilotPlan",
    "RowId",
}
ESCAPE = "\x1b[2J\r\n"


@cache
def score_values(hostile=False):
    """Rules that mislead, on rows with names; hostile ones try to break out of wherever they are shown."""
    name, cell, label = (
        (SCRIPT + ESCAPE, CELL + ESCAPE, LABEL + ESCAPE) if hostile else ("job", "nurse", "yes")
    )
    frame = pd.DataFrame({name: [cell, "clerk", "clerk", "farmer"] * 15, "age": np.arange(60)})
    labels = np.where(frame["age"] % 7 % 3 > 0, label, "no")
    explanations = [f"{name} is {job}" for job in frame[name]]
    return faithkit.score(labels, explanations, X=frame, relation="same-explanation")


@cache
def score_weights(hostile):
    """Weights that mislead, with the class that they speak for."""
    names, label = ([SCRIPT + ESCAPE, CELL], LABEL + ESCAPE) if hostile else (["job", "age"], "yes")
    shared = {"names": names, "target": "positive", "class": label}
    explanations = faithkit.Explanations.vectors([[0.5, -1.0]] * 8, shared=shared)
    X = pd.DataFrame(np.arange(16.0).reshape(8, 2), columns=names)
    return faithkit.score(["no", label] * 4, explanations, X=X, relation="same-explanation")


@cache
def score_words(hostile):
    """Words that mislead, marked in texts."""
    word, text = (SCRIPT, f"{SCRIPT} {CELL}{ESCAPE}") if hostile else ("good", "a good film")
    shared = {"target": "predicted"}
    explanations = faithkit.Explanations.of([((word, 0.5),)] * 8, kind="words", shared=shared)
    return faithkit.score(["no", "yes"] * 4, explanations, X=[f"{text} {i}" for i in range(8)])


@cache
def score_numbers():
    x = np.random.default_rng(0).normal(size=80)
    return faithkit.score(100 * x, np.sign(x).tolist(), X=x[:, None])


def measure_groups(hostile):
    groups = [GROUP + ESCAPE, "b", "c"] if hostile else ["a", "b", "c"]
    return score_values(hostile).by(pd.Series(groups * 20, name=SCRIPT if hostile else "branch"))


def compare_systems(hostile):
    names = (SCRIPT + ESCAPE, GROUP) if hostile else ("rules", "others")
    return Comparison(dict(zip(names, [score_values(hostile)] * 2, strict=True)), left_out=(names[0],))


@pytest.fixture(scope="module")
def monitor(tmp_path_factory):
    labels, words = ["yes", "no"] * 300, ["a", "b", "c", "d"] * 150
    state = tmp_path_factory.mktemp("states") / "state"
    new_monitor = Monitor.create(state, labels, words)
    return new_monitor.add(labels[:50], words[:50], name=SCRIPT + ESCAPE).add(
        labels[:90], ["a"] * 90, name="b"
    )


SYSTEMS = {
    "a result": lambda hostile: score_values(hostile),
    "a report": lambda hostile: EvaluationReport.of(
        score_values(hostile), contradictions=1, by=["f", "m"] * 30
    ),
    "a judgement": lambda hostile: judge(score_values(hostile), consistency=0.5, above_control=True),
    "groups": measure_groups,
    "a comparison": compare_systems,
    "a pair": lambda hostile: compare_systems(hostile).pairs()[0],
    "a difference": lambda hostile: compare_systems(hostile).pairs()[0].difference,
    "an estimate": lambda hostile: score_values(hostile).consistency,
    "contradictions": lambda hostile: score_values(hostile).contradictions(),
    "no contradictions": lambda hostile: Contradictions(),
    "a contradiction": lambda hostile: score_values(hostile).contradictions()[0],
    "a sample_row": lambda hostile: score_values(hostile).contradictions()[0].pair[0],
    "an instance": lambda hostile: score_values(hostile).local(0),
    "one measure of it": lambda hostile: score_values(hostile).local(0).consistency,
    "weights": lambda hostile: score_weights(hostile).contradictions(),
    "an instance with weights": lambda hostile: score_weights(hostile).local(0),
    "words": lambda hostile: score_words(hostile).contradictions(),
    "an instance with words": lambda hostile: score_words(hostile).local(0),
    "a reader": lambda hostile: score_values(hostile).diagnose("reader"),
    "a plan from a pilot": lambda hostile: faithkit.plan(0.05, pilot=score_values(hostile)),
}
TAME_ONLY = {
    "rules": score_ordinary,
    "a plan from a range": lambda: faithkit.plan(0.1, n_explanations=2048),
    "numbers": score_numbers,
    "an estimate of numbers": lambda: score_numbers().consistency,
    "contradictions of numbers": lambda: score_numbers().contradictions(),
    "an instance of numbers": lambda: score_numbers().local(3),
    "a reader of numbers": lambda: score_numbers().diagnose("reader"),
    "nothing checked": lambda: faithkit.score(["y", "n", "n"], ["a", "b", "c"]),
    "no interval": lambda: faithkit.score(["y", "n", "n"], ["a", "a", "a"], estimator="majority").consistency,
}
VALUES = {
    f"{name} {kind}": (make, kind == "hostile")
    for name, make in SYSTEMS.items()
    for kind in ("tame", "hostile")
}
VALUES |= {name: (lambda _, make=make: make(), False) for name, make in TAME_ONLY.items()}


NAMES = [*VALUES, "a monitor"]


@pytest.fixture(scope="module")
def values(monitor):
    """Return every kind of value that comes back, by name."""
    return {name: make(hostile) for name, (make, hostile) in VALUES.items()} | {"a monitor": monitor}


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_in_python_it_is_one_line(name, values):
    value = values[name]
    line = repr(value)
    assert re.fullmatch(rf"<{type(value).__name__} .+>", line)  # a dot is no end of a line
    assert line.isprintable()
    assert len(line) <= 350


@one_test
@pytest.mark.parametrize("name", NAMES)
def test_printed_it_is_lines_that_no_terminal_obeys_and_html_has_the_same_numbers(name, values):
    text, html = str(values[name]), values[name]._repr_html_()
    assert text == text.strip("\n")
    assert all(line.isprintable() for line in text.splitlines())
    words = (word for word in text.split() if len(word) > 30)  # what cannot be broken may stand out
    assert all(len(line) <= 80 or any(word in line for word in words) for line in text.splitlines())
    assert_nothing_gets_out(html)
    shown, printed = (set(re.findall(r"\d+\.\d+", part)) for part in (Reader(html).text, text))
    assert shown <= printed


def assert_nothing_gets_out(html):
    """Check that a notebook gets the elements, attributes and styles that we write, and no others."""
    read = Reader(html)
    assert set(read.tags) <= TAGS
    assert {name for name, _ in read.attributes} <= {"class", "style", "aria-hidden"}
    styles = {style for name, style in read.attributes if name == "style"}
    cell = r"text-align: (left|right)(; white-space: nowrap)?"
    bar = r"margin-left: \d+\.\d%; width: \d+\.\d%"
    assert all(re.fullmatch(rf"{cell}|{bar}", style) for style in styles)
    assert not any(text in html for text in HOSTILE)
    assert "\x1b" not in html


def test_a_notebook_shows_it_once(values):
    formatter = pytest.importorskip("IPython.core.formatters").DisplayFormatter()
    for value in {type(value): value for value in values.values()}.values():
        shown, _ = formatter.format(value)
        assert set(shown) == {"text/plain", "text/html"}
        assert shown["text/plain"] == repr(value)


def test_all_that_comes_back_is_shown():
    source = Path(faithkit.__file__).read_text("utf-8")
    listed = source.partition("# what comes back")[2].partition("# what a plugin")[0]
    names = set(re.findall(r'"(\w+)": ', listed))
    assert names - PLAIN == {name for name in names if issubclass(getattr(faithkit, name), Displayable)}


def test_what_is_unknown_is_no_number():
    unknown = faithkit.score(["y", "n", "n"], ["a", "b", "c"])
    assert repr(unknown) == "<Evaluation of logged explanations: 3 instances, consistency unknown>"
    assert repr(unknown.consistency) == "<Estimate unknown, 0 % checked, unknown>"


def test_what_holds_the_rows_is_one_line_too():
    result, small = score_values(), faithkit.score([1, 1, 0], [[0.5], [0.5], [0.1]])
    assert repr(result.evidence.population.sample).startswith(
        "<Sample of 60 rows: DataFrame, <Explanations of 60 rows, kind value,"
    )
    assert (
        repr(small.evidence.population.sample)
        == "<Sample of 3 rows: no instances, <Explanations of 3 rows, kind vector, 0 missing>>"
    )
    assert repr(small.evidence.tallies["consistency"]) == "<Tally of 3 instances: 2 explanations × 2 labels>"


def test_a_subclass_of_somebody_else_is_shown_like_its_parent():
    class Ranking(faithkit.results.Comparison):
        pass

    assert repr(Ranking({"one": score_numbers()})).startswith(
        "<Ranking of 1 system; consistency estimates: one 0."
    )


def test_a_long_table_is_cut_in_a_notebook_and_the_other_rows_are_counted():
    wide = pd.DataFrame(np.arange(2 * (MAX_ROWS + 7)).reshape(2, -1))
    sample_row = faithkit.score(["y", "n"], ["a", "a"], X=wide).contradictions()[0].pair[0]
    read = Reader(sample_row._repr_html_())
    assert read.tags.count("tr") == MAX_ROWS
    assert "7 more rows: values has all." in read.text


def test_a_long_explanation_is_cut():
    word = "x" * 5000
    result = faithkit.score(["y", "n"] * 5, [word] * 10)
    for value in (result.contradictions(), result.contradictions()[0], result.local(0)):
        assert len(value._repr_html_()) < 3000
        assert len(repr(value)) < 350


def test_plots_show_themselves_once_and_nobody_keeps_them():
    formatters = pytest.importorskip("IPython.core.formatters")
    axes = faithkit_html.plots.measures(score_values())
    for drawn in (axes, axes.figure):
        shown, about = formatters.DisplayFormatter().format(drawn)
        assert set(shown) == {"text/plain", "image/png"}
        assert about["image/png"] == {"width": 560, "height": 185}


@one_test
@pytest.mark.parametrize(
    "style", ["dark_background", {"savefig.bbox": "tight", "savefig.facecolor": "black"}]
)
def test_a_plot_is_readable_whatever_the_readers_settings(style):
    import io

    import matplotlib.image
    import matplotlib.style

    with matplotlib.style.context(style):
        picture, _ = faithkit_html.plots.measures(score_values())._repr_png_()
    pixels = matplotlib.image.imread(io.BytesIO(picture))
    assert pixels.shape[:2] == (370, 1120)
    assert (pixels[0, 0, :3] == 1).all()  # paper
