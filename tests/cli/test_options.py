"""Options: their help is made of plain sentences, and each arrives where its verb passes it on to."""

import inspect
import re
from importlib import import_module

import click
import pytest

import faithkit
from faithkit.cli.shared.options import loading
from faithkit.extension.verbs import VERBS
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
    "(Check|Compare|Evaluate|Exit|Explain|Give|Keep|Let|List|Load|Measure|Name|Plan|Predict|Print|Read|Repeat|"
    "Say|Show|Shuffle|Start|Stop|Take|Tally|Use|Write) "
)


def test_the_help_of_an_option_is_made_of_sentences():
    told = {f"{verb} {one.opts[0]}": re.sub(r"  \[.*\]$", "", one.help) for verb, one in OPTIONS}
    assert {name: text for name, text in told.items() if not text.endswith(".")} == {}
    assert {name: text for name, text in told.items() if not IMPERATIVE.match(text)} == {}


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


def accepted(function):
    """Return the names of what a function takes; `compare` takes what `evaluate` does."""
    names = set(inspect.signature(function).parameters)
    return names | set(inspect.signature(faithkit.evaluate).parameters) if "options" in names else names


@pytest.mark.parametrize("verb", PASSED_ON)
def test_every_option_arrives(verb, monkeypatch):
    """Call a verb's function with all its options, and look at what is left for the function behind it."""
    command = COMMANDS[verb]
    given = {param.name: object() for param in command.params if param.expose_value}
    module, left = import_module(f"faithkit.cli.{verb}"), {}
    named = inspect.signature(inspect.unwrap(command.callback)).parameters

    def catch(options):
        left.update(options)
        raise StopIteration

    monkeypatch.setattr(module, "begin", catch)
    with pytest.raises(StopIteration):
        command.callback(**given)
    assert left
    assert set(left) <= accepted(PASSED_ON[verb])
    assert not set(left) & set(named)


def test_all_that_loads_is_taken_by_what_prepares():
    command = click.command(loading(lambda loading: None))
    names = {param.name for param in command.params}
    assert names == set(inspect.signature(prepare).parameters) - {"by", "id", "outcome"}


def test_every_verb_has_its_file():
    for verb in VERBS:
        assert isinstance(import_module(f"faithkit.cli.{verb}").command, click.Command)
