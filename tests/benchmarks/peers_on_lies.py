"""What measures by perturbation say of a scaffolded model, beside faithkit; writes docs/attacks/peers.csv.

python -m pip install -e ".[bench]" -e plugins/feature-importance -e plugins/attacks captum
python tests/benchmarks/peers_on_lies.py docs/attacks
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np

import faithkit

ROWS, SEED = 400, 0
EXPLAINER = "lime:samples=1000,target=predicted"


@attrs.frozen(eq=False)
class Case:
    """Rows as numbers from 0 to 1, what a model answers to such rows, and importances of its answers."""

    name: str
    codes: np.ndarray
    scores: Callable[[np.ndarray], np.ndarray]
    labels: np.ndarray
    phi: np.ndarray
    X: object
    predictions: np.ndarray


def cases() -> list[Case]:
    """Return the honest model as it is explained, the liar as it is explained, and the truth about the liar."""
    from faithkit_attacks.scenarios import applicants_scenario

    world = applicants_scenario(ROWS, SEED)
    importances = {name: _explain(world, name) for name in ("honest", "liar", "biased")}
    return [
        _make_case("honest", world, "honest", importances["honest"]),
        _make_case("lie", world, "liar", importances["liar"]),
        _make_case("truth", world, "liar", importances["biased"]),
    ]


def _explain(world: object, model: str) -> np.ndarray:
    result = faithkit.evaluate(
        world.model(model), world.X, explainer=EXPLAINER, background=world.background, permutations=0
    )
    return np.asarray(result.rows.explanations.values, dtype=float)


def _make_case(name: str, world: object, model: str, phi: np.ndarray) -> Case:
    encoder, chosen = faithkit.plugin.Encoder(world.background), world.model(model)
    known = encoder.encode(world.background)
    low, high = known.min(axis=0), known.max(axis=0)

    def scores(scaled: np.ndarray) -> np.ndarray:
        # a category is the nearest one: measures that perturb numbers give fractions
        return chosen.predict_proba(encoder.decode(np.round(low + np.clip(scaled, 0, 1) * (high - low))))

    codes = (encoder.encode(world.X) - low) / (high - low)
    labels = scores(codes).argmax(axis=1)
    return Case(name, codes, scores, labels, phi, world.X, chosen.predict(world.X))


# --- measures: one value per row, or an estimate ------------------------------------------------------------


def ours(case: Case) -> faithkit.results.Estimate:
    """Return sufficiency by the default relation of importances."""
    return faithkit.score(case.predictions, case.phi, X=case.X, permutations=0).sufficiency


def quantus_measure(name: str, **options: object) -> Callable[[Case], np.ndarray]:
    """Return one of Quantus' measures as a function of a case."""

    def measure(case: Case) -> np.ndarray:
        import quantus

        np.random.seed(SEED)
        metric = getattr(quantus, name)(
            abs=False,
            normalise=False,
            return_aggregate=False,
            disable_warnings=True,
            display_progressbar=False,
            **options,
        )
        x, a = case.codes.astype(np.float32)[:, None], case.phi[:, None]
        result = metric(model=_network(case), x_batch=x, y_batch=case.labels, a_batch=a)
        return np.asarray(result, dtype=float).reshape(len(x), -1).mean(axis=1)  # a curve by its mean

    return measure


def _network(case: Case) -> object:
    import torch

    class Network(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            codes = x.reshape(len(x), -1).numpy().astype(float)
            return torch.tensor(case.scores(codes), dtype=torch.float32)

    return Network().eval()


def captum_infidelity(case: Case) -> np.ndarray:
    """Return Captum's infidelity, where a third of the cells is exchanged for those of another row."""
    import torch
    from captum.metrics import infidelity

    torch.manual_seed(SEED)
    codes = torch.tensor(case.codes)

    def exchange(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        others = codes[torch.randint(len(codes), (len(inputs),))]
        mixed = torch.where(torch.rand(inputs.shape) < 1 / 3, others, inputs)
        return inputs - mixed, mixed

    def forward(inputs: torch.Tensor) -> torch.Tensor:
        return torch.tensor(case.scores(inputs.numpy()))

    result = infidelity(
        forward, exchange, codes, torch.tensor(case.phi), target=torch.tensor(case.labels),
        n_perturb_samples=50, normalize=True,
    )  # fmt: skip
    return result.numpy()


_DRAWN = {"perturb_baseline": "uniform"}  # the default, black, changes no cell that is 0 already
MEASURES: dict[str, tuple[str, bool, Callable[[Case], object]]] = {
    "sufficiency": ("faithkit", True, ours),
    "FaithfulnessCorrelation": (
        "Quantus",
        True,
        quantus_measure("FaithfulnessCorrelation", nr_runs=50, subset_size=3, **_DRAWN),
    ),
    "FaithfulnessEstimate": ("Quantus", True, quantus_measure("FaithfulnessEstimate", **_DRAWN)),
    "MonotonicityCorrelation": (
        "Quantus",
        True,
        quantus_measure("MonotonicityCorrelation", nr_samples=20, **_DRAWN),
    ),
    "PixelFlipping, mean of the curve": ("Quantus", False, quantus_measure("PixelFlipping", **_DRAWN)),
    "infidelity": ("Captum", False, captum_infidelity),
}
"""By name: the library, whether more is better, and the function that measures a case."""


def rows() -> list[list[str]]:
    """Return a line for each measure: the honest model, the lie, the truth about the liar, and the preferred one."""
    compared = cases()
    lines = []
    for name, (library, more_is_better, measure) in MEASURES.items():
        summaries = [_summary(measure(case)) for case in compared]
        better = "more" if more_is_better else "less"
        lines.append([library, name, better, *map(_cell, summaries), _verdict(summaries, more_is_better)])
    return lines


def _summary(measured: object) -> tuple[float, float, float]:
    if isinstance(measured, faithkit.results.Estimate):
        return measured.value, measured.low, measured.high
    values = measured[np.isfinite(measured)]
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values))
    return values.mean(), values.mean() - half, values.mean() + half


def _cell(summary: tuple[float, float, float]) -> str:
    value, low, high = summary
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _verdict(summaries: list[tuple[float, float, float]], more_is_better: bool) -> str:
    """Say whether the lie looks worse than the honest explanation, and than the truth about the same model."""
    honest, lie, truth = summaries if more_is_better else [(-v, -h, -low) for v, low, h in summaries]
    caught = "caught" if lie[2] < honest[1] else "passes"
    if truth[1] > lie[2]:
        return f"{caught}; prefers the truth"
    return f"{caught}; prefers the lie" if lie[1] > truth[2] else f"{caught}; sees no difference"


def main(folder: str) -> None:
    """Write the table."""
    with (Path(folder) / "peers.csv").open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["by", "measure", "better", "honest model", "lie", "truth about the liar", "says"])
        lines.writerows(rows())


if __name__ == "__main__":
    main(*sys.argv[1:])
