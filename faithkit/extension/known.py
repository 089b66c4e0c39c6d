"""What the project's own distributions provide, so that a missing one can be named with its remedy.

The registry never looks here to find a component: a wrong line can only spoil advice.
"""

from collections.abc import Mapping

KERNEL = "faithkit"

VERBS = ("check", "compare", "datasets", "evaluate", "local", "plan", "plugins", "score", "show")
"""The kernel's commands. They are not components, but their names are reserved all the same."""

PROVIDED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    KERNEL: {
        "relation": ("same-explanation", "near-explanation"),
        "discretizer": ("original",),
        "estimator": ("leave-one-out", "plug-in", "majority", "verified-only"),
    },
    "faithkit-scoped-rules": {
        "explainer": (
            "tree",
            "anchors",
            "empirical-anchors",
            "anchors-text",
            "top-coefficient",
            "first-word",
            "all-words",
        ),
        "relation": ("in-scope",),
    },
    "faithkit-feature-importance": {
        "explainer": ("shap", "lime", "lime-text", "gradient"),
        "relation": ("same-top-features",),
        "discretizer": ("fp", "1fp", "2fp", "sign", "rank", "sign-of-top", "sign-of-top-5", "quantile"),
    },
    "faithkit-example-based": {
        "explainer": ("nearest-neighbor", "nearest-counterfactual", "dice"),
        "relation": ("nearest", "within", "in-ball"),
        "discretizer": ("delta", "delta-sign", "is-feature-modified"),
    },
    "faithkit-paper": {"command": ("reproduce",)},
}

_PIP_NAMES = {"anchor": "anchor-exp", "sklearn": "scikit-learn"}


def providers(kind: str) -> dict[str, str]:
    """Map every known name of a kind to the distribution that provides it.

    >>> providers("command")
    {'reproduce': 'faithkit-paper'}
    """
    return {name: distribution for distribution, kinds in PROVIDED.items() for name in kinds.get(kind, ())}


def pip_name(module: str) -> str:
    """Return what to install for a module, by pip's usual rule where nothing better is known.

    >>> pip_name("sklearn.tree"), pip_name("dice_ml")
    ('scikit-learn', 'dice-ml')
    """
    top = module.partition(".")[0]
    return _PIP_NAMES.get(top, top.replace("_", "-"))
