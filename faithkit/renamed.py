"""The one table of names that moved: whoever writes an old one is told the new one.

Nothing here is an alias. An old option or name is an error, whose message ends with the new spelling.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_GATE = (
    "an option of another command: write the result with --out result.json, then run faithkit gate "
    "result.json {}"
)

OPTIONS: Mapping[str, str] = {
    "--violations": "--contradictions K",
    "--json": "--out FILE.json, or --out - --format json for stdout",
    "--csv": "--out FILE.csv, or --out - --format csv for stdout",
    "--html": "--out FILE.html, or --out - --format html for stdout",
    "--title": "faithkit report result.json page.html --title TEXT",
    "--note": "faithkit report result.json page.html --note TEXT",
    "--author": "faithkit report result.json page.html --author TEXT",
    "--date": "faithkit report result.json page.html --date TEXT",
    "--backend": "--executor processes:workers=N, threads:workers=N, here or dask:scheduler=ADDRESS",
    "--scheduler": "--executor dask:scheduler=ADDRESS",
    "--store": "--executor stored:folder=DIR, or stored:folder=DIR,inside=processes:workers=N",
    "--row-timeout": "--executor processes:timeout=SECONDS",
    "--fail-under": _GATE.format("--fail-under MEASURE=VALUE"),
    "--fail-unless": _GATE.format("--fail-unless above-chance"),
    "--fail-unless-as-good": _GATE.format("--reference old.json --fail-unless-as-good MEASURE=MARGIN"),
    "--fail-if-worse": _GATE.format("--reference old.json --fail-if-worse MEASURE=MARGIN"),
    "--reference": _GATE.format("--reference old.json"),
    "--junit": _GATE.format("--junit FILE"),
    "--reasons": "--as 'reason-codes:claims=FILE' (of faithkit-logged-reasons)",
    "--separator": "--as 'reason-codes:claims=FILE,separator=;' (of faithkit-logged-reasons)",
    "--with": "a line of pandas or DuckDB before: predictions.merge(reasons, on='id', validate='one_to_one')",
    "score --backend": "left out: logs of any size are counted on this machine",
    "score --scheduler": "left out: logs of any size are counted on this machine",
}
"""What to write instead of an option that verbs no longer have, or one verb: then its name stands first."""

KEYWORDS: Mapping[str, str] = {
    "store": "executor='stored:folder=DIR'",
    "row_timeout": "executor='processes:timeout=SECONDS'",
}
"""What to write instead of a keyword argument of `faithkit.evaluate` and `faithkit.compare`."""

NAMES: Mapping[str, str] = {
    "Evaluation.violations": "contradictions(k)",
    "faithkit.results.Violation": "faithkit.results.Contradiction",
    "faithkit.results.Violations": "faithkit.results.Contradictions",
    "faithkit.results.Witness": "faithkit.results.SampleRow",
    "faithkit.FaithkitError": "faithkit.errors.FaithkitError",
    "faithkit.FaithkitWarning": "faithkit.errors.FaithkitWarning",
    "faithkit.Contains": "faithkit.plugin.Contains",
    "faithkit.Interval": "faithkit.plugin.Interval",
    "faithkit.NoneOf": "faithkit.plugin.NoneOf",
    "faithkit.OneOf": "faithkit.plugin.OneOf",
    "faithkit.adapt": "faithkit.plugin.adapt",
    "faithkit.testing": "faithkit_conformance",
    "faithkit.scorer": "faithkit_integrations.scorer",
    "faithkit.results.GateResult": "faithkit_integrations.GateResult",
    "Evaluation.judge": "a function: faithkit_integrations.judge(result, consistency=0.8)",
    "faithkit.parse_reasons": "faithkit_logged_reasons.parse_reasons",
    "Rule.from_text": "faithkit_logged_reasons.parse_rule",
    "faithkit.plots": "faithkit_html.plots, which faithkit-html has",
    "Result.plot": "faithkit_html.plots.measures(result), which faithkit-html has",
    "Comparison.plot": "faithkit_html.plots.systems(comparison), which faithkit-html has",
    "Report.plot": "faithkit_html.plots.draw(report), which faithkit-html has",
    "Report.to_json": 'write("result.json"); to_dict() returns the values',
    "Report.to_html": 'write("result.html"), which needs faithkit-html',
}
"""What to write instead of a name, by where it was: ``faithkit.plots``, or ``Evaluation.to_html``."""


def new_spelling(old: str) -> str | None:
    """Return the sentence that says what to write instead of an option or a dotted name.

    >>> new_spelling("--discretize") is None
    True
    """
    new = OPTIONS.get(old) or NAMES.get(old)
    return None if new is None else f"{old} is now {new}"


def with_new_spellings(module: str, import_name: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, whose error says where a name went."""

    def get_name(name: str) -> Any:
        try:
            return import_name(name)
        except AttributeError:
            new = new_spelling(f"{module}.{name}")
            if new is None:
                raise
        raise AttributeError(new)

    return get_name


def with_new_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function: the error for a keyword argument that it no longer has says what to write.

    >>> @with_new_keywords
    ... def evaluate(executor=None):
    ...     return executor
    >>> evaluate(store="runs")
    Traceback (most recent call last):
    ...
    TypeError: evaluate() got the keyword argument 'store', which is now executor='stored:folder=DIR'
    """
    parameters = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        old = next((name for name in kwargs if name in KEYWORDS and name not in parameters), None)
        if old is not None:
            raise TypeError(
                f"{function.__name__}() got the keyword argument {old!r}, which is now {KEYWORDS[old]}"
            )
        return function(*args, **kwargs)

    return call


class SaysNewNames(type):
    """The type of a class that says what a class method of it is called now."""

    def __getattr__(cls, name: str) -> Any:
        new = new_spelling(f"{cls.__name__}.{name}")
        raise AttributeError(new or f"type object {cls.__name__!r} has no attribute {name!r}")
