"""Advice on what to install: the components of faithkit's own plugins, and messages for unknown names.

The registry does not use this module to find components, so a wrong line can only spoil advice.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from faithkit.extension import KERNEL, builtins
from faithkit.extension.entries import Entry, PluginProblem
from faithkit.extension.entry_points import VERBS
from faithkit.extension.hookspecs import KINDS, hook_name
from faithkit.wording import did_you_mean, find_closest, join_words

LIARS = "faithkit-attacks"  # no message proposes its explainers, which lie

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
        "relation": ("near-in-top-features", "same-top-features"),
        "discretizer": ("fp", "1fp", "2fp", "sign", "rank", "sign-of-top", "sign-of-top-5", "quantile"),
        "adapter": ("shap-values", "lime-weights", "interpret-local", "torch-tensors", "torch-module"),
        "command": ("agreement",),
    },
    "faithkit-conformance": {
        "command": ("check", "new"),
    },
    "faithkit-diagnostics": {
        "diagnostic": ("reader", "deletion"),
    },
    "faithkit-executors": {
        "executor": ("processes", "dask", "stored"),
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
    LIARS: {
        "explainer": (
            "encoder",
            "flatterer",
            "parrot",
            "same-for-all",
            "cherry-picker",
            "out-of-reach",
            "label-codes",
            "cut-rules",
            "false-rules",
            "random-signs",
            "inverted-signs",
            "topic-word",
        ),
        "dataset": ("applicants",),
        "command": ("attacks",),
    },
    "faithkit-html": {
        "reporter": ("html",),
        "command": ("report",),
    },
    "faithkit-integrations": {
        "adapter": ("xgboost-booster", "lightgbm-booster", "catboost"),
        "command": ("gate",),
    },
    "faithkit-logged-reasons": {
        "adapter": ("rule-texts", "reason-codes"),
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

WRITERS: Mapping[str, str] = {".html": "faithkit-html", ".htm": "faithkit-html"}
"""The distribution that writes files of each suffix."""

_CHECKOUT = Path(__file__).parents[2]
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


def pip_command(distribution: str) -> str:
    """Return the command that installs one of the project's distributions.

    A kernel that runs from a checkout takes the others from there too.

    >>> pip_command("faithkit-paper") in (
    ...     "python -m pip install faithkit-paper",
    ...     "python -m pip install -e plugins/paper",
    ... )
    True
    """
    if not (_CHECKOUT / "plugins").is_dir():
        return f"python -m pip install {distribution}"
    folder = "." if distribution == KERNEL else f"plugins/{distribution.removeprefix('faithkit-')}"
    return f"python -m pip install -e {folder}"


def pip_name(module: str) -> str:
    """Return the name to install for a module, by pip's usual rule if there is no exception.

    >>> pip_name("sklearn.tree"), pip_name("dice_ml")
    ('scikit-learn', 'dice-ml')
    """
    package = module.partition(".")[0]
    return _PIP_NAMES.get(package, package.replace("_", "-"))


def unknown_kind_message(kind: str) -> str:
    """Return the message for a kind that does not exist.

    >>> unknown_kind_message("explainr")
    "there is no kind of component 'explainr'. Did you mean 'explainer'? The kinds are explainer, ..."
    """
    return _join_sentences(
        f"there is no kind of component {kind!r}.",
        did_you_mean(kind, KINDS),
        f"The kinds are {join_words(KINDS)}.",
    )


def ambiguous_name_message(kind: str, name: str, sharers: Sequence[Entry]) -> str:
    """Return the message for a short name that several distributions share."""
    remedy = f"Write {join_words((repr(entry.qualified) for entry in sharers), 'or')}."
    distributions = join_words(entry.distribution for entry in sharers)
    return f"the {kind} {name!r} is provided by {distributions}, so the name alone is ambiguous. {remedy}"


def unknown_name_message(
    kind: str, name: str, names: Sequence[str], entries: Sequence[Entry], broken: Sequence[PluginProblem]
) -> str:
    """Return the message for a name that no distribution provides.

    `names` are the available names of this kind, and `entries` those of all kinds. The most useful command
    comes last, without punctuation, so that it can be copied.
    """
    distributions, short_name = providers(kind), name.rpartition("/")[2]
    match = short_name if short_name in distributions else find_closest(name, [*names, *distributions])
    return _join_sentences(
        f"no {kind} {name!r} is installed.",
        f"Did you mean {match!r}?" if match and (match in names or match != short_name) else "",
        _other_kind(kind, name, entries),
        f"Available: {', '.join(names) or 'none'}.",
        "Some plugins have problems: see `faithkit plugins`." if broken else "",
        _remedy(match, distributions[match], broken) if match in distributions and match not in names else "",
    )


def unknown_suffix_message(
    path: str, suffix: str, suffixes: Mapping[str, str], broken: Sequence[PluginProblem]
) -> str:
    """Return the message for a file that no reporter writes; `suffixes` are those of the installed ones.

    >>> print(unknown_suffix_message("page.html", ".html", {}, []).partition(":")[0])
    no installed reporter writes .html files
    """
    distribution = WRITERS.get(suffix)
    problem = next((problem for problem in broken if problem.distribution == distribution), None)
    if problem is not None:
        reason = f"{distribution} is installed but has a problem: {problem.problem}. {problem.hint}"
        return f"no installed reporter writes {suffix} files: {reason}"
    if distribution is not None:
        return f"no installed reporter writes {suffix} files: {pip_command(distribution)}"
    known = join_words(f"{suffix} ({name})" for suffix, name in suffixes.items())
    if not suffix:
        return f"{path} has no ending that says its format; installed are {known}. Add one of these endings."
    question = did_you_mean(suffix, suffixes)
    return _join_sentences(f"no installed reporter writes {suffix} files; installed are {known}.", question)


def _join_sentences(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _other_kind(kind: str, name: str, entries: Sequence[Entry]) -> str:
    kinds = [other_kind for other_kind in KINDS if other_kind != kind and name in providers(other_kind)]
    kinds += [entry.kind for entry in entries if entry.component.name == name and entry.kind != kind]
    return f"{name!r} is of another kind: {join_words(dict.fromkeys(kinds))}." if kinds else ""


def _remedy(name: str, distribution: str, broken: Sequence[PluginProblem]) -> str:
    if distribution == KERNEL:
        return f"{name} is faithkit's own, but faithkit is not installed: {pip_command(KERNEL)}"
    provided = f"{name} is provided by {distribution}"
    problem = next((problem for problem in broken if problem.distribution == distribution), None)
    if problem:
        return f"{provided}, which is installed but has a problem: {problem.problem}. {problem.hint}"
    return f"{provided}: {pip_command(distribution)}"
