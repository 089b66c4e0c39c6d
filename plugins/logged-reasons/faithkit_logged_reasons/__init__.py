"""Explanations in logs for faithkit: rules in words, and reason codes."""

from collections.abc import Iterable
from typing import Any

import faithkit

FAITHKIT_API = 1

_MODULE_OF = {"parse_rule": "rule_texts", "parse_reasons": "reason_codes"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


@faithkit.plugin.hookimpl
def faithkit_adapters() -> Iterable[faithkit.plugin.Component]:
    """Provide adapters of texts: rules in words, and codes of reasons."""
    yield faithkit.plugin.Component(
        name="rule-texts",
        factory="faithkit_logged_reasons.rule_columns:RuleTexts",
        summary="Rules in words about the columns of X, such as 'age ≤ 37 and sex = Male'.",
        types=("text",),
        kinds=("rule",),
    )
    yield faithkit.plugin.Component(
        name="reason-codes",
        factory="faithkit_logged_reasons.reason_codes:ReasonCodes",
        summary="Codes of reasons, as rules: the conjunction of what the codes of a row claim.",
        types=("text",),
        kinds=("rule",),
    )
