"""Every error class is documented and raised by what it is for, and messages begin alike."""

import ast
import inspect
import re
import textwrap
from contextlib import suppress
from functools import cache
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
from looping import one_test

import faithkit
from faithkit import errors

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "errors.rst").read_text()
CLASSES = [error for _, error in inspect.getmembers(errors, inspect.isclass)]
X = np.arange(4.0).reshape(-1, 1)


def model(X):
    return X[:, 0] > 1


def explain_one_row_too_few(X):
    return faithkit.Explanations.of(["a"] * (len(X) - 1))


def fail(X):
    raise RuntimeError("no licence")


def give_too_few_predictions(_):
    faithkit.score(["yes"], ["a", "b"])


def name_unknown_estimator(_):
    faithkit.score([0, 1], ["a", "b"], estimator="leave-two-out")


def name_unknown_parameter(_):
    faithkit.score([0, 1], ["a", "b"], estimator="majority:tau=1")


def break_promise(_):
    faithkit.evaluate(model, X, explainer=explain_one_row_too_few)


def load_missing_factory(_):
    faithkit.plugin.Component(name="lost", factory="a_module_that_nobody_has:Lost", summary="Lost.").load()


def evaluate_failing_explainer(_):
    faithkit.evaluate(model, X, explainer=fail)


def store_in_a_file(folder):
    (folder / "file").write_text("")
    faithkit.evaluate(model, X, explainer=lambda X: X.tolist(), executor=f"stored:folder={folder / 'file'}")


RAISED = {
    errors.InputError: give_too_few_predictions,
    errors.UnknownComponentError: name_unknown_estimator,
    errors.ParameterError: name_unknown_parameter,
    errors.ContractError: break_promise,
    errors.PluginError: load_missing_factory,
    errors.ExplainerError: evaluate_failing_explainer,
    errors.StoreError: store_in_a_file,
}


def test_all_errors_are_faithkits_and_each_has_a_way_to_be_raised():
    classes = {error for error in CLASSES if issubclass(error, Exception)}
    assert classes - set(RAISED) == {errors.FaithkitError, errors.FaithkitWarning}
    assert all(issubclass(error, errors.FaithkitError) for error in RAISED)


@one_test
@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_the_error_is_raised_with_a_message_that_is_one_sentence_or_more(error, tmp_path):
    with pytest.raises(errors.FaithkitError) as raised:
        RAISED[error](tmp_path)
    assert type(raised.value) is error
    assert len(str(raised.value).split()) > 5


def test_the_warning_is_given():
    with pytest.warns(errors.FaithkitWarning, match="no background was given"):
        faithkit.evaluate(model, X, explainer=Learns())


class Learns:
    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        return faithkit.Explanations.of([True] * len(X))


@one_test
@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_the_error_is_documented(error):
    assert error.__doc__
    home = "faithkit" if hasattr(faithkit, error.__name__) else "faithkit.errors"
    assert f".. autoexception:: {home}.{error.__name__}\n" in PAGE


# --- after "error: " stands a small letter, unless a name begins the sentence ------------------------------------

SPEAKERS = {error.__name__ for error in CLASSES} | {"UsageError", "BadParameter", "foreign"}
NAMES = ("X ", "PyTorch ", "TorchClassifier ", "TorchRegressor ")


@cache  # and not at import: every worker would read all files, to collect one test
def read_sources():
    files = [*(ROOT / "faithkit").rglob("*.py"), *(ROOT / "plugins").glob("*/faithkit_*/**/*.py")]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files}


@cache
def find_returned(function):
    """Return the expressions that the last function of this name returns, of those that return a text."""
    heads = [(source, source.find(f"def {function}(")) for source in read_sources().values()]
    functions = [parse_function(source[source.rfind("\n", 0, at) + 1 :]) for source, at in heads if at >= 0]
    texts = [node for node in functions if isinstance(node.returns, ast.Name) and node.returns.id == "str"]
    nodes = (node for text in texts[-1:] for node in ast.walk(text))
    return [node.value for node in nodes if isinstance(node, ast.Return)]


def parse_function(source):
    """Parse the function at the beginning of some code: up to a line that is not indented deeper."""
    first, *lines = source.split("\n")
    indent = first[: len(first) - len(first.lstrip())]
    body = takewhile(lambda line: not line or line.startswith((f"{indent} ", f"{indent})")), lines)
    return ast.parse(textwrap.dedent("\n".join([first, *body]))).body[0]


def name_called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def list_beginnings(node):
    """Yield the texts that an expression may begin with, as far as they are written in it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=[first, *_]):
            yield from list_beginnings(first)
        case ast.FormattedValue(value=value):
            yield from list_beginnings(value)
        case ast.BinOp(left=left):
            yield from list_beginnings(left)
        case ast.IfExp(body=body, orelse=other):
            yield from list_beginnings(body)
            yield from list_beginnings(other)
        case ast.Call(func=ast.Attribute(value=value, attr="rstrip")):
            yield from list_beginnings(value)
        case ast.Call(args=[first, *_]) if name_called(node) == "_prose":
            yield from list_beginnings(first)
        case ast.Call():
            for value in find_returned(name_called(node)):
                yield from list_beginnings(value)


@cache
def list_messages(file):
    """Return the beginnings of the messages in a file; to parse whole files would take seconds."""
    calls = re.finditer(rf"\b({'|'.join(sorted(SPEAKERS))})\(", read_sources()[file])
    parsed = (parse_call(read_sources()[file][call.start() :]) for call in calls)
    return [text for call in parsed for argument in call.args[:1] for text in list_beginnings(argument)]


def parse_call(source):
    """Parse the call at the beginning of some code: up to the first bracket that closes it."""
    depth = 0
    for bracket in re.finditer(r"[()]", source):
        depth += 1 if bracket[0] == "(" else -1
        if depth <= 0:  # texts may have brackets of their own
            with suppress(SyntaxError):
                return ast.parse(source[: bracket.end()], mode="eval").body
    raise AssertionError(source[:100])


def test_every_message_begins_with_a_small_letter():
    pairs = [(file, text) for file in read_sources() for text in list_messages(file)]
    assert [(file, text) for file, text in pairs if text[:1].isupper() and not text.startswith(NAMES)] == []


def test_the_walk_finds_the_messages_that_are_there():
    assert sum(len(list_messages(file)) for file in read_sources()) > 150
    assert "the " in list_messages("faithkit/extension/registry.py")
    assert "no plugin of a distribution " in list_messages(
        "plugins/conformance/faithkit_conformance/check_targets.py"
    )
