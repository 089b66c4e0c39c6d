"""The notebook of the documentation: run from its first cell to its last, and each value is shown once."""

import json
import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
TOUR = DOCS / "notebooks" / "tour.ipynb"

# what each cell with something to see begins with, and as what it shows it
SHOWN = {
    "result": "text/html",
    "faithkit_html.plots.measures(result)": "image/png",
    "result.contradictions(2)": "text/html",
    "result.local(0)": "text/html",
    'result.by(loans.X["housing"][1000:1400])': "text/html",
    'faithkit.score(model.predict(test), phi, discretizer="sign")': "text/html",
    'faithkit.evaluate(prices, X[1000:1300], explainer="tree", background=X[:1000])': "text/html",
    "compared": "text/html",
    "faithkit_html.plots.systems(compared)": "image/png",
    "faithkit.plan(0.03, pilot=result)": "text/html",
    "[result.consistency, compared]": None,  # a list has no picture of its own
}


def last_line(cell):
    return cell.source.splitlines()[-1]


def is_visible(output):
    return output.output_type != "display_data" or any(output.data.values())


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name)
    sys.path.insert(0, str(DOCS / "_ext"))
    try:
        from notebook_pages import executed
    finally:
        sys.path.remove(str(DOCS / "_ext"))
    return [cell for cell in executed(TOUR).cells if cell.cell_type == "code"]


@pytest.mark.slow
def test_every_cell_shows_its_value_once_and_nothing_else(cells):
    visible = {last_line(cell): [output for output in cell.outputs if is_visible(output)] for cell in cells}
    assert [line for line, outputs in visible.items() if outputs] == list(SHOWN)
    for line, kind in SHOWN.items():
        (output,) = visible[line]  # no warning, no progress, nothing printed, and no second picture
        assert output.output_type == "execute_result"
        assert set(output.data) == {"text/plain", kind} - {None}


@pytest.mark.slow
def test_the_progress_of_a_run_has_gone_away(cells):
    shown = [output for cell in cells for output in cell.outputs if output.output_type == "display_data"]
    assert len(shown) == 4  # a line for each explainer that explains
    assert [dict(output.data) for output in shown] == [{"text/html": "", "text/plain": ""}] * 4


@pytest.mark.slow
def test_tables_have_the_numbers_of_the_sentences(cells):
    by_line = {last_line(cell): cell.outputs[-1].data for cell in cells if cell.outputs}
    result, line = by_line["result"]["text/html"], by_line["result"]["text/plain"]
    levels = re.findall(r"estimate (0\.\d{3}) \(", line)
    assert len(levels) == 2  # of consistency and of sufficiency
    assert all(f">{level}</td>" in result for level in levels)
    assert "Verdict:<" in result
    prices = by_line[next(line for line in SHOWN if "prices" in line)]["text/html"]
    assert "of the prediction's variance" in prices.replace("&#39;", "'")
    assert all(name in by_line["compared"]["text/html"] for name in ("shap · 1fp", "lime · sign"))


def test_the_file_keeps_nothing_of_an_earlier_run():
    code_cells = [
        cell for cell in json.loads(TOUR.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"
    ]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code_cells)
