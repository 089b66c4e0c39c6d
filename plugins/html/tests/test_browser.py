"""The report in a real browser: what a person sees, on a wide screen and on a telephone, by day and by night."""

import functools
import http.server
import threading

import chromium
import numpy as np
import pandas as pd
import pytest
from faithkit_monitor import Monitor
from looping import one_test
from report.examples import CELL, GROUP, LABEL, SCRIPT, evaluate_hostile

import faithkit
from faithkit.run.comparisons.comparison import Comparison

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.EXECUTABLE is None, reason="there is no chromium"),
    pytest.mark.xdist_group("browser"),  # which starts once
]


PLOTS = {"monitor.html": 1, "findings.html": 5, "comparison.html": 5}


@pytest.fixture(scope="module")
def tab():
    with chromium.tab() as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    evaluate_hostile().write(folder / "findings.html")
    labels = ["yes", "no"] * 30
    systems = {SCRIPT: faithkit.score(labels, labels), "constant": faithkit.score(labels, ["same"] * 60)}
    Comparison(systems).write(folder / "comparison.html")
    monitor = Monitor.create(folder / "state", labels * 20, labels * 20)
    monitor = monitor.add(labels, labels, name=SCRIPT).add(labels * 5, labels[::-1] * 5, name="x" * 200)
    assert monitor.alarm is not None
    monitor.write(folder / "monitor.html")
    for name, result in {
        "weights": score_weights(),
        "words": score_words(),
        "images": score_images(),
    }.items():
        result.write(folder / f"{name}.html")
    return folder


def score_weights():
    """Weights of hostile and long names, for a hostile class."""
    names = [SCRIPT, "x" * 200, *map(str, range(10))]
    shared = {"names": names, "class": LABEL}
    explanations = faithkit.Explanations.vectors([np.arange(-6.0, 6.0)] * 2, shared=shared)
    return faithkit.score([LABEL, "no"], explanations, X=pd.DataFrame(np.eye(12)[:2], columns=names))


def score_words():
    words = ((SCRIPT, 0.5), ("y" * 200, -0.5))
    explanations = faithkit.Explanations.of([words] * 2, kind="words", shared={"class": "pos"})
    return faithkit.score(["pos", "neg"], explanations, X=[f"{SCRIPT} {'y' * 200}", CELL])


def score_images():
    shared = {"names": ["[0:4, 0:4]", "[4:8, 4:8]"], "class": "seven"}
    explanations = faithkit.Explanations.vectors([[1.0, -1.0]] * 2, shared=shared)
    return faithkit.score(["seven", "one"], explanations, X=np.random.default_rng(0).random((2, 8, 8)))


@pytest.fixture(params=["findings", "comparison", "monitor", "weights", "words", "images"])
def url(request, pages):
    return (pages / f"{request.param}.html").as_uri()


@one_test
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens_in_silence(tab, url, width, scheme):
    tab.open(url, width, scheme)
    assert tab.complaints() == []
    assert [request for request in tab.requests() if not request.startswith("data:image/png")] == [url]


@one_test
@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_page_itself_never_scrolls_sideways(tab, url, width):
    tab.open(url, width)
    tab.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert tab.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_wide_table_scrolls_in_its_own_box(tab, pages):
    tab.open((pages / "findings.html").as_uri(), 390)
    assert tab.run("[...document.querySelectorAll('.scroll')].some(box => box.scrollWidth > box.clientWidth)")


def test_served_over_http_it_asks_for_nothing_but_itself(tab, pages):
    paths = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            paths.append(self.path)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=pages))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        tab.open(f"http://127.0.0.1:{server.server_port}/findings.html")
        assert tab.complaints() == []
        assert paths == ["/findings.html"]
    finally:
        server.shutdown()
        server.server_close()


