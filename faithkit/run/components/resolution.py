"""Resolution of components from "name:param=value,…", "module:attribute", an instance, or a function.

Relations may also be composed in one text, such as ``in-scope & ~same-explanation``.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import attrs

from faithkit.errors import ContractError, InputError, ParameterError
from faithkit.explanations.relations import FunctionRelation, Relation
from faithkit.extension.component import is_dotted
from faithkit.extension.registry import registry
from faithkit.extension.spec import CLOSING, TOKEN, format_spec, parse_spec
from faithkit.inputs.models.model_loading import import_object
from faithkit.inputs.predictions.outcome import KINDS
from faithkit.measure.estimators import FunctionEstimator

METHOD = {
    "explainer": "explain",
    "discretizer": "discretize",
    "relation": "holds",
    "estimator": "scores",
    "diagnostic": "diagnose",
    "executor": "run",
}


@attrs.frozen(eq=False)
class ResolvedComponent:
    """A component ready for use, and the text that names it.

    `recipe` is (name, params) if the user gave a name: a worker can rebuild the component from it.
    """

    kind: str
    text: str
    instance: Any
    recipe: tuple[str, dict[str, Any]] | None = None


class FunctionExplainer:
    """A plain function ``X -> explanations``, which needs no fitting."""

    learns = False
    outcomes = KINDS  # the function may explain any of them

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def fit(self, predictor: Any, background: Any) -> "FunctionExplainer":
        """Return self: there is nothing to fit."""
        return self

    def explain(self, X: Any, seeds: Any) -> Any:
        """Call the function on the rows; it may return any form that `score` accepts."""
        return self.function(X)


class FunctionComponent:
    """A plain function that is the only method of a discretizer, a diagnostic or an executor."""

    def __init__(self, method: str, function: Callable[..., Any]) -> None:
        self.function = function
        setattr(self, method, function)


_WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "explainer": FunctionExplainer,
    "discretizer": partial(FunctionComponent, "discretize"),
    "relation": FunctionRelation,
    "estimator": FunctionEstimator,
    "diagnostic": partial(FunctionComponent, "diagnose"),
    "executor": partial(FunctionComponent, "run"),
}


def resolve_component(kind: str, user_input: Any) -> ResolvedComponent:
    """Resolve a name, an instance or a function to a component.

    Examples
    --------
    >>> resolve_component("relation", "near-explanation:tau=0.5").instance.tau
    0.5
    >>> resolve_component("estimator", "majority").text
    'majority'
    """
    if isinstance(user_input, ResolvedComponent):
        return user_input
    if isinstance(user_input, str):
        return _resolve_text(kind, user_input)
    if isinstance(user_input, type):
        name = user_input.__name__
        raise InputError(f"the {kind} is the class {name}: give an instance, {name}(…).")
    if isinstance(user_input, Relation) and kind == "relation":
        return ResolvedComponent(kind, str(user_input), user_input)
    if callable(getattr(user_input, METHOD[kind], None)):
        return ResolvedComponent(kind, component_name(user_input), _check_contract(kind, user_input))
    if callable(user_input):
        return ResolvedComponent(kind, component_name(user_input), _WRAPPERS[kind](user_input))
    raise InputError(
        f"the {kind} is a {type(user_input).__name__}: give a name such as those of `faithkit plugins`, an "
        f"object with the method {METHOD[kind]}, or a function."
    )


def resolve_installed_component(kind: str, name: str) -> ResolvedComponent:
    """Return the installed component of a name that comes from data: explanations or a file.

    Such a name is never imported as code.

    Examples
    --------
    >>> resolve_installed_component("discretizer", "original").text
    'original'
    >>> resolve_installed_component("discretizer", "os:system")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the discretizer 'os:system' is code (module:attribute), and names in ...
    """
    return _resolve_text(kind, name, may_import=False)


def _resolve_text(kind: str, text: str, may_import: bool = True) -> ResolvedComponent:
    """Resolve a text to a component."""
    if kind == "relation" and _is_composed(text):
        composition = _parse_relation(text, lambda name: _resolve_text(kind, name, may_import).instance)
        return ResolvedComponent(kind, str(composition), composition)
    module, _, attribute = text.partition(":")
    if is_dotted(module) and is_dotted(attribute) and module not in registry().names(kind):
        if not may_import:
            raise InputError(
                f"the {kind} {text!r} is code (module:attribute), and names in explanations and files are "
                f"looked up among installed components only: give the {kind} yourself, or install it."
            )
        return attrs.evolve(resolve_component(kind, import_object(text)), text=text)
    name, params = parse_spec(text)
    instance = _check_contract(kind, registry().create(kind, name, params))
    if kind == "relation":  # also inside a composition, it is asked about these kinds only
        kinds = registry().find(kind, name).component.kinds
        object.__setattr__(instance, "declared_kinds", kinds)  # its class may be frozen
    return ResolvedComponent(kind, format_spec(name, params), instance, (name, params))


def as_list(kind: str, user_input: Any) -> list[Any]:
    """Return several components as a list; a single component becomes a list of one.

    Examples
    --------
    >>> as_list("discretizer", "original"), as_list("explainer", ("tree", "shap"))
    (['original'], ['tree', 'shap'])
    """
    is_single = isinstance(user_input, str | ResolvedComponent) or callable(user_input)
    is_single = is_single or hasattr(user_input, METHOD[kind])
    return [user_input] if is_single or not isinstance(user_input, Iterable) else list(user_input)


def relation(definition: str | Callable[[Any, Any], bool]) -> Relation:
    """Return an installed relation, or build one from a function.

    Relations compose with ``&``, ``|`` and ``~``.

    Parameters
    ----------
    definition : str or callable
        A name or "name:param=value,…", also several with ``&``, ``|`` and ``~`` between them;
        "module:attribute"; or a function ``(x, explanation) -> bool``, for which it is a decorator.

    Returns
    -------
    Relation

    Examples
    --------
    >>> import faithkit
    >>> @faithkit.relation
    ... def mentioned(text, word):
    ...     return word in text.split()
    >>> strangers = mentioned & ~faithkit.relation("same-explanation")
    >>> str(strangers)
    '(mentioned & ~same-explanation)'
    >>> str(faithkit.relation("in-scope & ~same-explanation"))
    '(in-scope & ~same-explanation)'
    >>> result = faithkit.score([1, 0, 1], ["good", "film", "good"], X=["good film", "a film", "good"])
    >>> round(result.measure(mentioned).value, 2), result.measure(strangers).verified
    (0.67, 0.3333333333333333)
    """
    resolved: Relation = resolve_component("relation", definition).instance
    return resolved


def component_name(instance: Any) -> str:
    """Return the name that an object has, or else the name of its class."""
    name = getattr(instance, "name", None) or getattr(instance, "__name__", None)
    return str(name or type(instance).__name__)


def _check_contract(kind: str, instance: Any) -> Any:
    if kind == "relation" and not isinstance(instance, Relation):
        raise InputError(
            f"the relation {component_name(instance)} does not derive from faithkit.plugin.Relation, which "
            "gives it &, | and ~: derive its class, or decorate a function with @faithkit.relation."
        )
    if not callable(getattr(instance, METHOD[kind], None)):
        raise ContractError(
            f"the {kind} {component_name(instance)} has no method {METHOD[kind]}: it needs one."
        )
    return instance


# --- composed relations -----------------------------------------------------------------------------------

_OPERATORS = ("&", "|", "~", "(", ")")


def _is_composed(text: str) -> bool:
    """Whether a text is more than the name and the parameters of one relation."""
    return any(token in _OPERATORS for token in _tokenize(text))


def _parse_relation(text: str, build: Callable[[str], Relation]) -> Relation:
    """Parse a composed relation: ``~`` binds closest, then ``&``, then ``|``; parentheses as in Python.

    Python parses the expression, with the position of each name in place of the name. `build` returns the
    relation of a name with its parameters. After parameters, a space stands before ``&`` and ``|``, since a
    value may contain either.
    """
    tokens = [token.strip() for token in _tokenize(text) if token.strip()]
    positions = [token if token in _OPERATORS else str(position) for position, token in enumerate(tokens)]

    def compose(node: ast.expr) -> Relation:
        match node:
            case ast.Constant(int(position)):
                return build(tokens[position])
            case ast.UnaryOp(ast.Invert(), operand):
                return ~compose(operand)
            case ast.BinOp(left, ast.BitAnd(), right):
                return compose(left) & compose(right)
            case ast.BinOp(left, ast.BitOr(), right):
                return compose(left) | compose(right)
        raise SyntaxError

    try:
        return compose(ast.parse(" ".join(positions), mode="eval").body)
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
