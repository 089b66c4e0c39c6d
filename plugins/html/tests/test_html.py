"""The report as a file: complete, self-contained, escaped, and the same every time."""

import html
import re

import numpy as np
import pandas as pd
import pytest
from consoles import run
from lazy_modules import import_when_used
from looping import one_test
from markupsafe import Markup
from pages import Reader, page_of, read_explanations
from report.examples import CELL, GROUP, HOSTILE, LABEL, SCRIPT, evaluate_hostile, score_ordinary

import faithkit
from faithkit.report import VERBOSE
from faithkit.run.comparisons.comparison import Comparison
from faithkit.run.evaluation_report import EvaluationReport

mpl = import_when_used("matplotlib")


def find_headings(text):
    return re.findall(r"<h2>(.*?)</h2>", text)


@pytest.fixture(scope="module")
def hostile_page():
    return page_of(evaluate_hostile())


@pytest.fixture
def ordinary_page(monkeypatch):
    """An ordinary page whose pictures have their labels alone."""
    monkeypatch.setattr(
        "faithkit_html.figures.render_svg",
        lambda draw, new_axes, label, *_, **__: Markup('<svg role="img" aria-label="{}"></svg>').format(
            label
        ),
    )
    return page_of(score_ordinary())


@pytest.fixture(scope="module")
def compared():
    labels = ["yes", "no", "no"] * 40
    noisy = [label if i % 7 else "yes" for i, label in enumerate(labels)]
    return Comparison(
        {
            "exact": faithkit.score(labels, labels),
            SCRIPT: faithkit.score(labels, noisy),
            "constant": faithkit.score(labels, ["same"] * 120),
            "all different": faithkit.score(labels, range(120)),
        }
    )


@pytest.fixture
def compared_page(compared, no_pictures):
    return page_of(compared)


@pytest.mark.usefixtures("no_pictures")
def test_every_section_is_there():
    result = score_ordinary()
    outcome = EvaluationReport.of(result, contradictions=2, by="sex")
    assert find_headings(page_of(outcome)) == [
        *("Measures", "Behind the numbers"),
        *("Consistency by predicted label", "Sufficiency by predicted label"),
        *("Consistency by sex", "Sufficiency by sex", "Contradictions", "Explanations"),
        *("Next steps", "Provenance"),
    ]


def test_numbers_are_those_of_the_terminal(ordinary_page):
    read, printed = Reader(ordinary_page).text, str(score_ordinary())
    for number in re.findall(r"\d\.\d{3} – \d\.\d{3}|\d\.\d{3}|\d+ % of \d+|\d+ %", printed):
        assert number in read.replace("\u00a0", " ")
    text = " ".join(printed[printed.index("Verdict:") : printed.index("consistency  ")].split())
    text += " " + " ".join(score_ordinary().to_text(verbose=True).partition("All 60 instances")[2].split())
    for sentence in text.replace("Next steps: - ", "").removesuffix(".").split(". "):
        assert sentence in read.replace("\u00a0", " ")


def test_plots_are_there_and_say_what_they_show(ordinary_page):
    labels = re.findall('<svg role="img" aria-label="(.*?)"', ordinary_page)
    assert labels == [
        "Measures: values and intervals up to 1",
        "consistency by sample size",
        "sufficiency by sample size",
        "local consistency",
        "local sufficiency",
        "how many share an explanation",
        "consistency by predicted label: values and intervals up to 1",
        "sufficiency by predicted label: values and intervals up to 1",
        # of 19 older than 40, two get "no": (17·16 + 2·1) / (19·18); of 41 others, five get "yes"
        "map of 2 explanations: from 19 to 41 rows each, with an agreement from 0.780 to 0.801; the table has "
        "their numbers",
    ]


def test_ids_are_unique_and_lead_somewhere(hostile_page):
    read = Reader(hostile_page)
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    used = {value.removeprefix("#") for value in read.values("xlink:href")}
    used |= {value[5:-1] for value in read.values("clip-path")}
    assert used <= set(ids)


