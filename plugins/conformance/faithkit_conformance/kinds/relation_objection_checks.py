"""Checks of relations: objections have the form that verdicts need, and depend on the content of rows alone.

The predictions, the model and the explained scores are synthetic.
"""

from typing import Any
from unittest import SkipTest

import numpy as np
from numpy.typing import NDArray

from faithkit import Predictor
from faithkit.plugin import (
    Objection,
    ObjectionContext,
    Sample,
    hash_content,
    join_words,
    n_rows,
    row_seeds,
    take_rows,
)
from faithkit.results import VERDICTS
from faithkit_conformance.checks import for_each, require
from faithkit_conformance.kinds.relation_checks import RelationTrial, relation_trials
from faithkit_conformance.kinds.relation_invariance_checks import check_asking_again_gives_the_same_answer


@for_each(relation_trials, check_asking_again_gives_the_same_answer)
def check_objections_name_a_verdict(trial: RelationTrial) -> None:
    """Check that `objections`, if there are any, is a list of `Objection` whose verdicts are on the list.

    An objection can lower a verdict and never raise it, so none leads to "faithful". Without a verdict it
    says why something could not be checked.
    """
    for has_model in (True, False):
        answer: Any = _ask(trial, np.arange(len(trial.batch)), has_model)
        is_list = isinstance(answer, list) and all(isinstance(item, Objection) for item in answer)
        problem = f"objections returned {answer!r:.60}; expected a list of Objection"
        require(is_list, problem, "Return [] if nothing speaks against the explanations")
        for objection in answer:
            is_listed = objection.verdict is None or objection.verdict in VERDICTS
            problem = f"the objection {objection.name!r} leads to {objection.verdict!r}"
            remedy = f"Choose one of {join_words(VERDICTS[3:], 'or')}, or None"
            require(is_listed and objection.verdict != "faithful", problem, remedy)


@for_each(relation_trials, check_objections_name_a_verdict)
def check_objections_depend_on_content_alone(trial: RelationTrial) -> None:
    """Check that the same rows, seeds and predictions get the same objections, in any order of the rows.

    A verdict is reproducible, and the order of rows has no meaning.
    """
    rows = np.arange(len(trial.batch))
    objections = _ask(trial, rows)
    remedy = "Draw with faithkit.plugin.row_uniforms(context.seeds, …) and no other randomness"
    require(_ask(trial, rows) == objections, "asked twice, it had other objections", remedy)
    problem = "the rows came in another order, and its objections changed"
    remedy = "Choose rows by context.seeds, and others by faithkit.plugin.hash_content"
    require(_ask(trial, rows[::-1]) == objections, problem, remedy)


def _ask(trial: RelationTrial, rows: NDArray[np.int64], has_model: bool = True) -> Any:
    """Return the objections to a batch, whose rows come in some order."""
    if trial.relation.objections is None:
        raise SkipTest("It has no objections.")
    X, explanations = take_rows(trial.batch.X, rows), trial.batch.explanations.take(rows)
    predictor = Predictor(scores=_score_by_content, classes=["no", "yes"])
    context = ObjectionContext(
        sample=Sample(X, explanations),
        predictions=predictor.predict(X),
        outcome="labels",
        background=trial.batch.background,
        predictor=predictor if has_model else None,
        outputs=np.ones(len(rows), dtype=np.int64) if has_model else None,
        seeds=row_seeds(X, 0),
    )
    return trial.relation.objections(context)


def _score_by_content(X: Any) -> NDArray[np.float64]:
    """Score rows of any kind by their hash, so that every column matters."""
    rows = X.reshape(n_rows(X), -1) if isinstance(X, np.ndarray) else X
    score = (hash_content(rows) >> np.uint64(11)) * 2.0**-53
    return np.column_stack([1 - score, score])