def test_plots_are_drawn_and_readable(tab, url):
    tab.open(url, 390)
    tab.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    boxes = tab.run("[...document.querySelectorAll('svg')].map(one => one.getBoundingClientRect().toJSON())")
    assert len(boxes) >= PLOTS.get(url.rsplit("/")[-1], 4)
    assert all(box["width"] > 250 and box["height"] > 60 for box in boxes)
    letters = tab.run(
        "[...document.querySelectorAll('svg text')].map(one => one.getBoundingClientRect().height)"
    )
    assert min(letters) >= 9


def test_no_text_of_a_plot_is_cut_off(tab, url):
    tab.open(url)
    tab.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    outside = tab.run(
        """[...document.querySelectorAll('svg text')].filter(text => {
             const inner = text.getBoundingClientRect();
             const outer = text.ownerSVGElement.getBoundingClientRect();
             return inner.left < outer.left - 1 || inner.right > outer.right + 1;
           }).map(text => text.textContent)"""
    )
    assert outside == []


def test_plots_follow_the_colour_scheme(tab, url):
    colours = []
    for scheme in ("light", "dark"):
        tab.open(url, scheme=scheme)
        colours.append(
            tab.run(
                """[getComputedStyle(document.body).backgroundColor,
                    getComputedStyle(document.querySelector('svg text')).fill,
                    getComputedStyle(document.querySelector('svg path[style*="(--blue)"]')).stroke]"""
            )
        )
    light, dark = colours
    assert all(by_day != by_night for by_day, by_night in zip(light, dark, strict=True))
    for paper, *marks in colours:
        assert all(measure_contrast(paper, mark) >= 3 for mark in marks)  # what WCAG asks of graphics


def measure_contrast(*colours):
    """Return WCAG's contrast ratio of two colours "rgb(r, g, b)"."""
    dim, bright = sorted(map(_luminance, colours))
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour):
    shares = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@one_test
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_words_can_be_read(tab, url, scheme):
    tab.open(url, scheme=scheme)
    worst = tab.run(
        """[...document.querySelectorAll('main *')].filter(one => one.checkVisibility() &&
             [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())).map(one => {
             let back = one;
             while (back && getComputedStyle(back).backgroundColor === 'rgba(0, 0, 0, 0)') back = back.parentElement;
             const style = getComputedStyle(one);
             return [getComputedStyle(back || document.body).backgroundColor,
                     one instanceof SVGElement ? style.fill : style.color];
           })"""
    )
    assert min(measure_contrast(*pair) for pair in {tuple(pair) for pair in worst}) >= 4.5


def test_hostile_names_are_shown_as_text(tab, pages):
    tab.open((pages / "findings.html").as_uri())
    assert tab.run("document.title").startswith(SCRIPT)
    assert tab.run("document.querySelectorAll('main script, img, main b:not([title])').length") == 0
    shown = tab.run("document.body.innerText")
    for text in (SCRIPT, CELL, GROUP):
        assert text in shown
    drawn = tab.run("[...document.querySelectorAll('svg text')].map(one => one.textContent)")
    assert any(text.startswith("</text></svg>") for text in drawn)


def test_hostile_names_of_weights_and_words_are_shown_as_text(tab, pages):
    for name in ("weights", "words"):
        tab.open((pages / f"{name}.html").as_uri())
        assert tab.run("document.querySelectorAll('main script, img, main b').length") == 0
        assert SCRIPT in tab.run("document.body.innerText")


def test_pictures_of_rows_are_loaded_from_the_page_itself(tab, pages):
    tab.open((pages / "images.html").as_uri())
    assert tab.run("[...document.images].map(one => one.complete && one.naturalWidth)") == [192, 192]


def test_details_are_open_on_paper(tab, pages):
    tab.open((pages / "comparison.html").as_uri())
    folded = "document.querySelector('section > details p').getBoundingClientRect().height"
    tab.ask("Emulation.setEmulatedMedia", media="print")
    printed = tab.run(folded)
    tab.ask("Emulation.setEmulatedMedia", media="")
    assert printed > 0


