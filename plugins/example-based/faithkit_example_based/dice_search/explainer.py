"""Counterfactuals by DiCE: searches for many rows go together, and the model checks every answer."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.goals import ClassGoal, Goal, NumberGoal
from faithkit_example_based.dice_search.library import LibrarySearches
from faithkit_example_based.dice_search.model import (
    DiceModel,
    NumberModel,
    score_columns,
    tells_probabilities,
)
from faithkit_example_based.dice_search.neighbors import Find, Neighbors, NumberNeighbors
from faithkit_example_based.dice_search.search import METHODS, SPARSITIES, Searches
from faithkit_example_based.dice_search.space import Space
from faithkit_example_based.dice_search.table import DiceTable, Floats
from faithkit_example_based.wanted import ALREADY, Wanted

ENGINES = ("faithkit", "library")
NOT_FOUND = "no counterfactual found"
NO_ROOM = "a value that the background's column has no room for"


class Dice:
    """A row like the instance that the model labels otherwise, searched for by DiCE (Mothilal et al. 2020).

    Parameters
    ----------
    method : str
        "random" changes columns of the instance at random, few at first; "kdtree" takes a row of the
        background near the instance; "genetic" breeds such rows.
    features_to_vary : str or list of str
        The columns that may change: "all", or their names.
    sparsity : str or None
        How numbers that differ little from the instance's are moved back to them: by "binary" search, in
        "linear" steps, as dice-ml does by default, which ends much the same and asks the model far more
        often, or not at all (None).
    max_calls : int
        How often the model is asked about a row. A search that has not ended by then has found nothing; the
        genetic one might never end.
    within : float, optional
        By how much a counterfactual's number must differ from the instance's, where the model predicts
        numbers; `shared` tells it. By default what the measure counts as equal (``agree="within:ε"``), else
        half a standard deviation of the predictions for the background.
    desired_range : list of two numbers, optional
        The least and the greatest number that is wanted instead, such as [0, 10]. A row that has one already
        has no explanation.
    engine : str
        "faithkit" searches for many rows together; "library" calls dice-ml row by row, with the same
        parameters and the row's own seed.

    Notes
    -----
    With two labels the other one is looked for, with more the runner-up: the most probable other label that
    the background has or, where the model has no scores, the most frequent one. What is found counts only
    where the model gives it another label than the instance; otherwise the row has no explanation, with the
    remark "no counterfactual found".

    A missing category is a category like others. DiCE cannot take a missing number, nor a category that the
    background does not have: such rows have no explanation either, and a remark says why. DiCE learns nothing
    from rows of the background in which a number is missing.

    `max_calls` ends a search at the same point on every machine. Where the model itself hangs, a limit in
    seconds ends the row: `row_timeout` (CLI: ``--row-timeout``).

    With ``engine="library"`` the searches are dice-ml's own, faults included. Both engines give it the same
    complete rows, in float64, choose the same label to look for, and check the answer with the model. A
    search that reaches `max_calls` has found nothing, even in its sparsity step. For models that predict
    numbers dice-ml needs a `desired_range`.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"hours": [20.0, 30.0, 40.0, 50.0], "job": ["cook", "cook", "clerk", None]})
    >>> model = faithkit.Predictor(lambda X: np.where(X["hours"] > 35, "busy", "idle"))
    >>> dice = Dice(method="kdtree", sparsity=None).fit(model, X)
    >>> dice.explain(X[:1], seeds=[7]).values
       hours    job
    0   40.0  clerk
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 512

    def __init__(
        self,
        method: str = "random",
        features_to_vary: Any = "all",
        sparsity: str | None = "binary",
        max_calls: int = 500,
        within: float | None = None,
        desired_range: Any = None,
        engine: str = "faithkit",
    ) -> None:
        if method not in METHODS:
            raise _wrong("method", f"one of {', '.join(METHODS)}", method)
        listed = isinstance(features_to_vary, list | tuple) and len(features_to_vary) > 0
        if features_to_vary != "all" and not listed:
            raise _wrong("features_to_vary", "'all' or a list of columns, such as ['age']", features_to_vary)
        if sparsity not in (*SPARSITIES, None):
            raise _wrong("sparsity", "binary, linear or none", sparsity)
        if engine not in ENGINES:
            raise _wrong("engine", f"one of {', '.join(ENGINES)}", engine)
        error = faithkit.errors.ParameterError
        self.engine = engine
        if engine == "library":
            self.rows_per_chunk = 16  # no row gains from company, so let workers share few
        self.method = method
        self.features_to_vary = features_to_vary
        self.sparsity = sparsity
        self.max_calls = faithkit.plugin.whole_number(max_calls, "dice: max_calls", least=1, error=error)
        self.within, self.desired_range = Wanted.checked("dice", within, desired_range)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Dice":
        """Hand the rows of the background and their labels, or numbers, to DiCE."""
        self.predictor_ = predictor
        self.encoder_ = faithkit.plugin.Encoder(background)
        columns = self._columns()
        self.table_ = DiceTable.learn(self.encoder_.encode(background), self.encoder_.categorical)
        rows = self.encoder_.decode(self.table_.codes)
        self.dtypes_ = _dtypes(rows)
        self.wanted_ = Wanted.of("dice", predictor, rows, self.within, self.desired_range)
        model, neighbors = (self._of_numbers if predictor.is_regressor else self._of_labels)(rows)
        search = self.method, self.sparsity, self.max_calls
        if self.engine == "library":
            self.searches_: Searches | LibrarySearches = LibrarySearches(self.table_, columns, model, *search)
        else:
            self.searches_ = Searches(Space.learn(self.table_, columns), model, neighbors, *search)
        return self

    def _of_labels(self, rows: Any) -> tuple[DiceModel, Find]:
        self.labels_, classes = np.unique(self.predictor_.predict(rows), return_inverse=True)
        self._check_labels(len(classes))
        self.frequencies_ = np.bincount(classes)
        by_scores = self.method == "genetic" and tells_probabilities(self.predictor_, rows, self.labels_)
        model = DiceModel(self.predictor_, self.encoder_, self.labels_, by_scores)
        return model, partial(Neighbors, self.table_, classes)

    def _of_numbers(self, rows: Any) -> tuple[NumberModel, Find]:
        if self.engine == "library" and self.desired_range is None:
            raise faithkit.errors.InputError(
                "dice: engine=library searches for numbers in a range, and desired_range is not given: "
                "give it, such as desired_range=[0, 10], or use engine=faithkit."
            )
        predictions = self.predictor_.predict(rows)
        self.unit_ = float(np.std(predictions)) or 1.0
        model = NumberModel(self.predictor_, self.encoder_)
        return model, partial(NumberNeighbors, self.table_, predictions)

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one counterfactual per row, found with its own seed, in the background's columns."""
        codes = self.encoder_.encode(X, unseen="keep")
        remarks = np.array(self._refusals(codes), dtype=object)
        taken = _without(remarks)
        own = self.predictor_.predict(self.encoder_.decode(codes[taken]))
        already = self.wanted_.has_already(own)
        remarks[taken[already]] = ALREADY
        taken, own = taken[~already], own[~already]
        found, rows = self._counterfactuals(codes[taken], own, np.asarray(seeds)[taken])
        remarks[np.delete(taken, found)] = NOT_FOUND
        values = np.repeat(self.table_.codes[:1], len(codes), axis=0)
        values[taken[found]] = rows
        return faithkit.Explanations(
            kind="example",
            values=self.encoder_.decode(values),
            instances=X,
            missing=[remark is not None for remark in remarks],
            remarks=remarks,
            shared=self.wanted_.to_shared(),
            relation="in-ball",
        )

    def _refusals(self, codes: Floats) -> list[str | None]:
        """Say why DiCE cannot take a row, or None where it can."""
        told = [self.table_.refusal(row) for row in codes]
        taken = _without(told)
        if not self._have_room(codes[taken]):  # then some have none
            for i in taken:
                told[i] = None if self._have_room(codes[[i]]) else NO_ROOM
        return told

    def _have_room(self, codes: Floats) -> bool:
        return _dtypes(self.encoder_.decode(codes)) == self.dtypes_

    def _counterfactuals(self, rows: Floats, own: Any, seeds: Any) -> tuple[NDArray[np.intp], Floats]:
        """Return for which rows a counterfactual is found, and these."""
        candidates = self.searches_.candidates(rows, self._goals(rows, own), seeds)
        owners = np.repeat(np.arange(len(rows)), list(map(len, candidates)))
        every = np.concatenate([rows[:0], *candidates])
        predictions = self.predictor_.predict(self.encoder_.decode(every))
        is_other = self.wanted_.is_other(predictions, own[owners])
        found, first = np.unique(owners[is_other], return_index=True)
        return found, every[is_other][first]

    def _goals(self, rows: Floats, own: Any) -> Sequence[Goal]:
        """Return what to look for, for every row."""
        if self.predictor_.is_regressor:
            return [NumberGoal(self.wanted_, number, self.unit_) for number in own.tolist()]
        return [ClassGoal(target) for target in self._targets(self.encoder_.decode(rows), own).tolist()]

    def _targets(self, instances: Any, labels: Any) -> Any:
        """Return the number of the label to look for: the other one of two, else the runner-up."""
        is_own = np.equal.outer(labels, self.labels_)
        columns = score_columns(self.predictor_, self.labels_)
        has_choice = (~is_own).sum(axis=1).max(initial=0) > 1
        if has_choice and columns is not None:
            scores = self.predictor_.scores(instances)[:, columns]
        else:
            scores = np.broadcast_to(self.frequencies_, is_own.shape)
        return np.where(is_own, -np.inf, scores).argmax(axis=1)

    def _columns(self) -> list[int]:
        """Return the positions of the columns that may change."""
        names = self.encoder_.names
        if self.features_to_vary == "all":
            return list(range(len(names)))
        wanted = [str(name) for name in self.features_to_vary]
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise faithkit.errors.InputError(
                f"dice: features_to_vary has {unknown[0]!r}, which is no column of the background: "
                f"it has {', '.join(names[:10])}{', …' if len(names) > 10 else ''}."
            )
        return [j for j, name in enumerate(names) if name in wanted]

    def _check_labels(self, n: int) -> None:
        if len(self.labels_) < 2:
            raise faithkit.errors.InputError(
                f"the model gives all {n} rows of the background that dice can learn from the label "
                f"{str(self.labels_[0])!r}, and a counterfactual has another one. "
                "Give a background of two labels or more."
            )


def _wrong(name: str, expected: str, given: Any) -> faithkit.errors.ParameterError:
    return faithkit.errors.ParameterError(f"dice: {name} must be {expected}, got {given!r}.")


def _without(remarks: Any) -> NDArray[np.intp]:
    """Return the places where nothing is said."""
    return np.flatnonzero([remark is None for remark in remarks])


def _dtypes(rows: Any) -> list[Any]:
    return list(rows.dtypes) if hasattr(rows, "dtypes") else [rows.dtype]
