"""The components of the project's other distributions, for advice on what to install.

The registry does not use this module to find components, so a wrong line can only spoil advice.
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
    """Return the distribution that provides each known name of a kind.

    >>> providers("relation")["near-explanation"], providers("relation")["in-ball"]
    ('faithkit', 'faithkit-example-based')
    """
    hook = getattr(builtins, hook_name(kind), tuple)
    kernel_names = VERBS if kind == "command" else [component.name for component in hook()]
    plugin_names = {
        name: distribution for distribution, kinds in PROVIDED.items() for name in kinds.get(kind, ())
    }
    return plugin_names | dict.fromkeys(kernel_names, KERNEL)


def pip_command(distribution: str, extra: str = "") -> str:
    """Return the command that installs one of the project's distributions, in the project's source tree.

    >>> pip_command("faithkit-paper"), pip_command("faithkit", "dask")
    ('pip install -e plugins/paper', "pip install -e '.[dask]'")
    """
    folder = "." if distribution == KERNEL else f"plugins/{distribution.removeprefix('faithkit-')}"
    return f"pip install -e '{folder}[{extra}]'" if extra else f"pip install -e {folder}"


def pip_name(module: str) -> str:
    """Return the name to install for a module, by pip's usual rule if there is no exception.

    >>> pip_name("sklearn.tree"), pip_name("dice_ml")
    ('scikit-learn', 'dice-ml')
    """
    package = module.partition(".")[0]
    return _PIP_NAMES.get(package, package.replace("_", "-"))
