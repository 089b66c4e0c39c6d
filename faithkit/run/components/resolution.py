"""Components as people give them: "name:param=value,…", "module:attribute", an instance, or a function."""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from faithkit.errors import ContractError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.relations import FunctionRelation, Relation
from faithkit.extension.component import is_dotted
from faithkit.extension.registry import registry
from faithkit.extension.spec import format_spec, parse_spec
from faithkit.foreign import foreign
from faithkit.inputs.models.module_paths import import_object
from faithkit.inputs.predictions.outcome import KINDS
from faithkit.measure.estimators import FunctionEstimator
from faithkit.run.components.relation_expressions import composed, is_composed

METHOD = {
    "explainer": "explain",
    "discretizer": "discretize",
    "relation": "holds",
    "estimator": "scores",
    "diagnostic": "diagnose",
}


@attrs.frozen(eq=False)
class ResolvedComponent:
    """A component ready for use, and how it was asked for.

    `recipe` is (name, params) where it was asked for by name: a worker can rebuild it from that.
    """

    kind: str
    text: str
    instance: Any
    recipe: tuple[str, dict[str, Any]] | None = None


class FunctionExplainer:
    """A plain function ``X -> explanations``; it is fitted already."""

    learns = False
    outcomes = KINDS  # it knows what it explains

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def fit(self, predictor: Any, background: Any) -> "FunctionExplainer":
        """Return self: the function knows what it needs."""
        return self

    def explain(self, X: Any, seeds: Any) -> Any:
        """Call the function on the rows: what it returns may have any form that `score` takes."""
        return self.function(X)


class FunctionDiscretizer:
    """A plain function ``Explanations -> identities``."""

    def __init__(self, function: Callable[[Explanations], Any]) -> None:
        self.function = function

    def discretize(self, explanations: Explanations) -> Any:
        """Call the function on the explanations."""
        return self.function(explanations)


class FunctionDiagnostic:
    """A plain function ``result -> report``."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def diagnose(self, result: Any) -> Any:
        """Call the function on the result."""
        return self.function(result)


_WRAP: dict[str, Callable[[Any], Any]] = {
    "explainer": FunctionExplainer,
    "discretizer": FunctionDiscretizer,
    "relation": FunctionRelation,
    "estimator": FunctionEstimator,
    "diagnostic": FunctionDiagnostic,
}


def component(kind: str, given: Any) -> ResolvedComponent:
    """Make a component of what was given.

    Examples
    --------
    >>> component("relation", "near-explanation:tau=0.5").instance.tau
    0.5
    >>> component("estimator", "majority").text
    'majority'
    """
    who = given if type(given) is str else type(given).__name__
    with foreign(f"the {kind} {who}"):  # even to ask an object for its methods is to run its code
        return _component(kind, given)


def installed_component(kind: str, name: str) -> ResolvedComponent:
    """Make a component of a name that explanations carry or a file holds: data, which never names code.

    Examples
    --------
    >>> installed_component("discretizer", "original").text
    'original'
    >>> installed_component("discretizer", "os:system")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: the discretizer 'os:system' is code (module:attribute), and names in ...
    """
    with foreign(f"the {kind} {name}"):
        return _written(kind, name, may_import=False)


def _component(kind: str, given: Any) -> ResolvedComponent:
    if isinstance(given, ResolvedComponent):
        return given
    if isinstance(given, str):
        return _written(kind, given)
    if isinstance(given, type):
        raise InputError(f"the {kind} is the class {given.__name__}: give an instance, {given.__name__}(…).")
    if isinstance(given, Relation) and kind == "relation":
        return ResolvedComponent(kind, str(given), given)
    if callable(getattr(given, METHOD[kind], None)):
        return ResolvedComponent(kind, _text(given), _conforming(kind, given))
    if callable(given):
        return ResolvedComponent(kind, _text(given), _WRAP[kind](given))
    raise InputError(
        f"the {kind} is a {type(given).__name__}: give a name such as those of `faithkit plugins`, an object "
        f"with the method {METHOD[kind]}, or a function."
    )


def _written(kind: str, text: str, may_import: bool = True) -> ResolvedComponent:
    """Return the component that a text stands for."""
    if kind == "relation" and is_composed(text):
        made = composed(text, lambda part: _written(kind, part, may_import).instance)
        return ResolvedComponent(kind, str(made), made)
    module, _, attribute = text.partition(":")
    if is_dotted(module) and is_dotted(attribute) and module not in registry().names(kind):
        if not may_import:
            raise InputError(
                f"the {kind} {text!r} is code (module:attribute), and names in explanations and files are "
                f"looked up among installed components only: give the {kind} yourself, or install it."
            )
        return attrs.evolve(_component(kind, import_object(text)), text=text)
    name, params = parse_spec(text)
    instance = _conforming(kind, registry().create(kind, name, params))
    if kind == "relation":  # wherever it is composed into, it is asked about these kinds only
        kinds = registry().find(kind, name).component.kinds
        object.__setattr__(instance, "declared_kinds", kinds)  # its class may be frozen
    return ResolvedComponent(kind, format_spec(name, params), instance, (name, params))


def several(kind: str, given: Any) -> list[Any]:
    """Return the components that were given: one that stands alone counts as a list of one.

    Examples
    --------
    >>> several("discretizer", "original"), several("explainer", ("tree", "shap"))
    (['original'], ['tree', 'shap'])
    """
    alone = isinstance(given, str | ResolvedComponent) or callable(given) or hasattr(given, METHOD[kind])
    return [given] if alone or not isinstance(given, Iterable) else list(given)


def relation(given: str | Callable[[Any, Any], bool]) -> Relation:
    """Return an installed relation, or make one of a function; relations compose with ``&``, ``|`` and ``~``.

    Parameters
    ----------
    given : str or callable
        A name or "name:param=value,…", also several with ``&``, ``|`` and ``~`` between them;
        "module:attribute"; or a function ``(x, explanation) -> bool``: as a decorator, too.

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
    found: Relation = component("relation", given).instance
    return found


def _text(given: Any) -> str:
    return str(getattr(given, "name", None) or getattr(given, "__name__", None) or type(given).__name__)


def _conforming(kind: str, instance: Any) -> Any:
    if kind == "relation" and not isinstance(instance, Relation):
        raise InputError(
            f"the relation {_text(instance)} does not derive from faithkit.plugin.Relation, which gives it "
            "&, | and ~: derive its class, or decorate a function with @faithkit.relation."
        )
    if not callable(getattr(instance, METHOD[kind], None)):
        raise ContractError(f"the {kind} {_text(instance)} has no method {METHOD[kind]}: it needs one.")
    return instance