@pytest.mark.usefixtures("no_pictures")
def test_the_same_result_gives_the_same_bytes(compared, compared_page):
    assert page_of(evaluate_hostile()) == page_of(evaluate_hostile())
    assert page_of(compared) == compared_page


def test_a_persons_own_plot_settings_change_no_byte(draw_only):
    draw_only(("measures", "consistency by sample size", "local consistency", "how many", "map of"))
    page = page_of(score_ordinary())
    with mpl.rc_context(
        {"font.size": 30, "axes.facecolor": "red", "text.usetex": True, "svg.fonttype": "path"}
    ):
        before = dict(mpl.rcParams)
        assert page_of(score_ordinary()) == page
        assert dict(mpl.rcParams) == before


def test_nothing_is_fetched_and_nothing_runs_but_our_script(hostile_page):
    read = Reader(hostile_page)
    assert read.tags.count("script") == 1  # ours
    assert "img" not in read.tags
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert read.values("src") == []
    assert read.values("href") == ["data:,"]
    assert all(value.startswith("#") for value in read.values("xlink:href"))
    policy = dict(read.attributes)["content"]
    assert "default-src 'none'" in read.values("content")[0], policy
    assert "url(" not in re.sub(r"url\(#\w+\)", "", hostile_page)
    assert not re.findall(r"https?://", hostile_page.replace("http://evil.example", ""))  # shown as text


def test_hostile_names_cells_labels_and_groups_are_shown_as_text(hostile_page):
    for text in HOSTILE:
        assert text not in hostile_page
    read = Reader(hostile_page)
    for text in (SCRIPT, CELL, LABEL, GROUP):
        assert " ".join(text.split()) in read.text
    assert "$\\frac{ &" in read.text


def test_hostile_names_are_text_in_plots_too(hostile_page):
    drawn = re.findall(r"<text [^>]*>(.*?)</text>", hostile_page)
    assert any("&lt;/text&gt;" in text for text in drawn)
    assert not any("<" in text for text in drawn)


def test_colours_follow_the_page_and_data_does_not(draw_only):
    draw_only("consistency by group")
    result = faithkit.score(["y", "y", "n", "n"] * 2, ["a"] * 8)
    text = page_of(EvaluationReport.of(result, by=["stroke: #1864ab", "b"] * 4))
    svg = re.search(r'<svg role="img" aria-label="consistency by group.*?</svg>', text, re.S)[0]
    assert "stroke: #1864ab</text>" in svg
    assert not re.search(r"<[^>]*#[0-9a-f]{6}", svg)
    assert "var(--blue)" in svg


@pytest.mark.usefixtures("no_pictures")
def test_a_measure_that_was_not_taken_says_why():
    read = Reader(page_of(faithkit.score(["y", "n", "n"], [[0.1], [0.1], [0.3]]))).text
    assert "not measured" in read
    assert "explanations of kind 'vector' need a relation that says where they apply" in read
    assert "Sufficiency by sample size" not in read


@pytest.mark.usefixtures("no_pictures")
def test_one_row_is_a_page_that_claims_nothing():
    text = page_of(faithkit.score(["yes"], ["because"]))
    read = Reader(text).text
    assert "consistency – – – 0 % –" in read
    assert "Nothing could be checked for consistency, so it has no curve and no local scores" in read
    assert "No explanation holds for a second instance" in read


def test_unexplained_rows_are_told_with_their_reasons(hostile_page):
    n = evaluate_hostile().result.unexplained
    assert n > 0
    assert f"{n} unexplained of the unexplained, {CELL}: {n}" in Reader(hostile_page).text


@pytest.mark.usefixtures("no_pictures")
def test_pairs_mark_the_cells_that_differ():
    frame = pd.DataFrame({"age": [30, 31], "job": ["cook", "cook"], "town": [None, "Rome"]})
    text = page_of(faithkit.score(["yes", "no"], ["because", "because"], X=frame))
    rows = re.findall(r"<tr><th>(\w+)</th>\s*<td>(.*?)</td>", text)
    mark = '<mark class="differs">{}</mark>'
    assert rows == [("age", mark.format(30)), ("town", mark.format("missing")), ("job", "cook")]
    assert "holds for 2 instances: 1 gets yes and 1 gets no" in text


