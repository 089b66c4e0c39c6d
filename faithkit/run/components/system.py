"""An explanation system: a model, an explainer, and what it takes to explain one more row as the first."""

from typing import Any

import attrs
import numpy as np

from faithkit.arrays.containers import n_rows, take_rows
from faithkit.errors import FaithkitError, InputError
from faithkit.explanations.explanations import Explanations
from faithkit.explanations.precision import Decimals, decimals_of, rounded
from faithkit.explanations.vocabulary import Vocabulary
from faithkit.extension.registry import registry
from faithkit.inputs.logs.rule_columns import read_alike, read_rules
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.predictions.outcome import NUMBERS
from faithkit.inputs.rows import check_columns, input_kind, is_one_of
from faithkit.inputs.seeds import row_seeds, row_words
from faithkit.measure.protocols import said
from faithkit.run.components.discretization import learns, teach
from faithkit.run.components.resolution import ResolvedComponent
from faithkit.run.explaining.execution import Execution
from faithkit.run.explaining.job import Job
from faithkit.run.explaining.sample import explain_sample
from faithkit.wording import listing

ROWS = {
    "table": "the rows of a table",
    "text": "texts",
    "sparse": "the rows of a sparse matrix",
    "image": "images",
    "series": "series",
}
ROWS_LEARNT = 1000  # of the background, by a discretizer that learns


@attrs.frozen(eq=False)
class System:
    """What explains and predicts: the job, how it is run, and the decimals to which explanations count.

    The decimals are those of the first sample: what is explained later is rounded alike. So it is with rules
    in words: `vocabulary` has the columns that they are about.
    """

    job: Job
    execution: Execution
    decimals: Decimals | None = None
    vocabulary: Vocabulary | None = None

    @classmethod
    def begun(cls, job: Job, X: Any, execution: Execution) -> tuple["System", Explanations]:
        """Explain the first sample, and return the system and what it said."""
        told = explain_sample(job, X, execution)
        explained = read_rules(told, X)
        decimals = decimals_of(explained, single=explained.kind == "vector" and _is_single(job))
        vocabulary = Vocabulary.of(X) if explained.kind != told.kind else None
        return cls(job, execution, decimals, vocabulary), rounded(explained, decimals)

    def explain(self, X: Any) -> Explanations:
        """Explain another sample as the first one."""
        return self._alike(explain_sample(self.job, X, self.execution), X)

    def explain_one(self, X: Any) -> Explanations:
        """Explain a row, which is not worth a trip to workers."""
        check_columns(X, self.job.background)
        return self._alike(self.job.explain(X, row_seeds(X, self.job.seed)), X)

    def _alike(self, explained: Explanations, X: Any) -> Explanations:
        return rounded(read_alike(explained, X, self.vocabulary), self.decimals)

    def teach(self, discretizer: ResolvedComponent, X: Any, explanations: Explanations) -> None:
        """Let a discretizer that learns do so from the background: X itself, or some rows of another.

        Explaining costs, and quantiles of a thousand rows are as good as those of all.
        """
        if not learns(discretizer):
            return
        if self.job.background is not X:
            explanations = self.explain(_some_rows(self.job.background, self.job.seed))
        teach(discretizer, explanations)


def _is_single(job: Job) -> bool:
    """Whether the model scores in single precision, and with it whoever asks for its scores."""
    try:
        return job.predictor.scores_are_single(take_rows(job.background, slice(0, 1)))
    except FaithkitError:  # an explainer that asks for labels alone does without scores
        return False


def _some_rows(background: Any, seed: int) -> Any:
    """Return a part of the background: every so-many-th row when sorted by content, so that order is moot."""
    n = n_rows(background)
    if n <= ROWS_LEARNT:
        return background
    order = np.argsort(row_words(background, seed), kind="stable")
    return take_rows(background, order[np.arange(ROWS_LEARNT) * n // ROWS_LEARNT])


def check_inputs(explainer: ResolvedComponent, X: Any) -> None:
    """Refuse rows of a kind that an explainer says it does not explain, and name those that do."""
    if explainer.recipe is None or not n_rows(X):
        return
    known, kind = registry(), input_kind(X)
    declared = known.find("explainer", explainer.recipe[0]).component.inputs
    if is_one_of(X, declared):
        return
    named = zip(known.entries("explainer"), known.names("explainer"), strict=True)
    others = [name for entry, name in named if is_one_of(X, entry.component.inputs)]
    advice = f"use {listing(others, 'or')}" if others else "no installed explainer takes them"
    if kind == "array" and "table" in declared:
        advice += f"; {explainer.text} takes X.reshape(len(X), -1), where the model does"
    raise InputError(
        f"{explainer.text} explains {listing([ROWS[word] for word in declared])}, and X has "
        f"{ROWS.get(kind) or f'rows of shape {X.shape[1:]}'}: {advice}."
    )


def check_predictions(who: str, explainer: Any, predictor: Predictor) -> None:
    """Refuse a model that predicts numbers for an explainer that does not say that it explains them.

    Examples
    --------
    >>> check_predictions("mine", object(), Predictor(max, outcome="numbers"))
    Traceback (most recent call last):
    faithkit.errors.InputError: mine explains labels, and the model predicts numbers: use an explainer of ...
    """
    if predictor.is_regressor and NUMBERS not in said(explainer, "outcomes"):
        raise InputError(
            f"{who} explains labels, and the model predicts numbers: use an explainer of numbers, such as "
            'tree or shap; one that does explain them says outcomes = ("labels", "numbers") in its class.'
        )
