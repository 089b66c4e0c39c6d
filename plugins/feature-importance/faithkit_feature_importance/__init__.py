"""Explainers, discretizers, relations and adapters of feature importances (section 3.2 of the paper)."""

from collections.abc import Iterable
from typing import Any

import faithkit

FAITHKIT_API = 1


def __getattr__(name: str) -> Any:
    if name in ("TorchClassifier", "TorchRegressor"):
        from faithkit_feature_importance.gradients import torch_modules

        return getattr(torch_modules, name)
    if name in ("agreement", "agreements"):
        from faithkit_feature_importance.explainer_agreement import pairwise_agreement

        return getattr(pairwise_agreement, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@faithkit.plugin.hookimpl
def faithkit_explainers() -> Iterable[faithkit.plugin.Component]:
    """Provide SHAP, LIME, gradients and occlusion."""
    yield faithkit.plugin.Component(
        name="shap",
        factory="faithkit_feature_importance.shap_values.explainer:ShapExplainer",
        summary="SHAP values of scores or numbers: exact for trees and linear models, else by asking.",
        kinds=("vector",),
        inputs=("table",),
        requires=("shap",),
    )
    yield faithkit.plugin.Component(
        name="lime",
        factory="faithkit_feature_importance.lime_weights.tables:LimeExplainer",
        summary="LIME: the weights of a linear model fitted around the row, to scores or numbers.",
        kinds=("vector",),
        inputs=("table",),
        requires=("lime",),
    )
    yield faithkit.plugin.Component(
        name="lime-text",
        factory="faithkit_feature_importance.lime_weights.texts:LimeText",
        summary="LIME for texts: the words that support the prediction, as a rule or with their weights.",
        kinds=("rule", "words"),
        inputs=("text",),
        requires=("lime",),
    )
    yield faithkit.plugin.Component(
        name="gradient",
        factory="faithkit_feature_importance.gradients.explainer:GradientExplainer",
        summary="The gradient of a score or number, exact for linear models, perceptrons and PyTorch.",
        kinds=("vector",),
        inputs=("table", "image", "series"),
    )
    yield faithkit.plugin.Component(
        name="patches",
        factory="faithkit_feature_importance.patches:PatchExplainer",
        summary="How much the score drops if a patch of an image or a window of a series is hidden.",
        kinds=("vector",),
        inputs=("image", "series"),
    )


@faithkit.plugin.hookimpl
def faithkit_relations() -> Iterable[faithkit.plugin.Component]:
    """Provide the relations by which importances apply to other instances."""
    yield faithkit.plugin.Component(
        name="near-in-top-features",
        factory="faithkit_feature_importance.near_in_top_features:NearInTopFeatures",
        summary="Rows that are alike in the features that carry 80 % of the explanation.",
        kinds=("vector",),
        inputs=("table",),
    )
    yield faithkit.plugin.Component(
        name="same-top-features",
        factory="faithkit_feature_importance.same_top_features:SameTopFeatures",
        summary="Rows in the same quantile bins of the most important features.",
        kinds=("vector",),
        inputs=("table",),
    )


@faithkit.plugin.hookimpl
def faithkit_discretizers() -> Iterable[faithkit.plugin.Component]:
    """Provide the discretizers of the paper, and quantiles."""
    module, vector = "faithkit_feature_importance.discretizers", ("vector",)
    fixed_point, sign_of_top = f"{module}:FixedPoint", f"{module}:SignOfTop"
    yield faithkit.plugin.Component(
        name="fp", factory=fixed_point, summary="Keep some decimals of every importance.", kinds=vector
    )
    for digits in (1, 2):
        yield faithkit.plugin.Component(
            name=f"{digits}fp",
            factory=fixed_point,
            summary=f"Keep {digits} decimal{'s' * (digits > 1)} of each importance: the paper's {digits}-FP.",
            params={"digits": digits},
            kinds=vector,
        )
    yield faithkit.plugin.Component(
        name="sign",
        factory=f"{module}:Sign",
        summary="Keep the sign of every importance.",
        kinds=vector,
    )
    yield faithkit.plugin.Component(
        name="rank",
        factory=f"{module}:Rank",
        summary="Keep the order of the importances.",
        kinds=vector,
    )
    yield faithkit.plugin.Component(
        name="sign-of-top",
        factory=sign_of_top,
        summary="Keep the sign of the largest importances, 0 for all others.",
        kinds=vector,
    )
    yield faithkit.plugin.Component(
        name="sign-of-top-5",
        factory=sign_of_top,
        summary="Keep the sign of the five largest importances: the paper's Sign-of-top-5.",
        params={"k": 5},
        kinds=vector,
    )
    yield faithkit.plugin.Component(
        name="quantile",
        factory=f"{module}:Quantile",
        summary="Keep the quantile bin of every importance, learnt on the background.",
        kinds=vector,
    )


@faithkit.plugin.hookimpl
def faithkit_adapters() -> Iterable[faithkit.plugin.Component]:
    """Provide adapters of importances from other libraries, and of PyTorch modules as models."""
    package = "faithkit_feature_importance.adapters"
    yield faithkit.plugin.Component(
        name="shap-values",
        factory=f"{package}.shap_values:ShapValues",
        summary="SHAP values of rows or texts, from objects of shap, for the chosen class.",
        types=("shap.Explanation",),
        requires=("shap",),
    )
    yield faithkit.plugin.Component(
        name="lime-weights",
        factory=f"{package}.lime_weights:LimeWeights",
        summary="LIME weights of rows or texts, from objects of lime, for the chosen class.",
        types=("lime.explanation.Explanation",),
        requires=("lime",),
    )
    yield faithkit.plugin.Component(
        name="interpret-local",
        factory=f"{package}.interpret_local:InterpretLocal",
        summary="Local explanations of InterpretML: the scores of terms, without the intercept.",
        types=("interpret.api.templates.FeatureValueExplanation",),
        requires=("interpret",),
    )
    yield faithkit.plugin.Component(
        name="torch-tensors",
        factory=f"{package}.tensors:Tensors",
        summary="Attributions as PyTorch tensors, such as Captum's: one number for each feature.",
        types=("torch.Tensor",),
        requires=("torch",),
    )
    yield faithkit.plugin.Component(
        name="torch-module",
        factory="faithkit_feature_importance.gradients.torch_modules:TorchModule",
        summary="A PyTorch module as a model: its outputs are logits of classes, or numbers.",
        types=("torch.Module",),
        requires=("torch",),
    )
