"""What the plots draw is what was measured."""

import re
from pathlib import Path

import faithkit_html
import numpy as np
import pytest
from faithkit_html import drawing as plots
from lazy_modules import import_when_used
from looping import one_test
from report.examples import IMAGE, score_ordinary

import faithkit
from faithkit.errors import InputError
from faithkit.report.formats import format_interval
from faithkit.run.comparisons.comparison import Comparison

mpl, mpl_figure = import_when_used("matplotlib"), import_when_used("matplotlib.figure")


def make_axes():
    return mpl_figure.Figure().add_subplot()


def find_texts(ax):
    return [text.get_text() for text in ax.texts]


def find_dots(ax):
    return [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]


def find_lines(ax, ending):
    return [list(line.get_xdata()) for line in ax.lines if str(line.get_label()).endswith(ending)]


@pytest.fixture(scope="module")
def logged():
    """Groups of 1, 2, 3 and 4 instances, of which only the last disagree."""
    explanations = ["a", "b", "b", "c", "c", "c", "d", "d", "d", "d"]
    labels = ["yes", "no", "no", "yes", "yes", "yes", "no", "no", "no", "yes"]
    return faithkit.score(labels, explanations)


def test_a_measure_is_drawn_where_it_lies_with_interval_bracket_and_chance(logged):
    ax = faithkit_html.plots.measures(logged)
    consistency = logged.consistency
    assert find_dots(ax) == [consistency.estimate]
    assert find_lines(ax, "interval") == [[consistency.low, consistency.high]]
    assert find_lines(ax, "not ruled out") == [list(consistency.bracket)]
    assert find_lines(ax, "chance") == [[logged.chance]]
    # by hand: 0 for a, 1 for b and c, 2/3 for three of d
    assert find_texts(ax)[:2] == [
        "consistency",
        f"0.700 ({format_interval(consistency.low, consistency.high)})",
    ]
    name, value = (text.get_position()[1] for text in ax.texts[:2])
    assert name == value  # on one line


@one_test
@pytest.mark.parametrize("estimator", ["leave-one-out", "verified-only", "plug-in", "majority"])
def test_chance_and_the_dot_do_not_depend_on_the_estimator(estimator):
    words = ["a", "b", "b", "c", "c", "c", "d", "d", "d", "d"]
    labels = ["yes", "no", "no", "yes", "yes", "yes", "no", "no", "no", "yes"]
    ax = faithkit_html.plots.measures(faithkit.score(labels, words, estimator=estimator))
    # five of each label; by hand: 0 for a, 1 for b and c, 2/3 for three of d
    assert find_lines(ax, "chance") == [[pytest.approx((5 * 4 + 5 * 4) / (10 * 9))]]
    assert find_dots(ax) == [pytest.approx(0.7)]


def test_what_was_not_measured_is_said_and_not_drawn(logged):
    assert find_texts(faithkit_html.plots.measures(logged))[2:] == ["sufficiency", "not measured"]


@pytest.mark.filterwarnings("error")
def test_a_layout_engine_of_the_readers_own_does_not_get_in_the_way(logged):
    with mpl.rc_context({"figure.constrained_layout.use": True}):
        ax = faithkit_html.plots.measures(logged)
        ax.figure.draw_without_rendering()  # it warned here
    assert ax.get_position().bounds == faithkit_html.plots.measures(logged).get_position().bounds


def test_nothing_checked_is_no_dot_at_zero():
    ax = faithkit_html.plots.measures(faithkit.score([0, 1], ["a", "b"]))
    assert find_dots(ax) == find_lines(ax, "chance") == []
    assert "nothing known" in find_texts(ax)


def test_a_group_in_which_nothing_could_be_compared_has_no_dot_and_no_number_as_in_the_table():
    """Four explanations that differ: one for all would get 0.5, since three of the rows agree."""
    labels = ["yes", "no"] * 10 + ["yes", "yes", "yes", "no"]
    groups = faithkit.score(labels, [*labels[:20], "a", "b", "c", "d"]).by(["large"] * 20 + ["tiny"] * 4)
    assert groups["tiny"].consistency.estimate == 0.5
    ax = faithkit_html.plots.subgroups(groups)
    assert (find_dots(ax), find_texts(ax)[2:]) == ([1.0], ["tiny", "nothing known"])


def test_an_estimator_without_an_interval_is_a_dot_alone():
    ax = faithkit_html.plots.measures(faithkit.score([0, 0, 1], ["a", "a", "a"], estimator="majority"))
    assert len(find_dots(ax)) == 1
    assert find_lines(ax, "interval") == []
    assert "0.333" in find_texts(ax)  # two of three rows agree with one of two others


def test_the_given_axes_are_used_and_returned(logged):
    ax = make_axes()
    assert faithkit_html.plots.measures(logged, ax) is ax
    assert faithkit_html.plots.measures(logged) is not faithkit_html.plots.measures(logged)


def test_names_are_never_read_as_mathematics(logged):
    ax = plots.draw_measures(make_axes(), {IMAGE[:30]: logged.consistency})
    assert find_texts(ax)[0] == IMAGE[:30]
    with mpl.rc_context({"text.usetex": True}):  # must neither be typeset here nor fail
        assert not plots.draw_measures(make_axes(), {"$\\frac{$": logged.consistency}).texts[0].get_usetex()
    ax.get_figure().canvas.draw()


