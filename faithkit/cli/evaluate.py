"""`faithkit evaluate`: explain a sample and measure how faithful the explanations are."""

from typing import Any

import click

from faithkit.cli.options import configured_backend, measuring, output, running, show_result, warn_on_stderr


@click.command()
@click.option(
    "--data",
    default="breast-cancer",
    show_default=True,
    metavar="FILE|NAME",
    help="CSV or Parquet, or an embedded dataset: breast-cancer, wine, iris, digits.",
)
@click.option("--target", metavar="COLUMN", help="The column to predict; never shown to the model.")
@click.option("--columns", metavar="NAMES", help="Columns to use, with wildcards: 'age,phi_*'.")
@click.option(
    "--model",
    metavar="MODEL",
    default="gradient-boosting",
    show_default=True,
    help="module:attribute, a .skops or pickle file, or a default that is trained on a part of the "
    "data: gradient-boosting, random-forest, logistic, tree, knn.",
)
@click.option(
    "--trust-pickle",
    is_flag=True,
    help="Load a pickled model. Loading a pickle RUNS ANY CODE in it: only your own files.",
)
@click.option("--background", metavar="FILE", help="Rows that the explainer learns from.")
@click.option("--samples", type=click.IntRange(min=1), metavar="N", help="Evaluate N rows, drawn at random.")
@click.option(
    "--explainer",
    default="shap",
    show_default=True,
    metavar="NAME",
    help="A name, or name:param=value,… as `faithkit show explainer NAME` tells.",
)
@measuring
@click.option("--seed", default=0, show_default=True, metavar="N")
@running
@output
def command(
    json_path: str | None, explainer: str, discretizer: str, seed: int, backend: str | None, **options: Any
) -> None:
    """Measure how faithful a model's explanations are.

    Without --data and --model it runs at once, offline, on an embedded dataset and a model trained on
    the spot.
    """
    from faithkit.inputs.situation import prepare
    from faithkit.run.api import evaluate

    warn_on_stderr()
    loading = ("data", "target", "columns", "model", "trust_pickle", "background", "samples")
    situation = prepare(seed=seed, **{name: options.pop(name) for name in loading})
    with configured_backend(backend):
        result = evaluate(
            situation.model,
            situation.X,
            explainer=explainer,
            discretizer=discretizer,
            background=situation.background,
            seed=seed,
            progress=True,
            **options,
        )
    show_result(result, json_path)
