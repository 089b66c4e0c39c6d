"""The ending of a file finds its reporter, and what a reporter returns is written whole or not at all."""

import csv
import io
import json
from importlib.metadata import EntryPoint

import pytest
from looping import one_test
from pages import json_of

import faithkit
from faithkit.errors import ContractError, InputError, ParameterError, PluginError, UnknownComponentError
from faithkit.extension import known_plugins
from faithkit.extension.registry import Registry
from faithkit.report import writing
from faithkit.report.reporters import Csv

PLUGIN = """
import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_reporters():
    for name, factory, kind in [
        ("upper", "Upper", ".up"), ("bytes", "Bytes", ".bin"), ("number", "Number", ".num"), ("failing", "Failing", ".bad")
    ]:
        yield faithkit.plugin.Component(
            name=name, factory=f"{__name__}:{factory}", summary="…", types=(kind,)
        )


class Upper:
    def write(self, report, *, ending="!"):
        return str(report).upper() + ending


class Bytes:
    def write(self, report):
        return bytes([0, 255])


class Number:
    def write(self, report):
        return 7


class Failing:
    def write(self, report):
        raise ZeroDivisionError("by nothing")
"""


@pytest.fixture
def result():
    return faithkit.score(["yes", "yes", "no"], ["a", "a", "b"])


@pytest.fixture
def loud(tmp_path, monkeypatch):
    """A plugin with four reporters."""
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "loud_reporters.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(folder)
    with faithkit.plugin.registry().with_plugin("loud_reporters"):
        yield


def use_kernel_alone(monkeypatch):
    kernel = EntryPoint("kernel", "faithkit.extension.builtins", "faithkit")
    monkeypatch.setattr(writing, "registry", lambda: Registry(entry_points=[kernel]))


def test_json_has_the_values_and_is_loaded_again(result, tmp_path):
    result.write(tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text("utf-8")) == result.to_dict()
    assert faithkit.load(tmp_path / "result.json").consistency == result.consistency


def test_text_is_what_is_printed_and_all_of_it_on_request(result, tmp_path):
    result.write(tmp_path / "short.txt")
    result.write(tmp_path / "long.TXT", verbose=True)
    assert (tmp_path / "short.txt").read_text("utf-8") == f"{result}\n"
    assert (tmp_path / "long.TXT").read_text("utf-8") == f"{result.to_text(verbose=True)}\n"


def test_csv_has_a_row_for_each_measure_with_its_name_and_both_ends_of_its_bracket(result, tmp_path):
    result.write(tmp_path / "measures.csv")
    (row,) = csv.DictReader(io.StringIO((tmp_path / "measures.csv").read_text("utf-8")))
    assert (row["measure"], float(row["value"])) == ("consistency", 2 / 3)
    ends = float(row["bracket_low"]), float(row["bracket_high"])
    assert ends == pytest.approx(result.consistency.bracket)
    assert "bracket" not in row


def test_a_table_that_was_written_is_still_whole():
    class Pairs(faithkit.plugin.Report):
        def to_frame(self):
            return frame

    frame = faithkit.score(["yes", "no"], ["a", "a"]).to_frame()
    columns = list(frame.columns)
    Csv().write(Pairs())
    assert list(frame.columns) == columns


def test_equal_results_are_written_as_equal_bytes(result, tmp_path):
    for name in ("a.json", "b.json"):
        result.write(tmp_path / name)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.usefixtures("loud")
def test_a_plugins_reporter_writes_its_files_with_its_options(result, tmp_path):
    result.write(tmp_path / "a.up")
    result.write(tmp_path / "b.UP", ending="?")
    result.write(tmp_path / "c.bin")
    assert (tmp_path / "a.up").read_text("utf-8") == f"{str(result).upper()}!"
    assert (tmp_path / "b.UP").read_text("utf-8").endswith("?")
    assert (tmp_path / "c.bin").read_bytes() == b"\x00\xff"


