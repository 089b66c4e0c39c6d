"""Parser of relations that are composed in one string, such as ``in-scope & ~same-explanation``."""

import ast
from collections.abc import Callable, Iterator

from faithkit.errors import ParameterError
from faithkit.explanations.relations import Relation
from faithkit.extension.spec import CLOSING, TOKEN

_OPERATORS = ("&", "|", "~", "(", ")")


def is_composed(text: str) -> bool:
    """Whether a text is more than the name and the parameters of one relation.

    Examples
    --------
    >>> is_composed("in-scope & ~same-explanation"), is_composed("near-explanation:tau=(1|2)")
    (True, False)
    """
    return any(token in _OPERATORS for token in _tokenize(text))


def parse_relation(text: str, build: Callable[[str], Relation]) -> Relation:
    """Parse a composed relation: ``~`` binds closest, then ``&``, then ``|``; parentheses as in Python.

    Python parses the expression, with the position of each name in place of the name.

    Parameters
    ----------
    text : str
        After parameters, put a space before ``&`` and ``|``: a value may contain either.
    build : callable
        Returns the relation of a name with its parameters.

    Examples
    --------
    >>> from faithkit import relation
    >>> str(parse_relation("~same-explanation & (near-explanation:tau=0.5 | same-explanation)", relation))
    '(~same-explanation & (near-explanation:tau=0.5 | same-explanation))'
    """
    tokens = [token.strip() for token in _tokenize(text) if token.strip()]
    places = [token if token in _OPERATORS else str(place) for place, token in enumerate(tokens)]

    def compose(node: ast.expr) -> Relation:
        match node:
            case ast.Constant(int(place)):
                return build(tokens[place])
            case ast.UnaryOp(ast.Invert(), operand):
                return ~compose(operand)
            case ast.BinOp(left, ast.BitAnd(), right):
                return compose(left) & compose(right)
            case ast.BinOp(left, ast.BitOr(), right):
                return compose(left) | compose(right)
        raise SyntaxError

    try:
        return compose(ast.parse(" ".join(places), mode="eval").body)
    except (SyntaxError, RecursionError):
        raise ParameterError(
            f"the relation {text!r:.200} cannot be read. Write names with &, | and ~ between them, as in "
            "'in-scope & ~same-explanation'."
        ) from None


def _tokenize(text: str) -> Iterator[str]:
    """Yield names with their parameters, and the operators between them."""
    name, open_brackets = "", list[str]()
    for token in TOKEN.findall(text):
        is_start = not name.strip()
        is_operator = token in "&|~" and (":" not in name or name[-1:].isspace())
        if not open_brackets and (is_operator or token == ")" or (is_start and token == "(")):
            yield name
            yield token
            name = ""
            continue
        if token in CLOSING:
            open_brackets.append(CLOSING[token])
        elif open_brackets and token == open_brackets[-1]:
            open_brackets.pop()
        name += token
    yield name
