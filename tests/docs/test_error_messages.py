"""Error messages begin alike: after "error: " stands a small letter, unless a name begins the sentence."""

import ast
import inspect
from functools import cache
from pathlib import Path

import faithkit
from faithkit import errors

ROOT = Path(faithkit.__file__).parents[1]
CLASSES = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
SPEAKERS = CLASSES | {"UsageError", "BadParameter", "foreign"}  # a message begins with what they are given
NAMES = ("X ", "PyTorch ", "TorchClassifier ", "TorchRegressor ")


@cache  # and not at import: every worker would parse all files, to collect one test
def trees():
    files = [*(ROOT / "faithkit").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in files}


@cache
def functions():
    """Return the functions that return a text, by their names."""
    nodes = (node for tree in trees().values() for node in ast.walk(tree))
    return {
        node.name: node
        for node in nodes
        if isinstance(node, ast.FunctionDef) and getattr(node.returns, "id", None) == "str"
    }


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
        case ast.Call() if called(node) in functions():
            for inner in ast.walk(functions()[called(node)]):
                if isinstance(inner, ast.Return):
                    yield from beginnings(inner.value)


def messages(tree):
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and called(node) in SPEAKERS)
    return [text for call in calls for given in call.args[:1] for text in beginnings(given)]


def test_every_message_begins_with_a_small_letter():
    found = [(file, text) for file, tree in trees().items() for text in messages(tree)]
    assert [pair for pair in found if pair[1][:1].isupper() and not pair[1].startswith(NAMES)] == []


def test_the_walk_finds_the_messages_that_are_there():
    assert sum(len(messages(tree)) for tree in trees().values()) > 150
    assert "the " in messages(trees()["faithkit/extension/registry.py"])
    assert "no plugin of a distribution " in messages(trees()["faithkit/testing/check_targets.py"])
