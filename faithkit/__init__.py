"""faithkit measures whether explanations of predictions tell the truth about the model.

This is the whole public API, flat. Names are imported when first used, so that `import faithkit`
(and with it every plugin's module, and `faithkit --help`) costs next to nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOME = {
    # what a person calls
    "evaluate": "faithkit.run.api",
    "score": "faithkit.run.api",
    "compare": "faithkit.run.api",
    "plan": "faithkit.run.api",
    "adapt": "faithkit.inputs.objects.forms",
    "load": "faithkit.run.loading",
    "try_discretizers": "faithkit.run.discretizations",
    "scorer": "faithkit.run.scorer",
    # what comes back
    "Evaluation": "faithkit.run.evaluation",
    "Estimate": "faithkit.measure.estimate",
    "Moments": "faithkit.measure.inference",
    "Others": "faithkit.measure.others",
    "Subgroups": "faithkit.run.subgroups",
    "LocalResult": "faithkit.measure.witnesses",
    "Local": "faithkit.measure.instance",
    "Violation": "faithkit.measure.witnesses",
    "Violations": "faithkit.measure.witnesses",
    "Witness": "faithkit.measure.witnesses",
    "RowId": "faithkit.measure.witnesses",
    "Predicted": "faithkit.measure.predicted",
    "Comparison": "faithkit.run.comparison",
    "Pair": "faithkit.run.comparison",
    "Difference": "faithkit.measure.difference",
    "Mean": "faithkit.measure.mean",
    "Judgement": "faithkit.run.judging",
    "PilotPlan": "faithkit.measure.planning",
    "Plan": "faithkit.measure.planning",
    "RangePlan": "faithkit.measure.planning",
    # what a plugin is made of
    "Component": "faithkit.extension.component",
    "hookimpl": "faithkit.extension.hookspecs",
    "registry": "faithkit.extension.registry",
    "About": "faithkit.inputs.objects.adapters",
    "Explanations": "faithkit.measure.explanations",
    "Sample": "faithkit.measure.explanations",
    "Explainer": "faithkit.measure.protocols",
    "Discretizer": "faithkit.measure.protocols",
    "Estimator": "faithkit.measure.protocols",
    "Diagnostic": "faithkit.measure.protocols",
    "ExplainedRows": "faithkit.run.diagnoses",
    "content_words": "faithkit.measure.content_words",
    "Relation": "faithkit.measure.relations",
    "relation": "faithkit.run.components",
    "Tally": "faithkit.measure.tally",
    "Rule": "faithkit.measure.rules",
    "Interval": "faithkit.measure.predicates",
    "NoneOf": "faithkit.measure.predicates",
    "OneOf": "faithkit.measure.predicates",
    "Contains": "faithkit.measure.predicates",
    "pack_bits": "faithkit.measure.bitsets",
    "count_labels": "faithkit.measure.bitsets",
    "scope_bits": "faithkit.measure.rules",
    "tokens": "faithkit.measure.predicates",
    "Predictor": "faithkit.inputs.models.predictor",
    "Tolerance": "faithkit.inputs.predictions.tolerance",
    "Encoder": "faithkit.inputs.encoder",
    "load_dataset": "faithkit.inputs.datasets",
    "load_model": "faithkit.inputs.models.loading",
    "dataset_names": "faithkit.inputs.datasets",
    "whole_number": "faithkit.measure.arguments",
    "n_rows": "faithkit.measure.containers",
    "take_rows": "faithkit.measure.containers",
    "row_seeds": "faithkit.inputs.seeds",
    "global_seed": "faithkit.inputs.randomness",
    "rows_done": "faithkit.run.explaining.progress",
    "RowCounts": "faithkit.run.row_counts",
    "count_rows": "faithkit.run.row_counts",
    "count_log": "faithkit.run.row_counts",
    "comparing": "faithkit.cli.compare",
    "reporting": "faithkit.cli.reporting",
    "Report": "faithkit.shown",
    "Sheet": "faithkit.report.sheets",
    "Table": "faithkit.report.sheets",
    # what can go wrong
    "FaithkitError": "faithkit.errors",
    "FaithkitWarning": "faithkit.errors",
    "InputError": "faithkit.errors",
    "UnknownComponentError": "faithkit.errors",
    "ParameterError": "faithkit.errors",
    "ContractError": "faithkit.errors",
    "PluginError": "faithkit.errors",
    "ExplainerError": "faithkit.errors",
    "StoreError": "faithkit.errors",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'faithkit' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