@one_test
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_a_notebook_shows_is_in_its_own_colours_and_runs_nothing(tab, tmp_path, scheme):
    result = evaluate_hostile()
    values = (result, result.result.contradictions(), result.result.local(0), result.result.by(GROUP))
    style = "<meta charset='utf-8'><style>:root { color-scheme: light dark; color: rgb(1, 2, 3) }</style>"
    (tmp_path / "cell.html").write_text(style + "".join(value._repr_html_() for value in values), "utf-8")
    url = (tmp_path / "cell.html").as_uri()
    tab.open(url, scheme=scheme)
    assert (tab.complaints(), tab.requests()) == ([], [url])
    assert tab.run("document.title") != "hacked"
    colours = "[...document.querySelectorAll('p, th, td')].map(one => getComputedStyle(one).color)"
    assert set(tab.run(colours)) == {"rgb(1, 2, 3)"}


@pytest.fixture
def read_column(tab, tmp_path):
    """Return a function that reads the shown cells of a column of the table of explanations."""
    labels = ["yes"] * 5 + ["yes", "yes", "no", "no"] + ["no"] + ["no", "yes"]
    reasons = ["Pure"] * 5 + ["split"] * 4 + ["alone"] + ["torn"] * 2
    faithkit.score(labels, reasons).write(tmp_path / "page.html")
    tab.open((tmp_path / "page.html").as_uri())

    def read(column=0):
        return tab.run(
            f"""[...document.querySelectorAll('.explore tbody tr')].filter(row => row.checkVisibility())
                .map(row => row.cells[{column}].textContent)"""
        )

    return read


def test_explanations_are_sorted_by_any_column_and_dashes_come_last(tab, read_column):
    # of 12 rows, "split" loses 4 · 2/3 and "torn" 2
    assert read_column() == ["split", "torn", "Pure", "alone"]
    head = "document.querySelectorAll('.explore thead th')[{}]"
    orders = {3: ["Pure", "split", "torn", "alone"], 1: ["Pure", "split", "torn", "alone"]}
    for column, order in orders.items():
        tab.run(head.format(column) + ".querySelector('button').click()")
        assert read_column() == order
        assert tab.run(head.format(column) + ".getAttribute('aria-sort')") == "descending"
    tab.run(head.format(3) + ".querySelector('button').click()")
    tab.run(head.format(3) + ".querySelector('button').click()")
    assert read_column() == ["torn", "split", "Pure", "alone"]
    tab.run(head.format(0) + ".querySelector('button').click()")
    assert read_column() == ["alone", "Pure", "split", "torn"]
    assert tab.run("document.querySelectorAll('[aria-sort]').length") == 1
    assert tab.complaints() == []


def test_explanations_are_found_by_keyboard_and_counted(tab, read_column):
    tab.run("document.querySelector('.controls input').focus()")
    tab.ask("Input.insertText", text="PURE yes")
    assert read_column() == ["Pure"]
    assert tab.run("document.querySelector('output').textContent") == "1 of 4 explanations"
    tab.run("document.querySelector('.controls input').select()")
    tab.ask("Input.insertText", text=" ")
    for kind in ("keyDown", "keyUp"):
        tab.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
    for kind in ("keyDown", "keyUp"):
        tab.ask(
            "Input.dispatchKeyEvent", type=kind, key=" ", code="Space", windowsVirtualKeyCode=32, text=" "
        )
    assert read_column() == ["split", "torn"]


def test_without_a_script_it_is_a_plain_table_without_dead_controls(tab, read_column, tmp_path):
    tab.ask("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open((tmp_path / "page.html").as_uri())
        assert read_column() == ["split", "torn", "Pure", "alone"]
        assert tab.run("document.querySelectorAll('button, input').length") == 0
    finally:
        tab.ask("Emulation.setScriptExecutionDisabled", value=False)


def test_a_script_that_is_not_ours_does_not_run(tab, read_column, tmp_path):
    text = (tmp_path / "page.html").read_text("utf-8")
    (tmp_path / "page.html").write_text(text.replace("</main>", f"</main>{SCRIPT}"), "utf-8")
    tab.open((tmp_path / "page.html").as_uri())
    assert tab.run("document.title") != "hacked"
    assert len(read_column()) == 4
