"""The rules of fitted models, as their libraries keep them; none is imported, for the model is there."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

import faithkit
from faithkit_glass_box.pipelines import advise_on_pipeline

FIRST, ANY, SUM = "first", "any", "sum"
"""How rules decide: the first that applies, one that holds, or all that fire, added up."""

Columns = Sequence[Any]
LogReading = tuple[str, list[faithkit.Rule]]


def reader_of(model: Any) -> Callable[[Any, Columns], LogReading]:
    """Find out how to read a model, by the name of its class or of one that it derives from.

    Raises
    ------
    InputError
        If it is not made of rules, or has none yet.

    Examples
    --------
    >>> reader_of(3)
    Traceback (most recent call last):
    faithkit.errors.InputError: rule-model explains models that are made of rules (imodels: ...
    """
    for base in type(model).__mro__:
        found = _READERS.get(base.__module__.partition(".")[0], {}).get(base.__name__)
        if found is None:
            continue
        attribute, read = found
        if not hasattr(model, attribute):
            raise faithkit.errors.InputError(
                f"rule-model: the {type(model).__name__} has no rules: fit it first."
            )
        return read
    raise faithkit.errors.InputError(_advise_on_rules(model))


def _advise_on_rules(model: Any) -> str:
    name = type(model).__name__
    if hasattr(model, "steps"):
        return advise_on_pipeline("rule-model", "rules", name)
    known = "; ".join(f"{library}: {', '.join(names)}" for library, names in _READERS.items())
    return (
        f"rule-model explains models that are made of rules ({known}; and what derives from these), and the "
        f"model is a {name}: use tree, which fits rules to any model."
    )


def _greedy(model: Any, columns: Columns) -> LogReading:
    """Read imodels' greedy lists: `x ≥ cutoff` applies, or `x < cutoff` where it is flipped."""
    return FIRST, [_side(rule, columns, math.nextafter(rule["cutoff"], -math.inf)) for rule in _asked(model)]


def _frugal(model: Any, columns: Columns) -> LogReading:
    """Read imodels' fast-and-frugal trees: `x > cutoff` applies, or `x ≤ cutoff` where it is flipped."""
    return FIRST, [_side(rule, columns, rule["cutoff"]) for rule in _asked(model)]


def _asked(model: Any) -> list[dict[str, Any]]:
    """Return all questions; the last entry has none, for it takes what is left."""
    return list(model.rules_[:-1])


def _side(rule: dict[str, Any], columns: Columns, limit: float) -> faithkit.Rule:
    column = columns[int(rule["index_col"])]
    ends = {"high": limit} if rule["flip"] else {"low": limit}
    return faithkit.Rule([faithkit.Interval(column, **ends)])


def _bayesian(model: Any, columns: Columns) -> LogReading:
    """Read imodels' Bayesian lists: columns that are 1, up to the entry that takes all."""
    return FIRST, list(_itemsets(model.final_itemsets, columns))


def _itemsets(itemsets: Sequence[Any], columns: Columns) -> Iterator[faithkit.Rule]:
    for items in itemsets:
        if isinstance(items, str):  # "null"
            return
        yield faithkit.Rule([faithkit.OneOf(_placed(item, columns), [1]) for item in items])


def _weighted(model: Any, columns: Columns) -> LogReading:
    """Read imodels' sums of rules, from the largest weight on; of equals the first stays the first."""
    rules = sorted(model.rules_without_feature_names_, key=lambda rule: -abs(rule.args[0]))
    return SUM, [
        faithkit.Rule(
            _compared(_placed(name, columns), symbol, value)
            for (name, symbol), value in rule.agg_dict.items()
        )
        for rule in rules
        if rule.args[0] != 0
    ]


def _placed(name: str, columns: Columns) -> Any:
    """Return the column that imodels calls `X_3` while it fits."""
    return columns[int(name.rpartition("_")[2])]


def _compared(column: Any, symbol: str, value: str) -> Any:
    """Return a condition such as `X_3 <= 0.5`."""
    number = float(value)
    below = math.nextafter(number, -math.inf)
    if symbol == "==":
        return faithkit.OneOf(column, [number])
    ends = {"<=": {"high": number}, "<": {"high": below}, ">": {"low": number}, ">=": {"low": below}}
    return faithkit.Interval(column, **ends[symbol])


def _ruleset(model: Any, columns: Columns) -> LogReading:
    """Read wittgenstein's rule sets: columns that were cut into bins, and columns with few values."""
    binned = model.bin_transformer_.bins_ if model.bin_transformer_ else {}
    return ANY, [
        faithkit.Rule(_equal(cond.feature, cond.val, cond.feature in binned) for cond in rule.conds)
        for rule in model.ruleset_.rules
    ]


def _equal(column: Any, value: Any, is_bin: bool) -> Any:
    """Return a condition of wittgenstein: `2.5 - 4.0`, `<2.5` and `>4.0` are bins, closed above.

    Examples
    --------
    >>> [str(_equal("age", text, True)) for text in ("-2.5 - 4.0", "<2.5", ">-1e-05")]
    ['-2.5 < age ≤ 4', 'age ≤ 2.5', 'age > -1e-05']
    """
    if not is_bin:
        return faithkit.OneOf(column, [] if pd.isna(value) else [value])
    if value[0] in "<>":
        return faithkit.Interval(column, **{"high" if value[0] == "<" else "low": float(value[1:])})
    low, high = re.split(r"(?<=\d) ?- ?(?=[\d.-])", value)
    return faithkit.Interval(column, float(low), float(high))


_READERS: dict[str, dict[str, tuple[str, Callable[[Any, Columns], LogReading]]]] = {
    "imodels": {
        "GreedyRuleListClassifier": ("rules_", _greedy),
        "FastFrugalTreeClassifier": ("rules_", _frugal),
        "BayesianRuleListClassifier": ("final_itemsets", _bayesian),
        "RuleFit": ("rules_without_feature_names_", _weighted),
        "SkopeRulesClassifier": ("rules_without_feature_names_", _weighted),
    },
    "wittgenstein": {
        "RIPPER": ("ruleset_", _ruleset),
        "IREP": ("ruleset_", _ruleset),
    },
}
