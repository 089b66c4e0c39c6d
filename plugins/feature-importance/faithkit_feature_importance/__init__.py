"""Feature importances and their discretizations (section 3.2 of the paper and its appendix)."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.hookimpl
def faithkit_explainers() -> Iterable[faithkit.Component]:
    """Provide SHAP values."""
    yield faithkit.Component(
        name="shap",
        factory="faithkit_feature_importance.shap_values:ShapExplainer",
        summary="SHAP values of tree models, exact, on the probability scale.",
        kinds=("vector",),
        inputs=("table",),
        requires=("shap",),
    )


@faithkit.hookimpl
def faithkit_discretizers() -> Iterable[faithkit.Component]:
    """Provide the paper's fixed-point discretizations."""
    rounding = "faithkit_feature_importance.fixed_point:FixedPoint"
    yield faithkit.Component(
        name="fp", factory=rounding, summary="Keep some decimals of every importance.", kinds=("vector",)
    )
    for digits in (1, 2):
        yield faithkit.Component(
            name=f"{digits}fp",
            factory=rounding,
            summary=f"Keep {digits} decimal{'s' * (digits > 1)} of each importance: the paper's {digits}-FP.",
            params={"digits": digits},
            kinds=("vector",),
        )