@pytest.mark.usefixtures("loud")
def test_a_reporter_that_fails_writes_nothing_and_is_named(result, tmp_path):
    (tmp_path / "a.bad").write_text("old")
    with pytest.raises(PluginError, match=r"the reporter 'failing' of .* failed with ZeroDivisionError"):
        result.write(tmp_path / "a.bad")
    with pytest.raises(ContractError, match=r"'number' of .* must return text or bytes\. Got int instead"):
        result.write(tmp_path / "a.num")
    assert (tmp_path / "a.bad").read_text() == "old"
    assert not (tmp_path / "a.num").exists()


def test_an_option_that_a_reporter_does_not_have_is_named_with_those_that_it_has(result, tmp_path):
    with pytest.raises(ParameterError, match=r"no option 'verbos'\. Did you mean 'verbose'\?"):
        result.write(tmp_path / "a.txt", verbos=True)
    with pytest.raises(ParameterError, match=r"'json' of faithkit has no option 'title'\. It has none\."):
        result.write(tmp_path / "a.json", title="May")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_reporter_is_named_with_the_command_that_installs_it(result, tmp_path, monkeypatch):
    use_kernel_alone(monkeypatch)
    command = known_plugins.pip_command("faithkit-html")
    with pytest.raises(UnknownComponentError) as error:
        result.write(tmp_path / "page.html")
    assert str(error.value) == f"no installed reporter writes .html files: {command}"


@one_test
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r.docx", r"writes \.docx files; installed are \.csv \(csv\), .* and \.txt \(text\)\.$"),
        ("r.jsn", r"Did you mean '\.json'\?"),
        ("result", r"result has no ending that says its format; .* Add one of these endings\.$"),
    ],
)
def test_an_ending_that_nobody_writes_gets_those_that_are_installed(name, message, result):
    with pytest.raises(UnknownComponentError, match=message):
        result.write(name)


def test_two_reporters_of_one_ending_are_both_named(result, tmp_path, monkeypatch):
    for name in ("one_loud", "two_loud"):
        (tmp_path / f"{name}.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    registry = faithkit.plugin.registry()
    message = "would be written by one-loud/upper and two-loud/upper"
    with (
        registry.with_plugin("one_loud"),
        registry.with_plugin("two_loud"),
        pytest.raises(InputError, match=message),
    ):
        result.write(tmp_path / "a.up")


def test_a_report_without_a_table_cannot_be_csv(tmp_path):
    plan = faithkit.plan(0.1, n_explanations=30)
    with pytest.raises(InputError, match="a Plan has no table for CSV, since it lacks the method to_frame"):
        writing.write_report(plan, tmp_path / "plan.csv")
    assert json.loads(json_of(plan)) == plan.to_dict()


def test_without_a_reporter_of_pages_a_notebook_shows_the_text(result, monkeypatch):
    assert result._repr_html_().startswith("<div ")
    use_kernel_alone(monkeypatch)
    assert result._repr_html_() is None
    assert result.consistency._repr_html_() is None


def test_what_reports_were_written_with_says_what_to_write_instead(result):
    with pytest.raises(AttributeError, match=r'^Report\.to_json is now write\("result\.json"\)'):
        result.to_json("result.json")
    with pytest.raises(AttributeError, match=r'^Report\.to_html is now write\("result\.html"\)'):
        result.to_html()


@one_test
@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda result: result.plot(), r"^Result\.plot is now faithkit_html\.plots\.measures\(result\)"),
        (lambda result: faithkit.plots, r"^faithkit\.plots is now faithkit_html\.plots"),
        (
            lambda result: faithkit.results.Comparison({"one": result}).plot(),
            r"^Comparison\.plot is now faithkit_html\.plots\.systems\(comparison\)",
        ),
        (
            lambda result: faithkit.plugin.Report().plot(),
            r"^Report\.plot is now faithkit_html\.plots\.draw\(report\)",
        ),
    ],
)
def test_what_drew_says_what_draws_now(use, message, result):
    with pytest.raises(AttributeError, match=message):
        use(result)
