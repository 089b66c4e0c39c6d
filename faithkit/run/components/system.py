"""An explanation system: a model, an explainer, and what is needed to explain more rows in the same way."""

from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import FaithkitError, InputError, warn
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.precision import Decimals, choose_decimals, round_columns
from faithkit.extension.known_plugins import LIARS
from faithkit.extension.registry import registry
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.text_adapters import TextAdapter, are_unread, find_text_adapter
from faithkit.inputs.predictions.outcome import NUMBERS, Outcome
from faithkit.inputs.rows import Rows, check_columns, has_input_kind, input_kind
from faithkit.inputs.seeds import row_seeds, row_words
from faithkit.measure.protocols import get_optional_attribute
from faithkit.run.components.discretization import fit_discretizer
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.sample import explain_sample
from faithkit.wording import join_words

ROWS_ASKED_AGAIN = 20
ROW_NAMES = {
    "table": "the rows of a table",
    "text": "texts",
    "sparse": "the rows of a sparse matrix",
    "image": "images",
    "series": "series",
}
ROWS_TO_FIT = 1000  # rows of the background that are explained to fit a discretizer


@attrs.frozen(eq=False)
class System:
    """A model with its explainer (the job), what explains its rows, and how explanations are read.

    `decimals` come from the first sample, and later explanations are rounded alike. If an adapter read its
    texts, `text_adapter` reads those of later samples.
    """

    job: Job
    executor: ResolvedComponent
    progress: bool
    decimals: Decimals | None = None
    text_adapter: TextAdapter | None = None

    @classmethod
    def from_first_sample(
        cls, job: Job, X: Rows, executor: ResolvedComponent, progress: bool
    ) -> tuple["System", Explanations]:
        """Explain the first sample, and return the system with the explanations."""
        raw = explain_sample(job, X, executor, progress)
        text_adapter = find_text_adapter(raw, X)
        explanations = raw if text_adapter is None else text_adapter.read_texts(raw, X)
        if text_adapter is not None and are_unread(explanations, raw):
            text_adapter = None
        is_single = explanations.kind == "vector" and _is_single_precision(job)
        decimals = choose_decimals(explanations, single=is_single)
        return cls(job, executor, progress, decimals, text_adapter), round_columns(explanations, decimals)

    def explain(self, X: Rows) -> Explanations:
        """Explain another sample in the same way as the first."""
        return self._read(explain_sample(self.job, X, self.executor, self.progress), X)

    def explain_row(self, X: Rows) -> Explanations:
        """Explain one row, in this process: workers would cost more than they save."""
        check_columns(X, self.job.background)
        return self._read(self.job.explain(X, row_seeds(X, self.job.seed)), X)

    def _read(self, explanations: Explanations, X: Rows) -> Explanations:
        if self.text_adapter is not None:
            explanations = self.text_adapter.read_further_texts(explanations, X)
        return round_columns(explanations, self.decimals)

    def fit_discretizer(
        self, discretizer: ResolvedComponent, X: Rows | None, explanations: Explanations
    ) -> None:
        """Fit a discretizer to explanations of the background.

        Where the background is X itself, `explanations` are used. Otherwise at most 1,000 of its rows are
        explained: explaining costs, and the quantiles of a thousand rows are as good as those of all.
        """
        if self.job.background is not X:
            explanations = self.explain(_subset(self.job.background, self.job.seed))
        fit_discretizer(discretizer, explanations)


def _is_single_precision(job: Job) -> bool:
    """Whether the scores of the model, and so the explanations, are in single precision."""
    try:
        return job.predictor.scores_are_single(take_rows(job.background, slice(0, 1)))
    except FaithkitError:  # a model without scores can still be explained by its labels
        return False


def _subset(background: Rows, seed: int) -> Rows:
    """Return at most `ROWS_TO_FIT` rows of the background, whatever its order.

    They are equally spaced after sorting by content.
    """
    n = n_rows(background)
    if n <= ROWS_TO_FIT:
        return background
    order = np.argsort(row_words(background, seed), kind="stable")
    return take_rows(background, order[np.arange(ROWS_TO_FIT) * n // ROWS_TO_FIT])


def check_inputs(explainer: ResolvedComponent, X: Rows) -> None:
    """Refuse rows of a kind that the explainer does not accept, and name explainers that do."""
    if explainer.recipe is None:
        return
    plugins, kind = registry(), input_kind(X)
    declared = plugins.find("explainer", explainer.recipe[0]).component.inputs
    if has_input_kind(X, declared):
        return
    entries = zip(plugins.entries("explainer"), plugins.names("explainer"), strict=True)
    suitable = [
        name
        for entry, name in entries
        if entry.distribution != LIARS and has_input_kind(X, entry.component.inputs)
    ]
    advice = f"use {join_words(suitable, 'or')}" if suitable else "no installed explainer takes them"
    if kind == "array" and "table" in declared:
        advice += f"; {explainer.text} takes X.reshape(len(X), -1), where the model does"
    if isinstance(X, pd.DataFrame) and "text" in declared and X.shape[1] == 1:
        advice = f"pass the texts of its column, X[{X.columns[0]!r}]"
    raise InputError(
        f"{explainer.text} explains {join_words([ROW_NAMES[kind_name] for kind_name in declared])}, and X "
        f"has {ROW_NAMES.get(kind) or f'rows of shape {X.shape[1:]}'}: {advice}."
    )


def check_predictions(name: str, explainer: Any, predictor: Predictor) -> None:
    """Refuse a model that predicts numbers unless the explainer declares that it explains numbers.

    Examples
    --------
    >>> check_predictions("mine", object(), Predictor(max, outcome="numbers"))
    Traceback (most recent call last):
    faithkit.errors.InputError: mine explains labels, and the model predicts numbers: use an explainer of ...
    """
    if predictor.is_regressor and NUMBERS not in get_optional_attribute(explainer, "outcomes"):
        raise InputError(
            f"{name} explains labels, and the model predicts numbers: use an explainer of numbers, such as "
            'tree or shap; one that does explain them says outcomes = ("labels", "numbers") in its class.'
        )


def warn_about_randomness(predictor: Predictor, X: Rows, predictions: np.ndarray, outcome: Outcome) -> None:
    """Ask the model again about some rows, and warn if it does not repeat its predictions."""
    first = predictions[:ROWS_ASKED_AGAIN]
    again = predictor.answers(take_rows(X, slice(ROWS_ASKED_AGAIN)), outcome)
    is_number = first.dtype.kind == "f"  # the last bits may depend on the number of rows
    is_same = np.isclose(first, again, rtol=1e-3) if is_number else first == again
    n_changed = int((~is_same.reshape(len(first), -1).all(axis=1)).sum())
    if n_changed:
        warn(
            f"the model predicted {n_changed} of {len(first)} rows differently when it was asked again, "
            "which limits every measure: fix its seed, or switch off what is random, such as dropout by "
            "model.eval().",
        )
