"""How a component is written in one string, in Python and on the command line alike.

``"anchors:threshold=0.9,max-size=4"`` is a name and parameters. `parse_spec` reads it and `format_spec`
writes it, for reports: what a report says can be pasted back and means the same.
"""

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

from faithkit.errors import ParameterError
from faithkit.wording import one_line

_WORDS = {"true": True, "false": False, "none": None}
_LONGEST = 100_000  # characters; reading more would take minutes, and nobody wrote them
_SHOWN = 200  # characters of it in a message
CLOSING = {"(": ")", "[": "]", "{": "}"}
# A quoted string is one token; a quote that is a token by itself has no partner.
TOKEN = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|.""", re.DOTALL)


def parse_spec(text: str) -> tuple[str, dict[str, Any]]:
    """Read ``"name:param=value,…"``.

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
        If the name is empty, a piece has no ``=``, a parameter comes twice or a bracket or quote stays open.

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
    if len(text) > _LONGEST:
        raise ParameterError(
            f"{_shown(text)} has {len(text):,} characters; expected at most {_LONGEST:,} for a component."
        )
    head, colon, rest = text.partition(":")
    name = head.strip()
    if not name:
        raise ParameterError(
            f"{_shown(text)} names no component. Write a name, as in 'shap' or 'shap:param=value'."
        )
    params: dict[str, Any] = {}
    for piece in _pieces(rest, text) if colon else []:
        param, value = _assignment(piece, name, text)
        if param in params:
            raise ParameterError(
                f"the parameter {_shown(param)} is given twice in {_shown(text)}. Keep one of the two."
            )
        params[param] = value
    return name, params


def format_spec(name: str, params: Mapping[str, Any]) -> str:
    """Write a name and parameters so that `parse_spec` reads back the same.

    Parameters
    ----------
    name : str
    params : mapping
        Values are texts and Python literals: numbers, booleans, None; lists, tuples, sets, dicts of them.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If a value has no such form, an array for example.

    Examples
    --------
    >>> format_spec("shap", {"background": "kmeans:10", "exact": True, "note": "a, b"})
    "shap:background=kmeans:10,exact=True,note='a, b'"
    """
    if parse_spec(name) != (name, {}):
        raise ParameterError(f"a component's name has no ':' and no outer spaces. Got {name!r} instead.")
    if not params:
        return name
    return f"{name}:{','.join(_written(param, value) for param, value in params.items())}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def _pieces(rest: str, text: str) -> list[str]:
    pieces, awaited = [""], list[str]()
    for token in TOKEN.findall(rest):
        if token in CLOSING:
            awaited.append(CLOSING[token])
        elif token in ("'", '"') or (token in CLOSING.values() and (not awaited or awaited.pop() != token)):
            raise _unbalanced(token, text)
        if token == "," and not awaited:
            pieces.append("")
        else:
            pieces[-1] += token
    if awaited:
        raise _unbalanced(awaited[-1], text)
    return pieces


def _unbalanced(token: str, text: str) -> ParameterError:
    # repr would escape the very characters that the message is about.
    return ParameterError(
        f"a quote or bracket is not balanced in {one_line(text)}: look for the partner of {token}. "
        'A value that is meant to hold just one goes in quotes, as in note="it\'s".'
    )


def _assignment(piece: str, name: str, text: str) -> tuple[str, Any]:
    param, equals, value = (part.strip() for part in piece.partition("="))
    if not equals:
        example = f"{name}:param={param or 'value'}"
        raise ParameterError(
            f"{_shown(piece.strip())} in {_shown(text)} is not of the form param=value. Write for example "
            f"{_shown(example)}; `faithkit show` lists a component's parameters."
        )
    if not param:
        raise ParameterError(
            f"{_shown(piece.strip())} in {_shown(text)} has no name before '='. Write param=value."
        )
    return param.replace("-", "_"), _value(value)


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        # Python warns about '\d' in a literal; here it is a user's text, not somebody's source code.
        with warnings.catch_warnings(action="ignore"):
            value = ast.literal_eval(text)
        repr(value)  # a number with too many digits can be read in hexadecimal, and then not be written
        return value
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _written(param: str, value: Any) -> str:
    # in a composition of relations " &" and " |" would end the value
    is_plain = isinstance(value, str) and value.isprintable() and not re.search(r"\s[&|]", value)
    bare = [value] if is_plain else []
    for text in [*bare, repr(value)]:
        if _reads_back(f"{param}={text}", param, value):
            return f"{param}={text}"
    raise ParameterError(
        f"the parameter {param}={value!r} cannot be written as text. "
        "Use texts and Python literals (numbers, booleans, None, and lists, tuples, sets and dicts of them)."
    )


def _reads_back(piece: str, param: str, value: Any) -> bool:
    try:
        _, params = parse_spec(f"x:{piece}")
    except ParameterError:
        return False
    # The type is compared because 1 == True == 1.0, and before the values because arrays have no plain ==.
    return list(params) == [param] and type(params[param]) is type(value) and bool(params[param] == value)
