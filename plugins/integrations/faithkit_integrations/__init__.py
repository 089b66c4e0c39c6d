"""Integrations: gates for builds, a pytest fixture, a scorer for scikit-learn, MLflow, and foreign models.

`judge`, `Judgement`, `GateResult` and `scorer` are imported at their first use, because pytest loads this
module in every test run.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from faithkit_integrations.gate.gates import GateResult
    from faithkit_integrations.gate.judgement import Judgement, judge
    from faithkit_integrations.scorers import scorer

__all__ = ["GateResult", "Judgement", "judge", "scorer"]

_MODULES = {
    "GateResult": "gate.gates",
    "Judgement": "gate.judgement",
    "judge": "gate.judgement",
    "scorer": "scorers",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