@pytest.mark.usefixtures("no_pictures")
def test_pairs_without_instances_are_rows_and_predictions():
    read = Reader(page_of(faithkit.score(["yes", "no"], ["because", "because"]))).text
    assert "row 0 → yes row 1 → no" in read


@pytest.mark.usefixtures("no_pictures")
def test_as_many_pairs_as_were_asked_for():
    result = faithkit.score(["y", "n"] * 6, [letter for letter in "abcdef" for _ in "yn"])
    assert page_of(result).count("holds for 2 instances") == 3
    assert page_of(EvaluationReport.of(result, contradictions=5)).count("holds for 2 instances") == 5
    assert page_of(EvaluationReport.of(result, contradictions=0)).count("holds for 2 instances") == 0


@pytest.mark.usefixtures("no_pictures")
def test_texts_are_shown_side_by_side():
    texts = ["good <i>film</i>", "bad film"]
    result = faithkit.score(["y", "n"], ["film", "film"], X=texts)
    assert "good <i>film</i> bad film" in Reader(page_of(result)).text


@pytest.mark.usefixtures("no_pictures")
def test_sixty_columns_are_folded_and_all_there():
    names = [f"a column with the long name {i}" for i in range(60)]
    frame = pd.DataFrame([["x" * 200] * 60, ["y"] * 60], columns=names)
    vectors = pd.DataFrame(np.ones((2, 60)), columns=names)
    text = page_of(faithkit.score(["y", "n"], vectors, X=frame))
    assert "44 more columns" in text
    assert all(f"<th>{name}</th>" in text for name in names)
    assert "<summary>The whole explanation</summary>" in text


@pytest.mark.usefixtures("no_pictures")
def test_subgroups_show_their_difference_and_mark_the_sure_ones():
    labels = ["y"] * 200 + ["y", "n"] * 100
    result = faithkit.score(labels, ["same"] * 400)
    text = page_of(EvaluationReport.of(result, by=["calm"] * 200 + ["wild"] * 200))
    rows = re.findall(r"<tr>\s*<th [^>]*>calm</th>.*?</tr>", text, re.S)
    numbers, minus = (Reader(row).text.replace("\u00a0", " ") for row in rows)
    assert re.fullmatch(r"calm 200 1\.000 .* 100 % 100 % of 200 one label", numbers)
    assert re.fullmatch(r"calm \+0\.503 .* \*", minus)


@pytest.mark.usefixtures("no_pictures")
def test_a_group_that_is_everybody_has_nobody_to_differ_from():
    text = page_of(EvaluationReport.of(faithkit.score(["y", "n", "y"], ["a"] * 3), by=["all"] * 3))
    assert "all 3 " in Reader(text).text
    assert "minus the rest" not in text


def test_of_fourteen_groups_a_plot_has_the_twelve_largest(draw_only):
    draw_only("consistency by group")
    sizes = [2 if name in (3, 9) else 9 for name in range(14)]
    groups = [f"g{name}" for name, size in enumerate(sizes) for _ in range(size)]
    result = faithkit.score([("y", "n", "n")[row % 3] for row in range(len(groups))], ["a"] * len(groups))
    text = page_of(EvaluationReport.of(result, by=groups))
    assert all(f">g{name}</th>" in text for name in range(14))
    svg = re.search(r'<svg role="img" aria-label="consistency by group.*?</svg>', text, re.S)[0]
    drawn = [name for name in range(14) if f">g{name}</text>" in svg]
    assert drawn == [name for name in range(14) if name not in (3, 9)]
    assert "These are the 12 largest of 14." in text


@pytest.mark.usefixtures("no_pictures")
def test_provenance_names_everything_that_was_asked_and_nothing_that_changes():
    frame = pd.DataFrame({"age": range(20)})
    result = faithkit.evaluate(
        lambda X: X["age"] > 9, frame, explainer=lambda X: (X["age"] > 12).tolist(), seed=7, confidence=0.9
    )
    read = Reader(page_of(result)).text
    for words in (
        *("explainer <lambda>", "discretizer original", "estimator leave-one-out", "confidence 90 %"),
        *("seed 7", "20 rows, 1 column", result.provenance()["data"]["fingerprint"]),
        f"faithkit {faithkit.__version__}",
    ):
        assert words in read


