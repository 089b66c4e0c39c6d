"""Options: each has one plain sentence under one heading, and arrives where its verb passes it on to."""

import inspect
import re
from importlib import import_module

import click
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.cli.shared.options import input_options
from faithkit.cli.shared.verb import HEADINGS
from faithkit.extension.entry_points import VERBS
from faithkit.inputs.evaluation_inputs import prepare

COMMANDS = {
    entry.component.name: entry.component.load()
    for entry in faithkit.plugin.registry().entries("command")
    if entry.distribution.startswith("faithkit")
}
OPTIONS = [
    (verb, option)
    for verb, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]

# how a help text may begin: it tells what the program will do
IMPERATIVE = re.compile(
    "(Allow|Assume|Bound|Call|Check|Compare|Count|Evaluate|Exit|Explain|Fail|Fit|Give|Hide|Keep|Let|List|Load|Measure|Name|"
    "Plan|Predict|Print|Read|Repeat|Run|Say|Show|Shuffle|Start|Stop|Take|Tally|Treat|Trust|Use|Weight|Write) "
)


def read_help(option):
    """Return the help of an option without what stands in brackets after it."""
    return re.sub(r"  \[.*\]$", "", option.help)


def test_the_help_of_an_option_is_made_of_sentences():
    texts = {f"{verb} {option.opts[0]}": read_help(option) for verb, option in OPTIONS}
    assert {name: text for name, text in texts.items() if not text.endswith(".")} == {}
    assert {name: text for name, text in texts.items() if not IMPERATIVE.match(text)} == {}


MEASURING = ("evaluate", "score", "compare", "local", "plan")
GROUPS = ("Data", "Model", "Explainer", "Measure", "Checks and gates", "Running", "Output")
SENTENCE_END = re.compile(r"[.!?] +[A-Z`-]")


def read_sections(verb):
    """Return the flags that the printed help lists, by the heading above them."""
    lines = CliRunner().invoke(main, [verb, "--help"], terminal_width=100).stdout.splitlines()
    heading, flags = "", {}
    for line in lines:
        if re.fullmatch(r"[A-Z][a-z ]*:", line):
            heading = line.rstrip(":")
            assert heading not in flags
            flags[heading] = []
        elif line.startswith("  -"):
            flags[heading] += re.findall(r"--[a-z-]+", line.split("  ")[1])
    return flags


@one_test
@pytest.mark.parametrize("verb", MEASURING)
def test_every_option_of_a_measuring_verb_is_under_exactly_one_heading(verb):
    result = read_sections(verb)
    assert set(result) <= set(GROUPS)
    assert list(result) == [heading for heading in GROUPS if heading in result]
    flags = [flag for listed in result.values() for flag in listed]
    options = [option for option in COMMANDS[verb].params if isinstance(option, click.Option)]
    assert sorted(flags) == sorted([*(option.opts[0] for option in options), "--help"])


def test_evaluate_has_all_headings_and_options_that_belong_together_are_together():
    result = read_sections("evaluate")
    assert tuple(result) == GROUPS
    assert set(result["Model"]) == {"--model", "--trust-pickle", "--trust-types", "--classes"}
    assert set(result["Explainer"]) == {"--explainer", "--background"}
    assert {"--out", "--format", "--debug", "--help"} <= set(result["Output"])
    assert {"--executor", "--n-jobs", "--on-error", "--seed"} == set(result["Running"])


@one_test
@pytest.mark.parametrize("verb", MEASURING)
def test_the_help_of_an_option_of_a_measuring_verb_is_one_sentence(verb):
    texts = {option.opts[0]: read_help(option) for named, option in OPTIONS if named == verb}
    assert {flag: text for flag, text in texts.items() if SENTENCE_END.search(text)} == {}
    assert len(set(texts.values())) == len(texts)