def test_a_long_name_is_shortened_in_its_middle(logged):
    name = "shap:background=kmeans:10," + "x" * 200 + " · sign-of-top-5"
    shown = find_texts(plots.draw_measures(make_axes(), {name: logged.consistency}))[0]
    assert shown.startswith("shap:")
    assert shown.endswith("top-5")
    assert "…" in shown
    assert len(shown) < 60


def test_the_best_come_to_the_fore(logged):
    good = faithkit.score(["yes", "no"] * 50, ["yes", "no"] * 50)
    poor = faithkit.score(["yes", "no"] * 50, ["same"] * 100)
    ax = faithkit_html.plots.systems(Comparison({"poor": poor, "good": good}))
    weights = {text.get_text(): text.get_fontweight() for text in ax.texts}
    assert (weights["good"], weights["poor"]) == ("bold", "normal")
    assert find_dots(ax) == pytest.approx([poor.consistency.value, good.consistency.value])


def test_a_comparison_draws_only_what_was_measured(logged):
    both = Comparison({"rules": score_ordinary(), "logged": score_ordinary()})
    assert len(find_dots(faithkit_html.plots.systems(both, "sufficiency"))) == 2
    with pytest.raises(InputError, match="sufficiency cannot be drawn: no system has it"):
        faithkit_html.plots.systems(Comparison({"logged": logged}), "sufficiency")


def test_the_curve_ends_at_the_value_and_its_band_at_the_bracket(logged):
    ax = plots.draw_sample_size_curve(make_axes(), logged.consistency.checkable_counts)
    line, band = ax.lines[0], ax.collections[0].get_paths()[0].vertices
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (1, 0)
    assert (line.get_xdata()[-1], line.get_ydata()[-1]) == pytest.approx((10, logged.consistency.value))
    assert band[band[:, 0] == 10][:, 1].max() == pytest.approx(logged.consistency.bracket[1])
    assert band[band[:, 0] == 1][:, 1].max() == pytest.approx(1)


def test_local_scores_leave_out_what_could_not_be_checked(logged):
    heights = [
        bar.get_height()
        for bar in plots.draw_local_scores(make_axes(), logged.evidence.counts["consistency"].owners).patches
    ]
    local = [logged.local(row).consistency.value for row in range(10)]
    expected, _ = np.histogram([value for value in local if value is not None], 20, (0, 1))
    assert heights == pytest.approx((expected / 10).tolist())
    assert sum(heights) == pytest.approx(logged.consistency.verified)


def test_local_scores_of_weighted_rows_are_shares_of_the_weight():
    """The two rows of "a" agree and weigh 4 of 7; that of "b" cannot be checked."""
    result = faithkit.score([0, 0, 1], ["a", "a", "b"], weights=[1, 3, 3])
    heights = [
        bar.get_height()
        for bar in plots.draw_local_scores(make_axes(), result.evidence.counts["consistency"].owners).patches
    ]
    assert heights[-1] == pytest.approx(4 / 7)
    assert sum(heights) == pytest.approx(4 / 7)


def test_group_sizes_are_shares_of_instances_and_the_lonely_stand_out(logged):
    ax = plots.draw_group_sizes(make_axes(), logged.consistency.checkable_counts)
    bars = ax.patches
    assert all(line.get_visible() for line in ax.get_ygridlines())  # by which shares are read
    # sizes 1, 2, 3–4, 5–8
    assert [bar.get_height() for bar in bars] == pytest.approx([0.1, 0.2, 0.7, 0])
    assert bars[0].get_facecolor() != bars[1].get_facecolor()


def test_sizes_are_named_up_to_the_largest_group():
    everyone = faithkit.score(["yes"] * 12, ["a"] * 12).consistency.checkable_counts
    assert plots.draw_group_sizes(make_axes(), everyone).get_xticks().tolist() == [1, 2, 5, 10]


@one_test
@pytest.mark.parametrize(("most", "last"), [(1, 8), (8, 8), (9, 16), (1000, 1024), (1025, 2048)])
def test_the_largest_group_is_in_the_last_bin(most, last):
    edges = plots._doubling_bins(most)
    assert edges[-1] == last + 0.5
    assert edges[-2] < most <= edges[-1] or last == 8


def test_one_row_can_be_drawn():
    alone = faithkit.score(["yes"], ["because"])
    assert find_dots(faithkit_html.plots.measures(alone)) == []
    plots.draw_local_scores(
        make_axes(), alone.evidence.counts["consistency"].owners
    ).get_figure().canvas.draw()
    for draw in (plots.draw_sample_size_curve, plots.draw_group_sizes):
        draw(make_axes(), alone.consistency.checkable_counts).get_figure().canvas.draw()


def test_nothing_that_faithkit_draws_with_imports_pyplot():
    code = "\n".join(path.read_text("utf-8") for path in Path(faithkit_html.__file__).parent.rglob("*.py"))
    lines = re.findall(r"^ *(?:from|import) .*matplotlib.*$", code, re.M)
    assert lines
    assert not [line for line in lines if "pyplot" in line]


def test_axes_without_marks_have_no_legend():
    axes = mpl_figure.Figure().subplots()
    plots._add_legend(axes)
    assert axes.get_legend() is None
    axes.plot([0, 1], label="what a plugin drew")
    plots._add_legend(axes)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["what a plugin drew"]
