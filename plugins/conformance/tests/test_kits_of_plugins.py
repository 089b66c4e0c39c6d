"""A plugin gives the kit what it needs to be tried on, and says what is known to fail."""

import sys
from types import ModuleType

import numpy as np
import pytest
from faithkit_conformance import Kit, check_command, run_checks
from looping import one_test

import faithkit

KIND = "sentence"


class FirstWord(faithkit.plugin.Relation):
    """The instance begins with the explanation's first word."""

    name = "first-word"

    def key(self, explanations):
        return np.array([text.split()[0] if text else None for text in explanations.values], dtype=object)

    def holds(self, sample, explanations):
        begins = [text.split()[0] for text in sample.instances("first-word")]
        return np.array([[first == word for first in begins] for word in self.key(explanations)], dtype=bool)


class Stubborn(FirstWord):
    """It takes any parameter."""

    def __init__(self, **options):
        pass


def make_plugin(monkeypatch, factory, kit):
    """Make a module that offers one relation of a new kind, and gives a kit."""
    module = ModuleType("plugin_with_a_kit")

    @faithkit.plugin.hookimpl
    def faithkit_relations():
        where = f"{__name__}:{factory.__name__}"
        yield faithkit.plugin.Component(name="mine", factory=where, summary="Mine.", kinds=(KIND,))

    module.FAITHKIT_API, module.faithkit_relations = 1, faithkit_relations
    if kit is not None:
        module.FAITHKIT_KIT = "plugin_with_a_kit:kit"
        module.kit = kit
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return module


def make_sample():
    texts = ["good film", "good cast", "dull film", "dull end", "good end"]
    return faithkit.plugin.Sample(texts, faithkit.Explanations.of(texts, kind=KIND))


def test_a_relation_of_a_new_kind_is_tried_on_what_its_plugin_gives(monkeypatch):
    without = run_checks(make_plugin(monkeypatch, FirstWord, None))
    assert any("no explanations of kind sentence to try it on" in why for why in without.skipped.values())
    assert check_command._summary([without]) == (
        f"{len(without.passed)} checks, all passed, {len(without.skipped)} not tried (-v says why)"
    )
    report = run_checks(make_plugin(monkeypatch, FirstWord, lambda: Kit(samples={"reviews": make_sample()})))
    assert report.failed == {}
    assert len(report.passed) > len(without.passed)
    assert not any("to try it on" in why for why in report.skipped.values())


def test_an_announced_failure_is_reported_with_its_reason_and_is_a_failure_if_it_passes(monkeypatch):
    refusal = {"mine-unknown_parameter_is_refused": "It has too many to name."}
    announced = refusal | {"summary_is_one_line": "It has two."}
    report = run_checks(make_plugin(monkeypatch, Stubborn, lambda: Kit(expected_failures=announced)))
    assert report.expected == refusal
    assert list(report.failed) == ["mine-summary_is_one_line"]
    assert report.failed["mine-summary_is_one_line"].startswith(
        "mine: it is expected to fail, and passes. Take it out of the kit's"
    )
    assert "1 failed as expected" in str(report)


@one_test
@pytest.mark.parametrize(
    ("kit", "words"),
    [
        (
            lambda: Kit(expected_failures={"unknown_parameter": "…"}),
            "there is no check 'unknown_parameter' to",
        ),
        (lambda: {}, "FAITHKIT_KIT of plugin_with_a_kit gave a dict: expected a faithkit_conformance.Kit"),
        (lambda: 1 / 0, "FAITHKIT_KIT of plugin_with_a_kit failed with ZeroDivisionError"),
    ],
)
def test_an_invalid_kit_is_refused_in_one_line(kit, words, monkeypatch):
    with pytest.raises(faithkit.errors.FaithkitError, match=words):
        run_checks(make_plugin(monkeypatch, FirstWord, kit))
