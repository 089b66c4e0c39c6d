"""Explanations that are explicit regions of the instance space (section 3.1 of the paper)."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_explainers() -> Iterable[faithkit.plugin.Component]:
    """Provide the explainers whose explanations are rules."""
    yield from _table_explainers()
    yield from _text_explainers()


def _table_explainers() -> Iterable[faithkit.plugin.Component]:
    yield faithkit.plugin.Component(
        name="tree",
        factory="faithkit_scoped_rules.tree:TreeExplainer",
        summary="The path to the instance's leaf in a decision tree: the model itself, or a surrogate.",
        kinds=("rule",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="anchors",
        factory="faithkit_scoped_rules.anchors.tables:Anchors",
        summary="The widest rule that is precise enough on perturbed rows: anchor-exp's search, mended.",
        kinds=("rule",),
        inputs=("table",),
        requires=("anchor",),
    )
    yield faithkit.plugin.Component(
        name="empirical-anchors",
        factory="faithkit_scoped_rules.empirical:EmpiricalAnchors",
        summary="The widest rule that is precise enough on the background, found without perturbed rows.",
        kinds=("rule",),
        inputs=("table",),
    )


def _text_explainers() -> Iterable[faithkit.plugin.Component]:
    yield faithkit.plugin.Component(
        name="anchors-text",
        factory="faithkit_scoped_rules.anchors.texts:AnchorsText",
        summary="The words that fix the label while others are masked: anchor-exp's search, mended.",
        kinds=("rule",),
        inputs=("text",),
        requires=("anchor",),
    )
    yield faithkit.plugin.Component(
        name="first-word",
        factory="faithkit_scoped_rules.word_explainers:FirstWord",
        summary="The first word of the text.",
        kinds=("rule",),
        inputs=("text",),
    )
    yield faithkit.plugin.Component(
        name="all-words",
        factory="faithkit_scoped_rules.word_explainers:AllWords",
        summary="All words of the text.",
        kinds=("rule",),
        inputs=("text",),
    )
    yield faithkit.plugin.Component(
        name="top-coefficient",
        factory="faithkit_scoped_rules.word_explainers:TopCoefficient",
        summary="The word of the text with the largest coefficient in a linear model.",
        kinds=("rule",),
        inputs=("text",),
    )


@faithkit.plugin.hookimpl
def faithkit_adapters() -> Iterable[faithkit.plugin.Component]:
    """Provide the adapter of anchors from alibi."""
    yield faithkit.plugin.Component(
        name="alibi-anchors",
        factory="faithkit_scoped_rules.alibi_anchors:AlibiAnchors",
        summary="Anchors of tables and texts as rules, as alibi has them.",
        types=("alibi.api.interfaces.Explanation",),
    )
