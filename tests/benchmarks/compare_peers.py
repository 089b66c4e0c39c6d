"""Consistency and sufficiency of one set of arrays, by faithkit and by its peers; writes docs/comparison/*.csv.

python -m pip install -e ".[bench]" -e plugins/feature-importance explainiverse
python tests/benchmarks/compare_peers.py docs/comparison
"""

import csv
import sys
from functools import partial
from pathlib import Path

import attrs
import numpy as np

import faithkit

THRESHOLD, BATCH, TOP = 0.6, 64, 3  # the peers' defaults
MODEL = Path(__file__).parents[2] / "docs" / "comparison" / "model.csv"


@attrs.frozen
class Arrays:
    """Instances, a linear model of them, its predictions, and the SHAP values of the predicted class's score."""

    X: np.ndarray
    coefficients: np.ndarray
    intercepts: np.ndarray
    labels: np.ndarray
    phi: np.ndarray


def arrays() -> Arrays:
    """Return 1,197 digits, as the mean ink in 4 × 4 fields; the model was fitted to 600 others.

    Its coefficients are kept in a file: a fit ends elsewhere on another machine, and with it every number.
    """
    fields, _ = _digits()
    table = np.loadtxt(MODEL, delimiter=",", skiprows=1)
    coefficients, intercepts = table[:, :-1], table[:, -1]
    X = fields[600:]
    labels = (X @ coefficients.T + intercepts).argmax(axis=1)
    phi = coefficients[labels] * (X - fields[:600].mean(axis=0))
    return Arrays(X, coefficients, intercepts, labels, phi.round(6))


def fit() -> None:
    """Fit the logistic regression, and keep its coefficients to six decimals."""
    from sklearn.linear_model import LogisticRegression

    fields, digits = _digits()
    model = LogisticRegression(max_iter=5000).fit(fields[:600], digits[:600])
    names = [*(f"field{j}" for j in range(16)), "intercept"]
    table = np.column_stack([model.coef_, model.intercept_])
    np.savetxt(MODEL, table, fmt="%.6f", delimiter=",", header=",".join(names), comments="")


def _digits() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    return images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16), digits


# --- consistency --------------------------------------------------------------------------------------------


def our_consistency(data: Arrays) -> dict[str, faithkit.results.Estimate]:
    """Return what faithkit gives, by the discretization."""
    discretizers = {
        "signs of the first five columns": lambda phi: np.sign(phi.values[:, :5]),
        "sign": "sign",
        "fp:digits=0,how=round": "fp:digits=0,how=round",
        "set of the top three": _top_set,
    }
    return {
        name: faithkit.score(data.labels, data.phi, discretizer=discretizer).consistency
        for name, discretizer in discretizers.items()
    }


def _top_set(explanations: faithkit.Explanations) -> np.ndarray:
    order = np.argsort(-np.abs(explanations.values), axis=1, kind="stable")
    return np.sort(order[:, :TOP], axis=1)


def quantus_consistency(data: Arrays, discretise: str | None, batch: int | None, plain: bool) -> float:
    """Return Quantus' mean; `plain` leaves the importances as they are (abs=False, normalise=False)."""
    import quantus

    function = {
        None: None,
        "sign": quantus.functions.discretise_func.sign,
        "rounded": partial(quantus.functions.discretise_func.floating_points, n=0),
    }[discretise]
    options = {"abs": False, "normalise": False} if plain else {}
    metric = quantus.Consistency(discretise_func=function, disable_warnings=True, **options)
    return _ask_quantus(metric, data, batch)


def explainiverse_consistency(data: Arrays) -> float:
    """Return Explainiverse's value, which explains by the set of the top three."""
    from explainiverse.core.explainer import BaseExplainer
    from explainiverse.core.explanation import Explanation
    from explainiverse.evaluation import compute_consistency

    known = {row.tobytes(): i for i, row in enumerate(data.X)}
    names = [f"feature_{j}" for j in range(data.X.shape[1])]

    class Model:
        def predict(self, X: np.ndarray) -> np.ndarray:
            return (X @ data.coefficients.T + data.intercepts).argmax(axis=1)

    class Logged(BaseExplainer):
        def explain(self, instance: np.ndarray, **_: object) -> Explanation:
            values = data.phi[known[np.asarray(instance, dtype=float).ravel().tobytes()]]
            attributions = dict(zip(names, values.tolist(), strict=True))
            return Explanation(
                "logged", "predicted", {"feature_attributions": attributions}, feature_names=names
            )

    return float(compute_consistency(Logged(Model()), Model(), data.X, top_k=TOP))


# --- sufficiency --------------------------------------------------------------------------------------------


