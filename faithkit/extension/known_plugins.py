"""What the project's other distributions provide, so that a missing one can be named with its remedy.

The registry never looks here to find a component: a wrong line can only spoil advice.
"""

from collections.abc import Mapping

from faithkit.extension import builtins
from faithkit.extension.hookspecs import hook_name
from faithkit.extension.plugin_sources import KERNEL
from faithkit.extension.verbs import VERBS

PROVIDED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
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
        "adapter": ("alibi-anchors",),
    },
    "faithkit-feature-importance": {
        "explainer": ("shap", "lime", "lime-text", "gradient", "patches"),
        "relation": ("same-top-features",),
        "discretizer": ("fp", "1fp", "2fp", "sign", "rank", "sign-of-top", "sign-of-top-5", "quantile"),
        "adapter": ("shap-values", "lime-weights", "interpret-local", "torch-tensors", "torch-module"),
        "command": ("agreement",),
    },
    "faithkit-diagnostics": {
        "diagnostic": ("reader", "deletion"),
    },
    "faithkit-example-based": {
        "explainer": ("nearest-neighbor", "nearest-counterfactual", "dice"),
        "relation": ("nearest", "within", "in-ball"),
        "discretizer": ("delta", "delta-sign", "is-feature-modified"),
        "adapter": ("dice-counterfactuals",),
    },
    "faithkit-glass-box": {
        "explainer": ("rule-model", "ebm"),
        "relation": ("rules-hold",),
    },
    "faithkit-attacks": {
        "explainer": (
            "encoder",
            "flatterer",
            "parrot",
            "same-for-all",
            "cherry-picker",
            "out-of-reach",
        ),
        "dataset": ("applicants",),
        "command": ("attacks",),
    },
    "faithkit-integrations": {
        "adapter": ("xgboost-booster", "lightgbm-booster", "catboost"),
    },
    "faithkit-model-files": {
        "loader": ("skops", "onnx", "pickle", "mlflow"),
    },
    "faithkit-monitor": {
        "command": ("monitor",),
    },
    "faithkit-paper": {
        "dataset": ("adult", "avila", "bank-marketing", "chess", "covtype", "heart", "rt-polarity"),
        "command": ("reproduce",),
    },
}

_PIP_NAMES = {"anchor": "anchor-exp", "mlflow": "mlflow-skinny", "sklearn": "scikit-learn"}


def providers(kind: str) -> dict[str, str]:
    """Map every known name of a kind to the distribution that provides it.

    >>> providers("relation")["near-explanation"], providers("relation")["in-ball"]
    ('faithkit', 'faithkit-example-based')
    """
    hook = getattr(builtins, hook_name(kind), tuple)
    own = VERBS if kind == "command" else [component.name for component in hook()]
    plugins = {name: project for project, kinds in PROVIDED.items() for name in kinds.get(kind, ())}
    return plugins | dict.fromkeys(own, KERNEL)


def install(distribution: str, extra: str = "") -> str:
    """Return the command that installs one of the project's distributions, in the project's source tree.

    >>> install("faithkit-paper"), install("faithkit", "dask")
    ('pip install -e plugins/paper', "pip install -e '.[dask]'")
    """
    folder = "." if distribution == KERNEL else f"plugins/{distribution.removeprefix('faithkit-')}"
    return f"pip install -e '{folder}[{extra}]'" if extra else f"pip install -e {folder}"


def pip_name(module: str) -> str:
    """Return what to install for a module, by pip's usual rule where nothing better is known.

    >>> pip_name("sklearn.tree"), pip_name("dice_ml")
    ('scikit-learn', 'dice-ml')
    """
    top = module.partition(".")[0]
    return _PIP_NAMES.get(top, top.replace("_", "-"))
