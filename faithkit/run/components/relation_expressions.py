"""Relations that are composed in one string: ``in-scope & ~same-explanation``, as Python would read it."""

import operator
from collections.abc import Callable, Iterator
from functools import reduce

from faithkit.errors import ParameterError
from faithkit.explanations.relations import Relation
from faithkit.extension.spec import CLOSING, TOKEN

_BETWEEN = ("&", "|", "~", "(", ")")
_DEEPEST = 100  # parentheses and ~, one in another


def is_composed(text: str) -> bool:
    """Whether a text has more in it than the name and the parameters of one relation.

    Examples
    --------
    >>> is_composed("in-scope & ~same-explanation"), is_composed("near-explanation:tau=(1|2)")
    (True, False)
    """
    return any(part in _BETWEEN for part in _parts(text))


def composed(text: str, make: Callable[[str], Relation]) -> Relation:
    """Read a composition: ``~`` binds closest, then ``&``, then ``|``; parentheses as usual.

    Parameters
    ----------
    text : str
        After parameters, a space goes before ``&`` and ``|``: a value may hold either.
    make : callable
        Gives the relation that a name with its parameters stands for.

    Examples
    --------
    >>> from faithkit import relation
    >>> str(composed("~same-explanation & (near-explanation:tau=0.5 | same-explanation)", relation))
    '(~same-explanation & (near-explanation:tau=0.5 | same-explanation))'
    """
    reader = _Reader(text, make)
    found = reader.either()
    if reader.next is not None:
        raise reader.refusal()
    return found


class _Reader:
    """What is left of a text, part by part."""

    def __init__(self, text: str, make: Callable[[str], Relation]) -> None:
        self._text, self._make, self._depth = text, make, 0
        self._parts = iter([part.strip() for part in _parts(text) if part.strip()])
        self.next = next(self._parts, None)

    def refusal(self) -> ParameterError:
        found = "ends too early" if self.next is None else f"has {self.next!r:.60} where it was not expected"
        return ParameterError(
            f"the relation {self._text!r:.200} {found}. Write names with &, | and ~ between them, as in "
            "'in-scope & ~same-explanation'."
        )

    def _take(self, wanted: str) -> bool:
        if self.next != wanted:
            return False
        self.next = next(self._parts, None)
        return True

    def either(self) -> Relation:
        found = [self._all()]
        while self._take("|"):
            found.append(self._all())
        return reduce(operator.or_, found)

    def _all(self) -> Relation:
        found = [self._one()]
        while self._take("&"):
            found.append(self._one())
        return reduce(operator.and_, found)

    def _one(self) -> Relation:
        self._depth += 1
        if self._depth > _DEEPEST or self.next is None or self.next in ("&", "|", ")"):
            raise self.refusal()
        if self._take("~"):
            found = ~self._one()
        elif self._take("("):
            found = self.either()
            if not self._take(")"):
                raise self.refusal()
        else:
            name, self.next = self.next, next(self._parts, None)
            found = self._make(name)
        self._depth -= 1
        return found


def _parts(text: str) -> Iterator[str]:
    """Yield names with their parameters, and what stands between them."""
    name, awaited = "", list[str]()
    for token in TOKEN.findall(text):
        begins = not name.strip()
        between = token in "&|~" and (":" not in name or name[-1:].isspace())
        if not awaited and (between or token == ")" or (begins and token == "(")):
            yield name
            yield token
            name = ""
            continue
        if token in CLOSING:
            awaited.append(CLOSING[token])
        elif awaited and token == awaited[-1]:
            awaited.pop()
        name += token
    yield name
