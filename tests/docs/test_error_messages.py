"""Error messages begin alike: after "error: " stands a small letter, unless a name begins the sentence."""

import ast
import inspect
import re
import textwrap
from contextlib import suppress
from functools import cache
from pathlib import Path

import faithkit
from faithkit import errors

ROOT = Path(faithkit.__file__).parents[1]
CLASSES = {name for name, _ in inspect.getmembers(errors, inspect.isclass)}
SPEAKERS = CLASSES | {"UsageError", "BadParameter", "foreign"}  # a message begins with what they are given
NAMES = ("X ", "PyTorch ", "TorchClassifier ", "TorchRegressor ")


@cache  # and not at import: every worker would read all files, to collect one test
def sources():
    files = [*(ROOT / "faithkit").rglob("*.py"), *(ROOT / "plugins").glob("*/faithkit_*/**/*.py")]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files}


@cache
def returned_by(function):
    """Return what a function returns that returns a text, of all functions of this name the last one."""
    head = re.compile(rf"^( *)def {function}\([^:]*?(?::[^:]*?)*?\) -> str:\n((?:\1 +.*\n|\n)+)", re.M)
    bodies = [match for source in sources().values() for match in head.finditer(source)]
    nodes = (node for match in bodies[-1:] for node in ast.walk(ast.parse(textwrap.dedent(match[2]))))
    return [node.value for node in nodes if isinstance(node, ast.Return)]


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
        case ast.Call():
            for value in returned_by(called(node)):
                yield from beginnings(value)


@cache
def messages(file):
    """Return the beginnings of the messages in a file; to parse whole files would take seconds."""
    calls = re.finditer(rf"\b({'|'.join(sorted(SPEAKERS))})\(", sources()[file])
    parsed = (parse_call(sources()[file][call.start() :]) for call in calls)
    return [text for call in parsed for argument in call.args[:1] for text in beginnings(argument)]


def parse_call(source):
    """Parse the call with which some code begins: up to the first bracket that closes it."""
    for end in re.finditer(r"\)", source):
        with suppress(SyntaxError):
            return ast.parse(source[: end.end()], mode="eval").body
    raise AssertionError(source[:100])


def test_every_message_begins_with_a_small_letter():
    pairs = [(file, text) for file in sources() for text in messages(file)]
    assert [(file, text) for file, text in pairs if text[:1].isupper() and not text.startswith(NAMES)] == []


def test_the_walk_finds_the_messages_that_are_there():
    assert sum(len(messages(file)) for file in sources()) > 150
    assert "the " in messages("faithkit/extension/registry.py")
    assert "no plugin of a distribution " in messages("faithkit/testing/check_targets.py")
