"""`faithkit report` writes a page about a saved result, with the words of whoever asks."""

import pytest
from consoles import run

import faithkit


@pytest.fixture(autouse=True)
def result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = faithkit.score(["yes", "yes", "no"] * 9, ["a", "a", "b"] * 9)
    result.write("result.json")
    return result


WORDS = ("--title", "Loans & May", "--note", "For the board.", "--author", "A. N. Other", "--date", "1 May")


def test_the_page_is_that_of_the_loaded_result(tmp_path):
    assert run("report", "result.json", "page.html").exit_code == 0
    faithkit.load("result.json").write("other.html")
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_title_note_author_and_date_stand_on_the_page(tmp_path):
    done = run("report", "result.json", "page.html", *WORDS)
    assert (done.exit_code, done.stdout) == (0, "")
    page = (tmp_path / "page.html").read_text("utf-8")
    for text in ("<h1>Loans &amp; May</h1>", "For the board.", "A. N. Other", "1 May"):
        assert text in page


def test_a_comparison_has_a_page_too(tmp_path, result):
    faithkit.results.Comparison({"one": result, "two": result}).write("both.json")
    assert run("report", "both.json", "both.html", "--title", "Both").exit_code == 0
    assert "<h1>Both</h1>" in (tmp_path / "both.html").read_text("utf-8")


def test_words_stand_on_the_page_of_a_report_without_an_origin(tmp_path):
    class Overlap(faithkit.plugin.Report):
        def sheet(self):
            return faithkit.plugin.Sheet.of("overlap", "They agree.")

    texts = {"title": "Audit", "note": "A note.", "author": "A. N. Other", "date": "1 May"}
    Overlap().write("page.html", **texts)
    page = (tmp_path / "page.html").read_text("utf-8")
    for text in ("<h1>Audit</h1>", "They agree.", "A note.", "A. N. Other", "1 May"):
        assert text in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.json", "page.html"), "none.json"),
        (("result.json", "result.json"), "result.json is read; give the page a file of its own."),
        (("result.json", "page.docx"), "no installed reporter writes .docx files"),
        (("result.json", "page.csv", "--title", "May"), "has no option 'title'"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(words, message, tmp_path):
    before = (tmp_path / "result.json").read_bytes()
    done = run("report", *words)
    assert done.exit_code == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]
    assert (tmp_path / "result.json").read_bytes() == before