def test_a_verb_of_a_plugin_lists_its_own_options_first():
    result = read_sections("agreement")
    assert next(iter(result)) == "Options"
    assert list(result)[1:] == [heading for heading in HEADINGS[1:] if heading in result]


def test_all_gates_are_together():
    assert read_sections("gate")["Checks and gates"] == [
        *("--reference", "--fail-under", "--fail-unless", "--fail-unless-as-good", "--fail-if-worse")
    ]


@one_test
@pytest.mark.parametrize("verb", ["evaluate", "score"])
@pytest.mark.parametrize(
    "option",
    ["--fail-under", "--fail-unless", "--fail-unless-as-good", "--fail-if-worse", "--reference", "--junit"],
)
def test_an_option_that_went_to_the_gate_says_the_two_commands(verb, option):
    done = CliRunner().invoke(main, [verb, "log.csv", option, "consistency=0.8"])
    assert done.exit_code == 2
    message = (
        f"{option} is now an option of another command: write the result with --out result.json, then run"
    )
    assert f"{message} faithkit gate result.json " in done.stderr
    assert f" {option} " in done.stderr.partition("faithkit gate")[2]


def test_a_plugin_puts_options_under_the_same_headings_as_the_kernel():
    kernel, plugin = read_sections("evaluate"), read_sections("monitor")
    assert list(plugin) == ["Data", "Measure", "Checks and gates", "Running", "Output"]
    shared = {name for names in kernel.values() for name in names}
    for heading, names in plugin.items():
        assert set(names) & shared <= set(kernel[heading])


def test_a_verb_with_few_options_has_no_other_heading():
    assert read_sections("show") == {"Options": ["--json", "--debug", "--help"]}


@one_test
@pytest.mark.parametrize("verb", COMMANDS)
def test_the_help_of_a_verb_begins_with_what_it_does(verb):
    first = COMMANDS[verb].help.partition("\n\n")[0]
    assert first.endswith(".")
    assert IMPERATIVE.match(first)


# what a verb passes its options on to, beside those that its own signature names
PASSED_ON = {
    "evaluate": faithkit.evaluate,
    "local": faithkit.evaluate,
    "compare": faithkit.compare,
    "score": faithkit.score,
}


def parameters_of(function):
    """Return the names of what a function takes; `compare` takes what `evaluate` does."""
    names = set(inspect.signature(function).parameters)
    return names | set(inspect.signature(faithkit.evaluate).parameters) if "options" in names else names


@one_test
@pytest.mark.parametrize("verb", PASSED_ON)
def test_every_option_arrives(verb, monkeypatch):
    """Call a verb's function with all its options, and look at what is left for the function behind it."""
    command = COMMANDS[verb]
    values = {param.name: object() for param in command.params if param.expose_value}
    module, left = import_module(f"faithkit.cli.{verb}"), {}
    named = inspect.signature(inspect.unwrap(command.callback)).parameters

    def catch(options):
        left.update(options)
        raise StopIteration

    monkeypatch.setattr(module, "check_components", catch)
    with pytest.raises(StopIteration):
        command.callback(**values)
    assert left
    assert set(left) <= parameters_of(PASSED_ON[verb])
    assert not set(left) & set(named)


def test_all_that_loads_is_taken_by_what_prepares():
    command = click.command(input_options(lambda inputs: None))
    names = {param.name for param in command.params}
    assert names == set(inspect.signature(prepare).parameters) - {"by", "id", "outcome"}


def test_every_verb_has_its_file():
    for verb in VERBS:
        assert isinstance(import_module(f"faithkit.cli.{verb}").command, click.Command)


def test_a_heading_that_a_plugin_invents_comes_last():
    @faithkit.plugin.report_command
    @faithkit.plugin.option("--hue NAME", "Colours", "Use this colour.")
    def paint(deliver, hue):
        deliver(hue)

    lines = CliRunner().invoke(paint, ["--help"]).output.splitlines()
    assert [line for line in lines if line in ("Output:", "Colours:")] == ["Output:", "Colours:"]
