"""Parser of relations that are composed in one string, such as ``in-scope & ~same-explanation``."""

import operator
from collections.abc import Callable, Iterator
from functools import reduce

from faithkit.errors import ParameterError
from faithkit.explanations.relations import Relation
from faithkit.extension.spec import CLOSING, TOKEN

_OPERATORS = ("&", "|", "~", "(", ")")
_MAX_DEPTH = 100  # of nested parentheses and ~


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
    parser = _Parser(text, build)
    relation = parser.parse_disjunction()
    if parser.token is not None:
        raise parser.syntax_error()
    return relation


class _Parser:
    """A recursive-descent parser; `token` is the next one, None at the end."""

    def __init__(self, text: str, build: Callable[[str], Relation]) -> None:
        self._text, self._build, self._depth = text, build, 0
        self._tokens = iter([token.strip() for token in _tokenize(text) if token.strip()])
        self.token = next(self._tokens, None)

    def syntax_error(self) -> ParameterError:
        problem = (
            "ends too early" if self.token is None else f"has {self.token!r:.60} where it was not expected"
        )
        return ParameterError(
            f"the relation {self._text!r:.200} {problem}. Write names with &, | and ~ between them, as in "
            "'in-scope & ~same-explanation'."
        )

    def _skip(self, expected: str) -> bool:
        """Go past the expected token; return whether it was there."""
        if self.token != expected:
            return False
        self.token = next(self._tokens, None)
        return True

    def parse_disjunction(self) -> Relation:
        operands = [self._parse_conjunction()]
        while self._skip("|"):
            operands.append(self._parse_conjunction())
        return reduce(operator.or_, operands)

    def _parse_conjunction(self) -> Relation:
        operands = [self._parse_operand()]
        while self._skip("&"):
            operands.append(self._parse_operand())
        return reduce(operator.and_, operands)

    def _parse_operand(self) -> Relation:
        self._depth += 1
        if self._depth > _MAX_DEPTH or self.token is None or self.token in ("&", "|", ")"):
            raise self.syntax_error()
        if self._skip("~"):
            operand = ~self._parse_operand()
        elif self._skip("("):
            operand = self.parse_disjunction()
            if not self._skip(")"):
                raise self.syntax_error()
        else:
            name, self.token = self.token, next(self._tokens, None)
            operand = self._build(name)
        self._depth -= 1
        return operand


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
