"""Read the rules of fitted models of imodels and wittgenstein, without importing these libraries."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd

import faithkit

FIRST, ANY, SUM = "first", "any", "sum"
"""How rules decide: the first that applies, any that holds, or the sum of all that fire."""

Columns = Sequence[Any]
ModelRules = tuple[str, list[faithkit.Rule]]


def reader_of(model: Any) -> Callable[[Any, Columns], ModelRules]:
    """Return the reader of a model, by the name of its class or of a base class.

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
        entry = _READERS.get(base.__module__.partition(".")[0], {}).get(base.__name__)
        if entry is None:
            continue
        attribute, read_rules = entry
        if not hasattr(model, attribute):
            raise faithkit.errors.InputError(
                f"rule-model: the {type(model).__name__} has no rules: fit it first."
            )
        return read_rules
    raise faithkit.errors.InputError(_advise_on_rules(model))


def _advise_on_rules(model: Any) -> str:
    name = type(model).__name__
    if hasattr(model, "steps"):
        return advise_on_pipeline("rule-model", "rules", name)
    supported = "; ".join(f"{library}: {', '.join(names)}" for library, names in _READERS.items())
    return (
        f"rule-model explains models that are made of rules ({supported}; and what derives from these), "
        f"and the model is a {name}: use tree, which fits rules to any model."
    )


def _read_greedy_list(model: Any, columns: Columns) -> ModelRules:
    """Read imodels' greedy lists: `x ≥ cutoff` applies, or `x < cutoff` where it is flipped."""
    return FIRST, [
        _to_rule(rule, columns, math.nextafter(rule["cutoff"], -math.inf)) for rule in _conditions(model)
    ]


def _read_frugal_tree(model: Any, columns: Columns) -> ModelRules:
    """Read imodels' fast-and-frugal trees: `x > cutoff` applies, or `x ≤ cutoff` where it is flipped."""
    return FIRST, [_to_rule(rule, columns, rule["cutoff"]) for rule in _conditions(model)]


def _conditions(model: Any) -> list[dict[str, Any]]:
    """Return all conditions; the last entry has none, because it applies to all remaining rows."""
    return list(model.rules_[:-1])


def _to_rule(rule: dict[str, Any], columns: Columns, limit: float) -> faithkit.Rule:
    column = columns[int(rule["index_col"])]
    ends = {"high": limit} if rule["flip"] else {"low": limit}
    return faithkit.Rule([faithkit.plugin.Interval(column, **ends)])


def _read_bayesian_list(model: Any, columns: Columns) -> ModelRules:
    """Read imodels' Bayesian lists: columns that are 1, up to the entry that applies to all rows."""
    return FIRST, list(_read_itemsets(model.final_itemsets, columns))


def _read_itemsets(itemsets: Sequence[Any], columns: Columns) -> Iterator[faithkit.Rule]:
    for items in itemsets:
        if isinstance(items, str):  # "null"
            return
        yield faithkit.Rule([faithkit.plugin.OneOf(_find_column(item, columns), [1]) for item in items])


def _read_weighted_rules(model: Any, columns: Columns) -> ModelRules:
    """Read imodels' sums of rules, in descending order of weight; ties keep their order."""
    rules = sorted(model.rules_without_feature_names_, key=lambda rule: -abs(rule.args[0]))
    return SUM, [
        faithkit.Rule(
            _to_predicate(_find_column(name, columns), symbol, value)
            for (name, symbol), value in rule.agg_dict.items()
        )
        for rule in rules
        if rule.args[0] != 0
    ]


def _find_column(name: str, columns: Columns) -> Any:
    """Return the column that imodels calls `X_3` while it fits."""
    return columns[int(name.rpartition("_")[2])]


def _to_predicate(column: Any, symbol: str, value: str) -> Any:
    """Return a condition such as `X_3 <= 0.5`."""
    number = float(value)
    below = math.nextafter(number, -math.inf)
    if symbol == "==":
        return faithkit.plugin.OneOf(column, [number])
    ends = {"<=": {"high": number}, "<": {"high": below}, ">": {"low": number}, ">=": {"low": below}}
    return faithkit.plugin.Interval(column, **ends[symbol])


def _read_ruleset(model: Any, columns: Columns) -> ModelRules:
    """Read wittgenstein's rule sets: binned columns, and columns with few values."""
    binned = model.bin_transformer_.bins_ if model.bin_transformer_ else {}
    return ANY, [
        faithkit.Rule(
            _to_bin_predicate(cond.feature, cond.val, cond.feature in binned) for cond in rule.conds
        )
        for rule in model.ruleset_.rules
    ]


def _to_bin_predicate(column: Any, value: Any, is_bin: bool) -> Any:
    """Return a condition of wittgenstein: `2.5 - 4.0`, `<2.5` and `>4.0` are bins, closed above.

    Examples
    --------
    >>> [str(_to_bin_predicate("age", text, True)) for text in ("-2.5 - 4.0", "<2.5", ">-1e-05")]
    ['-2.5 < age ≤ 4', 'age ≤ 2.5', 'age > -1e-05']
    """
    if not is_bin:
        return faithkit.plugin.OneOf(column, [] if pd.isna(value) else [value])
    if value[0] in "<>":
        return faithkit.plugin.Interval(column, **{"high" if value[0] == "<" else "low": float(value[1:])})
    low, high = re.split(r"(?<=\d) ?- ?(?=[\d.-])", value)
    return faithkit.plugin.Interval(column, float(low), float(high))


_READERS: dict[str, dict[str, tuple[str, Callable[[Any, Columns], ModelRules]]]] = {
    "imodels": {
        "GreedyRuleListClassifier": ("rules_", _read_greedy_list),
        "FastFrugalTreeClassifier": ("rules_", _read_frugal_tree),
        "BayesianRuleListClassifier": ("final_itemsets", _read_bayesian_list),
        "RuleFit": ("rules_without_feature_names_", _read_weighted_rules),
        "SkopeRulesClassifier": ("rules_without_feature_names_", _read_weighted_rules),
    },
    "wittgenstein": {
        "RIPPER": ("ruleset_", _read_ruleset),
        "IREP": ("ruleset_", _read_ruleset),
    },
}


def advise_on_pipeline(explainer: str, parts: str, model_name: str) -> str:
    """Return the message that rejects a pipeline and says what to pass instead.

    Examples
    --------
    >>> advise_on_pipeline("ebm", "terms", "Pipeline")
    'ebm explains a model by its own terms, and those of a Pipeline are about columns that it makes ...'
    """
    return (
        f"{explainer} explains a model by its own {parts}, and those of a {model_name} are about columns "
        "that it makes first: give its last step as the model, and as rows what the steps before make of "
        "yours."
    )
