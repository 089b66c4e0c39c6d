"""Error messages begin alike: after "error: " stands a small letter, unless a name begins the sentence."""

import ast
import inspect
from pathlib import Path

import pytest

import faithkit
from faithkit import errors

ROOT = Path(faithkit.__file__).parents[1]
FILES = [*(ROOT / "faithkit").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
TREES = {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in FILES}
FUNCTIONS = {
    node.name: node
    for tree in TREES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or ast.Constant(None)) == "str"
}
CLASSES = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
SPEAKERS = CLASSES | {"UsageError", "BadParameter", "foreign"}  # a message begins with what they are given
NAMES = ("X ", "PyTorch ", "TorchClassifier ", "TorchRegressor ")


def called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def beginnings(node):
    """Yield the texts that an expression may begin with, as far as they are written in it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=[first, *_]):
            yield from beginnings(first)
        case ast.FormattedValue(value=value):
            yield from beginnings(value)
        case ast.BinOp(left=left):
            yield from beginnings(left)
        case ast.IfExp(body=body, orelse=other):
            yield from beginnings(body)
            yield from beginnings(other)
        case ast.Call(func=ast.Attribute(value=value, attr="rstrip")):
            yield from beginnings(value)
        case ast.Call(args=[first, *_]) if called(node) == "_prose":
            yield from beginnings(first)
        case ast.Call() if called(node) in FUNCTIONS:
            for inner in ast.walk(FUNCTIONS[called(node)]):
                if isinstance(inner, ast.Return):
                    yield from beginnings(inner.value)


def messages(tree):
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) in SPEAKERS)
    return [text for call in calls for given in call.args[:1] for text in beginnings(given)]


@pytest.mark.parametrize("file", [file for file, tree in TREES.items() if messages(tree)])
def test_a_message_begins_with_a_small_letter(file):
    large = [text for text in messages(TREES[file]) if text[:1].isupper() and not text.startswith(NAMES)]
    assert large == []


def test_the_walk_finds_the_messages_that_are_there():
    assert sum(len(messages(tree)) for tree in TREES.values()) > 150
    assert "no " in messages(TREES["faithkit/extension/registry.py"])
    assert "no plugin of a distribution " in messages(TREES["faithkit/testing/targets.py"])
