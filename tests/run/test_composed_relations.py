"""Relations composed in one string, and components of a module that is named: as Python would have them."""

import numpy as np
import pytest
from click.testing import CliRunner
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.extension.spec import format_spec
from faithkit.run.components.resolution import resolve_component

PREDICTIONS = [1, 0, 1, 1, 0, 0]
VECTORS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.3], [0.9, 0.0], [0.0, 1.0]])
near, same = faithkit.relation("near-explanation:tau=0.8"), faithkit.relation("same-explanation")
COMPOSED = {
    "near-explanation:tau=0.8 & ~same-explanation": near & ~same,
    "~same-explanation&near-explanation:tau=0.8": ~same & near,
    "same-explanation | near-explanation:tau=0.8 & ~same-explanation": same | (near & ~same),
    "(same-explanation | near-explanation:tau=0.8) & ~same-explanation": (same | near) & ~same,
    "~~same-explanation": ~~same,
    "~(same-explanation | ~near-explanation:tau=0.8)": ~(same | ~near),
    " ( near-explanation:tau=0.8 ) ": near,
}


@one_test
@pytest.mark.parametrize("text", COMPOSED)
def test_a_composition_measures_what_its_parts_composed_in_python_do(text):
    as_text, in_python = (
        faithkit.score(PREDICTIONS, VECTORS, relation=relation).sufficiency
        for relation in (text, COMPOSED[text])
    )
    assert as_text == in_python


@one_test
@pytest.mark.parametrize("text", COMPOSED)
def test_what_a_result_calls_a_composition_can_be_given_back(text):
    name = str(faithkit.relation(text))
    assert str(faithkit.relation(name)) == name


@one_test
@pytest.mark.parametrize(
    "text",
    [
        "same-explanation &",
        "& same-explanation",
        "(same-explanation",
        "same-explanation)",
        "same-explanation ~same-explanation",
        "(same-explanation) same-explanation",
        "()",
        "~",
    ],
)
def test_a_composition_that_cannot_be_read_is_refused_in_one_line(text):
    with pytest.raises(
        faithkit.errors.ParameterError, match=r"cannot be read\. Write names with &, \| and ~"
    ):
        faithkit.relation(text)


def test_a_misspelt_name_in_a_composition_is_named():
    with pytest.raises(
        faithkit.errors.FaithkitError, match=r"no relation 'smae-explanation' is installed\. Did you"
    ):
        faithkit.relation("same-explanation & smae-explanation")


def test_a_value_that_holds_an_operator_is_written_in_quotes():
    assert format_spec("acme", {"words": "a | b"}) == "acme:words='a | b'"
    assert format_spec("acme", {"words": "a|b"}) == "acme:words=a|b"


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Work in a folder with a module of the user."""
    (tmp_path / "house_rules.py").write_text(
        "import faithkit\n"
        "@faithkit.relation\ndef older(x, e):\n    return x['age'] >= e\n"
        "def age(X):\n    return [int(age) // 10 * 10 for age in X['age']]\n"
    )
    (tmp_path / "log.csv").write_text("age,reason,label\n31,30,no\n38,30,no\n45,40,yes\n52,40,yes\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_relation_of_a_module_is_taken_on_the_command_line(house):
    words = "score log.csv --prediction label --explanation reason --features age --out - --format json --relation"
    run = CliRunner().invoke(main, [*words.split(), "house_rules:older & ~same-explanation"])
    assert run.exit_code == 0, run.output
    assert '"relation": "(older & ~same-explanation)"' in run.output


def test_any_kind_of_component_may_stand_in_a_module(house):
    component = resolve_component("explainer", "house_rules:age")
    assert (component.text, component.recipe) == ("house_rules:age", None)
    with pytest.raises(faithkit.errors.InputError, match=r"'house_rules' has no 'ages'\. Did you mean 'age'"):
        resolve_component("explainer", "house_rules:ages")
    with pytest.raises(faithkit.errors.InputError, match="importing the module 'huose' failed"):
        resolve_component("relation", "huose:older")


class SameLength(faithkit.plugin.Relation):
    """Equality of keys, in which a missing text has the key of an empty one."""

    groups, name = True, "same-length"

    def key(self, explanations):
        return np.array([len(text or "") for text in explanations.values])

    def holds(self, sample, explanations):
        return self.key(explanations)[:, None] == self.key(sample.explanations)


def test_a_relation_that_groups_holds_for_no_row_without_an_explanation_however_it_is_composed():
    explanations = faithkit.Explanations.of(["", "", None, "a"])
    relation = SameLength()
    for composition in (relation, relation | relation, relation & relation, ~~relation):
        result = faithkit.score(["x", "y", "x", "x"], explanations, relation=composition)
        # the first two rows share an explanation and disagree; each other row is alone
        tally = result.evidence.tallies["sufficiency"]
        assert tally.counts.sum(axis=1).max() == 2
        assert result.sufficiency.value == 0