@pytest.mark.usefixtures("no_pictures")
def test_an_explainer_that_learnt_from_the_sample_is_told():
    frame = pd.DataFrame({"age": np.arange(40) % 20})
    with pytest.warns(faithkit.errors.FaithkitWarning, match="no background"):
        result = faithkit.evaluate(lambda X: X["age"] > 9, frame, explainer="tree")
    [warning] = [warning for warning in result.warnings if warning.name == "learnt"]
    assert warning.sentence in page_of(result)
    assert "optimistic" in warning.sentence


@pytest.mark.usefixtures("no_pictures")
def test_a_p_value_is_shown_where_it_was_asked_for(ordinary_page):
    assert "permutations): consistency" not in ordinary_page
    result = faithkit.score(["y", "n"] * 20, ["y", "n"] * 20, permutations=19)
    assert "p (19 permutations): consistency 0.050" in Reader(page_of(result)).text


@one_test
@pytest.mark.parametrize(
    ("estimator", "value"),
    # a: two y and an n, so that h is 1/2, 1/2 and 0, and b is alone
    [("verified-only", "0.333"), ("plug-in", "0.667"), ("majority", "0.750")],
)
@pytest.mark.usefixtures("no_pictures")
def test_the_estimator_has_a_column_of_its_name_and_chance_is_that_of_what_stands_first(estimator, value):
    result = faithkit.score(["y", "y", "n", "n"], ["a", "a", "a", "b"], estimator=estimator)
    read = Reader(page_of(result)).text.replace("\u00a0", " ")
    # two of each label: any two agree with probability 1/3
    row = re.search(r"consistency (\S+) (?:\S+ – \S+|–) (\S+) 75 % \S+ % of 3 (\S+)", read)
    assert row.groups() == ("0.250", "0.333", value)
    assert f"agree among those checked {estimator} finding" in read
    lines = result.to_text(verbose=True).splitlines()
    assert next(line for line in lines if line.startswith("consistency  ")).split()[-1] == value
    assert f"(chance) 0.333; {estimator} {value} " in " ".join(str(result).split())


@pytest.mark.usefixtures("no_pictures")
def test_leave_one_out_has_a_column_only_where_all_numbers_are_asked_for():
    result = faithkit.score(["y", "y", "n", "n"], ["a", "a", "a", "b"])
    assert "one-out" not in str(result)
    assert "leave-one-out 0.250" not in Reader(page_of(result)).text
    token = VERBOSE.set(True)
    try:
        row = next(line for line in str(result).splitlines() if line.startswith("consistency  "))
        assert row.split()[-1] == "0.250"
    finally:
        VERBOSE.reset(token)


@pytest.mark.usefixtures("no_pictures")
def test_a_notebook_shows_the_p_value_and_whose_the_interval_is():
    result = faithkit.score(["y", "n"] * 20, ["y", "n"] * 20, permutations=19, estimator="plug-in")
    read = Reader(result._repr_html_()).text
    assert "p (19 permutations): consistency 0.050" in read
    assert "Intervals, differences and p are the same for every estimator" in read
    assert "Intervals, differences and p are the same for every estimator" in Reader(page_of(result)).text


def test_a_comparison_ranks_systems_and_marks_the_best(compared, compared_page):
    text, read = compared_page, Reader(compared_page)
    assert "4 explanation systems" in read.text
    assert find_headings(text) == ["Consistency", "Sufficiency", "Each system", "Provenance"]
    table = text[text.index("<tbody>") : text.index("</tbody>")]
    names = re.findall(r"<th [^>]*>(.*?)</th>", table)
    assert names == [
        "exact",
        "&lt;script&gt;document.title=&#34;hacked&#34;&lt;/script&gt;",
        "constant",  # no less than the next one, and more of it could be checked
        "all different",
    ]
    best = compared.best()
    assert table.count(">*</td>") == len(best)
    assert "script" not in read.tags


