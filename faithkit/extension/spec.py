"""Specs: a component's name and parameters in one string, in Python and on the command line.

An example is ``"anchors:threshold=0.9,max-size=4"``. `parse_spec` reads a spec, and `format_spec` writes one.
A spec in a report can be pasted back, and means the same.
"""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from faithkit.errors import ParameterError
from faithkit.wording import one_line

_WORDS = {"true": True, "false": False, "none": None}
CLOSING = {"(": ")", "[": "]", "{": "}"}
# A quoted string is one token; a quote that is a token by itself is not closed.
TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|.""", re.DOTALL)


def parse_spec(text: str) -> tuple[str, dict[str, Any]]:
    """Parse ``"name:param=value,…"``.

    Parameters
    ----------
    text : str
        Split at the first ``:``, then at commas outside quotes and brackets, then at the first ``=``.
        A value is ``true``, ``false`` or ``none``, else a Python literal, else the text itself.
        A ``-`` in a parameter's name is read as ``_``.

    Returns
    -------
    name : str
    params : dict

    Raises
    ------
    ParameterError
        If the name is empty, a parameter has no ``=`` or comes twice, or a bracket or quote is not closed.

    Examples
    --------
    >>> parse_spec("shap")
    ('shap', {})
    >>> parse_spec("shap:background=kmeans:10,n-samples=200,columns=['age', 'sex']")
    ('shap', {'background': 'kmeans:10', 'n_samples': 200, 'columns': ['age', 'sex']})
    >>> parse_spec("anchors:0.9")
    Traceback (most recent call last):
    faithkit.errors.ParameterError: '0.9' in 'anchors:0.9' is not of the form param=value. Write for example
    'anchors:param=0.9'; `faithkit show` lists a component's parameters.
    """
    head, colon, rest = text.partition(":")
    name = head.strip()
    if not name:
        raise ParameterError(
            f"{text!r:.200} names no component. Write a name, as in 'shap' or 'shap:param=value'."
        )
    params: dict[str, Any] = {}
    for assignment in _split_assignments(rest, text) if colon else []:
        param, value = _parse_assignment(assignment, name, text)
        if param in params:
            raise ParameterError(
                f"the parameter {param!r} is given twice in {text!r:.200}. Keep one of the two."
            )
        params[param] = value
    return name, params


def format_spec(name: str, params: Mapping[str, Any]) -> str:
    """Return a name and parameters as text that `parse_spec` reads back.

    Parameters
    ----------
    name : str
    params : mapping
        The values are texts and Python literals: numbers, booleans, None; lists, tuples, sets, dicts of them.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If a value cannot be written as a literal, such as an array.

    Examples
    --------
    >>> format_spec("shap", {"background": "kmeans:10", "exact": True, "note": "a, b"})
    "shap:background=kmeans:10,exact=True,note='a, b'"
    """
    if parse_spec(name) != (name, {}):
        raise ParameterError(f"a component's name has no ':' and no outer spaces. Got {name!r} instead.")
    if not params:
        return name
    return f"{name}:{','.join(_format_assignment(param, value) for param, value in params.items())}"


def _split_assignments(params_text: str, text: str) -> list[str]:
    assignments, pending_closers = [""], list[str]()
    for token in TOKEN.findall(params_text):
        if token in CLOSING:
            pending_closers.append(CLOSING[token])
        elif token in ("'", '"') or (
            token in CLOSING.values() and (not pending_closers or pending_closers.pop() != token)
        ):
            raise _unbalanced(token, text)
        if token == "," and not pending_closers:
            assignments.append("")
        else:
            assignments[-1] += token
    if pending_closers:
        raise _unbalanced(pending_closers[-1], text)
    return assignments


def _unbalanced(token: str, text: str) -> ParameterError:
    # without repr, which would escape the quotes that the message is about
    return ParameterError(
        f"a quote or bracket is not balanced in {one_line(text)}: look for the partner of {token}. "
        'Put a value that contains only one of them in quotes, as in note="it\'s".'
    )


def _parse_assignment(assignment: str, name: str, text: str) -> tuple[str, Any]:
    param, equals, value = (field.strip() for field in assignment.partition("="))
    if not equals:
        example = f"{name}:param={param or 'value'}"
        raise ParameterError(
            f"{assignment.strip()!r} in {text!r:.200} is not of the form param=value. Write for example "
            f"{example!r}; `faithkit show` lists a component's parameters."
        )
    if not param:
        raise ParameterError(
            f"{assignment.strip()!r} in {text!r:.200} has no name before '='. Write param=value."
        )
    return param.replace("-", "_"), _parse_value(value)


def _parse_value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        # Python warns about '\d' in a literal, but this is a user's text and not source code.
        with warnings.catch_warnings(action="ignore"):
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _format_assignment(param: str, value: Any) -> str:
    # in a composition of relations, " &" and " |" would end the value
    is_plain = isinstance(value, str) and value.isprintable() and not re.search(r"\s[&|]", value)
    candidates = [value, repr(value)] if is_plain else [repr(value)]
    for text in candidates:
        if _is_read_back(f"{param}={text}", param, value):
            return f"{param}={text}"
    raise ParameterError(
        f"the parameter {param}={value!r} cannot be written as text. "
        "Use texts and Python literals (numbers, booleans, None, and lists, tuples, sets and dicts of them)."
    )


def _is_read_back(assignment: str, param: str, value: Any) -> bool:
    try:
        _, params = parse_spec(f"x:{assignment}")
    except ParameterError:
        return False
    # Types are compared because 1 == True == 1.0, and before values because == of arrays is no boolean.
    return list(params) == [param] and type(params[param]) is type(value) and bool(params[param] == value)
