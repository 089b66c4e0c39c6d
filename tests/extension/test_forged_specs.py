"""Component strings and rules that look like code: they are read as text, as data, or not at all."""

import pytest
from looping import one_test
from model_files.forging import CANARY, TOUCH

from faithkit.errors import FaithkitError
from faithkit.explanations.rules import Rule
from faithkit.extension.spec import parse_spec

CODE = [
    f"__import__('os').system('{TOUCH}')",
    f"os.system('{TOUCH}')",
    f"open('{CANARY}', 'w').write('dead')",
    f"[x for x in [open('{CANARY}', 'w').write('dead')]]",
    f"(lambda: open('{CANARY}', 'w').write('dead'))()",
    f"f\"{{open('{CANARY}', 'w').write('dead')}}\"",
    f"{{**{{open('{CANARY}', 'w'): 1}}}}",
    "().__class__.__base__.__subclasses__()",
    "10**10**10",
    "'a' * 10**12",
    "1 if __import__('os').abort() else 2",
    "{x: 1 for x in open('" + CANARY + "', 'w')}",
    "$(echo dead)",
    f"`{TOUCH}`",
]


@pytest.fixture(autouse=True)
def _canary(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / CANARY).write_text("alive")
    yield
    assert (tmp_path / CANARY).read_text() == "alive"


@one_test
@pytest.mark.parametrize("code", CODE)
def test_a_parameter_that_is_code_is_text(code):
    assert parse_spec(f"shap:a={code}") == ("shap", {"a": code})


@one_test
@pytest.mark.parametrize("code", CODE)
def test_a_name_that_is_code_is_a_name(code):
    name, *_ = parse_spec(code.replace(":", ";"))
    assert name == code.replace(":", ";")


@one_test
@pytest.mark.parametrize("code", CODE)
def test_a_rule_that_is_code_is_no_rule(code):
    with pytest.raises(FaithkitError, match="in JSON form"):
        Rule.from_json(code)
    for field in ("op", "low", "values", "tokenizer"):
        with pytest.raises(FaithkitError):
            Rule.from_json([{"op": "interval", "column": "a", field: code}])
    assert str(Rule.from_json([{"op": "interval", "column": code, "high": 1}])) == f"{code} ≤ 1"