def test_a_comparison_shows_every_difference_the_surest_first(compared_page):
    section = compared_page[compared_page.index("<h3>Differences</h3>") :]
    section = section[: section.index("</tbody>")]
    values = re.findall(r"nowrap\">(&lt; 0\.001|\d\.\d{3})</td>\s*<td[^>]*>\*?</td></tr>", section)
    assert len(values) == 6
    order = [0 if value.startswith("&lt;") else float(value) for value in values]
    assert order == sorted(order)


def test_a_comparison_says_who_has_no_sufficiency_and_why(compared_page):
    read = Reader(compared_page).text
    assert "Not measured for exact, " in read
    assert "explanations of kind 'value' need a relation that says where they apply" in read


@pytest.mark.usefixtures("no_pictures")
def test_a_system_alone_is_a_comparison_too():
    read = Reader(page_of(Comparison({"alone": score_ordinary()}))).text
    assert "1 explanation system" in read
    assert "Use alone: no other system was compared" in read
    assert "*: the best of the systems that could be checked (paired" in read


@pytest.mark.usefixtures("no_pictures")
def test_pages_are_written_whole(tmp_path):
    result = score_ordinary()
    for page in (result, Comparison({"a": result}), EvaluationReport(result)):
        path = tmp_path / f"{type(page).__name__}.html"
        page.write(path)
        assert path.read_text("utf-8") == page_of(page)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.usefixtures("no_pictures")
def test_the_command_line_writes_the_page_and_twice_the_same(tmp_path):
    pd.DataFrame({"label": ["y", "n", "y"], "why": ["<a>", "<a>", "b"]}).to_csv(tmp_path / "log.csv")
    command = ("score", tmp_path / "log.csv", "--prediction", "label", "--explanation", "why", "--out")
    done = run(*command, "-", "--format", "html")
    assert done.exit_code == 0, done.output
    assert run(*command, tmp_path / "page.html").exit_code == 0
    assert done.stdout == (tmp_path / "page.html").read_text("utf-8")
    assert done.stdout.startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("no_pictures")
def test_letters_that_no_page_can_show_are_escaped(tmp_path):
    result = faithkit.score(["y", "n"], ["half \ud800 a letter\u202e\x1b"] * 2)
    result.write(tmp_path / "page.html")
    assert r"half \ud800 a letter\u202e\x1b" in (tmp_path / "page.html").read_text("utf-8")


def test_a_notebook_gets_a_fragment_without_style(compared):
    result = evaluate_hostile().result
    for text in (result._repr_html_(), compared._repr_html_()):
        read = Reader(text)
        assert {name for name, _ in read.attributes} == {"class", "style"}
        assert not re.search("color|background|font|url", " ".join(style for _, style in read.attributes))
        assert SCRIPT not in text
        assert SCRIPT in read.text


def test_a_fragment_has_the_verdict_the_headline_and_the_sentences():
    result = score_ordinary()
    read = Reader(result._repr_html_()).text
    assert f"Verdict: {result.verdict.name}" in read
    assert f"{result.consistency.estimate:.3f} 95 % interval" in read.replace("\u00a0", " ")
    assert (
        "Consistency: all 60 instances could be checked: others with their explanation get the same prediction"
        in read
    )


def test_hostile_names_are_text_in_the_table_and_on_the_map(hostile_page):
    text = hostile_page
    explored = text[text.index("<h2>Explanations</h2>") : text.index("<h2>Next steps</h2>")]
    assert not any(name in explored for name in HOSTILE)
    assert {tag for tag in re.findall(r"<(\w+)", explored) if tag in ("script", "img", "b")} == set()
    titles = re.findall(r"<use [^<>]*><title>(.*?)</title></use>", explored)
    assert any(title.startswith("&lt;script&gt;") for title in titles)
    assert any(html.unescape(name).startswith(SCRIPT) for name, *_ in read_explanations(text))