def our_sufficiency(data: Arrays) -> dict[str, faithkit.results.Estimate]:
    """Return what faithkit gives to Quantus' question, and to the paper's."""
    scaled = data.phi / data.phi.std(axis=0, ddof=1)
    farthest = max(np.linalg.norm(scaled - row, axis=1).max() for row in scaled)
    near = faithkit.score(data.labels, scaled).measure(f"near-explanation:tau={THRESHOLD * farthest}")
    applies = faithkit.score(data.labels, data.phi, X=data.X, relation=f"same-top-features:k={TOP},bins=4")
    return {
        "near-explanation, with the same distances": near,
        f"same-top-features:k={TOP},bins=4": applies.sufficiency,
    }


def quantus_sufficiency(data: Arrays, batch: int | None, plain: bool) -> float:
    """Return Quantus' mean."""
    import quantus

    options = {"abs": False, "normalise": False} if plain else {}
    return _ask_quantus(quantus.Sufficiency(disable_warnings=True, **options), data, batch)


# --- both ---------------------------------------------------------------------------------------------------


def _ask_quantus(metric: object, data: Arrays, batch: int | None) -> float:
    import torch

    linear = torch.nn.Linear(*data.coefficients.T.shape)
    linear.weight.data = torch.tensor(data.coefficients, dtype=torch.float32)
    linear.bias.data = torch.tensor(data.intercepts, dtype=torch.float32)
    model = torch.nn.Sequential(torch.nn.Flatten(), linear).eval()
    X = data.X.astype(np.float32)[:, None]
    assert (model(torch.tensor(X)).argmax(dim=1).numpy() == data.labels).all()
    size = {} if batch is None else {"batch_size": batch}
    return float(
        np.mean(metric(model=model, x_batch=X, y_batch=data.labels, a_batch=data.phi[:, None], **size))
    )


def shuffled(data: Arrays) -> Arrays:
    """Return the same rows in another order."""
    order = np.random.default_rng(0).permutation(len(data.X))
    return attrs.evolve(data, X=data.X[order], labels=data.labels[order], phi=data.phi[order])


def consistency_rows(data: Arrays) -> list[tuple[str, str, float | faithkit.results.Estimate]]:
    """Return the library, its settings and its value or estimate."""
    n, ours, plain = len(data.X), our_consistency(data), "abs=False, normalise=False"
    measure = quantus_consistency
    return [
        ("Quantus", "all defaults (top_n_sign, batch_size=64)", measure(data, None, None, False)),
        ("Quantus", "batch_size=n", measure(data, None, n, False)),
        ("Quantus", plain, measure(data, None, None, True)),
        ("Quantus", f"{plain}, the rows in another order", measure(shuffled(data), None, None, True)),
        ("Quantus", f"{plain}, batch_size=n", measure(data, None, n, True)),
        _ours(ours, "signs of the first five columns"),
        ("Quantus", f"sign, {plain}", measure(data, "sign", None, True)),
        ("Quantus", f"sign, {plain}, batch_size=n", measure(data, "sign", n, True)),
        _ours(ours, "sign"),
        ("Quantus", f"floating_points(n=0), {plain}, batch_size=n", measure(data, "rounded", n, True)),
        _ours(ours, "fp:digits=0,how=round"),
        ("Explainiverse", "top_k=3", explainiverse_consistency(data)),
        _ours(ours, "set of the top three"),
    ]


def sufficiency_rows(data: Arrays) -> list[tuple[str, str, float | faithkit.results.Estimate]]:
    """Return the library, its settings and its value or estimate."""
    n, ours, plain = len(data.X), our_sufficiency(data), "abs=False, normalise=False"
    measure = quantus_sufficiency
    return [
        ("Quantus", "all defaults (threshold=0.6, batch_size=64)", measure(data, None, False)),
        ("Quantus", "batch_size=n", measure(data, n, False)),
        ("Quantus", f"{plain}, batch_size=n", measure(data, n, True)),
        *(_ours(ours, name) for name in ours),
    ]


def _ours(
    estimates: dict[str, faithkit.results.Estimate], name: str
) -> tuple[str, str, faithkit.results.Estimate]:
    return "faithkit", name, estimates[name]


def cells(measured: float | faithkit.results.Estimate) -> tuple[str, str]:
    """Return value and verified share as they are printed; peers do not report the second."""
    if isinstance(measured, faithkit.results.Estimate):
        return f"{measured.value:.4f}", f"{100 * measured.verified:.1f} %"
    return f"{measured:.4f}", ""


def main(folder: str) -> None:
    """Write both tables; and the model, where there is none yet."""
    if not MODEL.exists():
        fit()
    data = arrays()
    for name, rows in (("consistency", consistency_rows(data)), ("sufficiency", sufficiency_rows(data))):
        with (Path(folder) / f"{name}.csv").open("w", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(("line", "by", "with", name, "verified"))
            lines.writerows((i, by, setting, *cells(value)) for i, (by, setting, value) in enumerate(rows, 1))


if __name__ == "__main__":
    main(*sys.argv[1:])
