"""Where a result comes from: enough to repeat it, and nothing that differs when it is repeated."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import attrs

from faithkit.extension.registry import registry
from faithkit.inputs.seeds import fingerprint
from faithkit.measure.rows import n_rows
from faithkit.run.components import Given


@attrs.frozen(eq=False)
class Provenance:
    """Who made the explanations, of what model, learning from what."""

    explainer: Given | None
    discretizer: Given
    background: str | None
    model: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, with the versions of everything that a number depends on."""
        components = [given for given in (self.explainer, self.discretizer) if given is not None]
        return {
            "explainer": None if self.explainer is None else self.explainer.text,
            "discretizer": self.discretizer.text,
            "background": self.background,
            "model": self.model,
            "versions": versions(components),
        }


PACKAGES = ("faithkit", "numpy", "pandas", "scikit-learn")


def describe_data(X: Any) -> dict[str, Any]:
    """Return the size and the fingerprint of rows; values that are no JSON have no fingerprint."""
    columns = X.shape[1] if getattr(X, "ndim", 1) == 2 else None
    try:
        digest: str | None = fingerprint(X)
    except (TypeError, ValueError):
        digest = None
    return {"rows": n_rows(X), "columns": columns, "fingerprint": digest}


def describe_model(model: Any) -> str:
    """Return the model's type, and of a Pipeline the types of its steps."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, list):
        return " → ".join(type(step).__name__ for _, step in steps)
    return str(getattr(model, "__name__", None) or type(model).__name__)


def versions(components: Iterable[Given]) -> dict[str, str]:
    """Return the versions of everything that a number depends on."""
    found = {name: _version(name) for name in PACKAGES}
    for given in components:
        if given.recipe is not None:
            entry = registry().find(given.kind, given.recipe[0])
            found[entry.distribution] = str(entry.version)
            found |= {name: _version(name) for name in entry.component.requires}
    return dict(sorted(found.items()))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
