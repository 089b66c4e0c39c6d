"""The explainer `dice`: DiCE's searches for many rows, with results that the model confirms."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_search.dice_searches import METHODS, SPARSITIES, Searches
from faithkit_example_based.dice_search.dice_table import DiceTable, Floats
from faithkit_example_based.dice_search.goals import (
    ClassGoal,
    DiceModel,
    Goal,
    NumberGoal,
    NumberModel,
    score_columns,
    scores_are_probabilities,
)
from faithkit_example_based.dice_search.library import LibrarySearches
from faithkit_example_based.dice_search.neighbors import Neighbors, NeighborsFactory, NumberNeighbors
from faithkit_example_based.target import ALREADY, CounterfactualTarget

ENGINES = ("faithkit", "library")
NOT_FOUND = "no counterfactual found"
NO_ROOM = "a value that the background's column has no room for"


class Dice:
    """A counterfactual: a row like the instance with another label, by DiCE (Mothilal et al. 2020).

    Parameters
    ----------
    method : str
        "random" changes columns of the instance at random, few at first; "kdtree" takes a row of the
        background near the instance; "genetic" breeds such rows.
    features_to_vary : str or list of str
        The columns that may change: "all", or their names.
    sparsity : str or None
        How to move numbers back that differ little from the instance's: by "binary" search, in "linear"
        steps, or not at all (None). Linear steps are dice-ml's default. They end at much the same row, and
        need far more model calls.
    max_calls : int
        The largest number of model calls per row. A search that needs more calls has no result. Without a
        limit the genetic search might never end.
    within : float, optional
        For models that predict numbers: the smallest difference between the predictions of a counterfactual
        and of the instance. `shared` reports it. By default the measure's tolerance (``agree="within:ε"``),
        else half a standard deviation of the predictions for the background.
    desired_range : list of two numbers, optional
        The smallest and the largest desired number, such as [0, 10]. A row whose prediction is already in the
        range has no explanation.
    engine : str
        "faithkit" searches for many rows together; "library" calls dice-ml row by row, with the same
        parameters and the row's own seed.

    Notes
    -----
    With two labels the search looks for the other one. With more it looks for the runner-up: the most
    probable other label of the background or, if the model has no scores, the most frequent one. A result
    counts only if the model gives it another label than the instance. Otherwise the row has no explanation,
    with the remark "no counterfactual found".

    A missing category is treated as a category. DiCE accepts no missing numbers, and no categories that the
    background does not have. Such rows have no explanation, and a remark gives the reason. DiCE ignores rows
    of the background in which a number is missing.

    `max_calls` ends a search at the same point on every machine. Where the model itself hangs, a limit in
    seconds ends the row: the executor ``processes:timeout=SECONDS``.

    With ``engine="library"`` the searches are dice-ml's own, faults included. Both engines use the same
    complete rows, in float64, look for the same label, and check the result with the model. With this engine,
    a search that reaches `max_calls` has no result, even in its sparsity step. For models that predict
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
            raise _parameter_error("method", f"one of {', '.join(METHODS)}", method)
        is_list = isinstance(features_to_vary, list | tuple) and len(features_to_vary) > 0
        if features_to_vary != "all" and not is_list:
            raise _parameter_error(
                "features_to_vary", "'all' or a list of columns, such as ['age']", features_to_vary
            )
        if sparsity not in (*SPARSITIES, None):
            raise _parameter_error("sparsity", "binary, linear or none", sparsity)
        if engine not in ENGINES:
            raise _parameter_error("engine", f"one of {', '.join(ENGINES)}", engine)
        error = faithkit.errors.ParameterError
        self.engine = engine
        if engine == "library":
            self.rows_per_chunk = 16  # rows are searched one by one, so small chunks balance the workers
        self.method = method
        self.features_to_vary = features_to_vary
        self.sparsity = sparsity
        self.max_calls = faithkit.plugin.check_integer(max_calls, "dice: max_calls", minimum=1, error=error)
        self.within, self.desired_range = CounterfactualTarget.check_parameters("dice", within, desired_range)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Dice":
        """Prepare the searches for the background and the model's predictions for it."""
        self.predictor_ = predictor
        self.encoder_ = faithkit.plugin.Encoder(background)
        columns = self._columns_to_vary()
        self.table_ = DiceTable.learn(self.encoder_.encode(background), self.encoder_.categorical)
        rows = self.encoder_.decode(self.table_.codes)
        self.dtypes_ = _dtypes(rows)
        self.target_ = CounterfactualTarget.of("dice", predictor, rows, self.within, self.desired_range)
        model, neighbors = (self._prepare_numbers if predictor.is_regressor else self._prepare_labels)(rows)
        search = self.method, self.sparsity, self.max_calls
        if self.engine == "library":
            self.searches_: Searches | LibrarySearches = LibrarySearches(self.table_, columns, model, *search)
        else:
            from faithkit_example_based.dice_search.background import learn_space

            self.searches_ = Searches(learn_space(self.table_, columns), model, neighbors, *search)
        return self

    def _prepare_labels(self, rows: Any) -> tuple[DiceModel, NeighborsFactory]:
        self.labels_, classes = np.unique(self.predictor_.predict(rows), return_inverse=True)
        self._check_labels(len(classes))
        self.frequencies_ = np.bincount(classes)
        by_scores = self.method == "genetic" and scores_are_probabilities(self.predictor_, rows, self.labels_)
        model = DiceModel(self.predictor_, self.encoder_, self.labels_, by_scores)
        return model, partial(Neighbors, self.table_, classes)

    def _prepare_numbers(self, rows: Any) -> tuple[NumberModel, NeighborsFactory]:
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
        """Return one counterfactual per row, each found with its own seed, in the background's columns."""
        codes = self.encoder_.encode(X, unseen="keep")
        remarks = np.array(self._rejection_reasons(codes), dtype=object)
        accepted = _rows_without_remark(remarks)
        instance_predictions = self.predictor_.predict(self.encoder_.decode(codes[accepted]))
        has_target = self.target_.is_already_met(instance_predictions)
        remarks[accepted[has_target]] = ALREADY
        accepted, instance_predictions = accepted[~has_target], instance_predictions[~has_target]
        solved, rows = self._find_counterfactuals(
            codes[accepted], instance_predictions, np.asarray(seeds)[accepted]
        )
        remarks[np.delete(accepted, solved)] = NOT_FOUND
        values = np.repeat(self.table_.codes[:1], len(codes), axis=0)
        values[accepted[solved]] = rows
        return faithkit.Explanations(
            kind="example",
            values=self.encoder_.decode(values),
            instances=X,
            missing=[remark is not None for remark in remarks],
            remarks=remarks,
            shared=self.target_.to_shared(),
            relation="in-ball",
        )

    def _rejection_reasons(self, codes: Floats) -> list[str | None]:
        """Return for each row the reason why DiCE cannot explain it, or None if it can."""
        reasons = [self.table_.rejection_reason(row) for row in codes]
        accepted = _rows_without_remark(reasons)
        if not self._fits_dtypes(codes[accepted]):  # then find the rows that do not fit
            for i in accepted:
                reasons[i] = None if self._fits_dtypes(codes[[i]]) else NO_ROOM
        return reasons

    def _fits_dtypes(self, codes: Floats) -> bool:
        return _dtypes(self.encoder_.decode(codes)) == self.dtypes_

    def _find_counterfactuals(
        self, rows: Floats, instance_predictions: Any, seeds: Any
    ) -> tuple[NDArray[np.intp], Floats]:
        """Return the indices of the rows that have a counterfactual, and the counterfactuals."""
        candidates = self.searches_.candidates(rows, self._goals(rows, instance_predictions), seeds)
        row_of_candidate = np.repeat(np.arange(len(rows)), list(map(len, candidates)))
        all_candidates = np.concatenate([rows[:0], *candidates])
        predictions = self.predictor_.predict(self.encoder_.decode(all_candidates))
        is_reached = self.target_.contains(predictions, instance_predictions[row_of_candidate])
        solved, first = np.unique(row_of_candidate[is_reached], return_index=True)
        return solved, all_candidates[is_reached][first]

    def _goals(self, rows: Floats, instance_predictions: Any) -> Sequence[Goal]:
        """Return the goal of each row."""
        if self.predictor_.is_regressor:
            return [NumberGoal(self.target_, number, self.unit_) for number in instance_predictions.tolist()]
        return [
            ClassGoal(target)
            for target in self._targets(self.encoder_.decode(rows), instance_predictions).tolist()
        ]

    def _targets(self, instances: Any, labels: Any) -> Any:
        """Return the class index of the label to look for: the other one of two, else the runner-up."""
        is_predicted = np.equal.outer(labels, self.labels_)
        columns = score_columns(self.predictor_, self.labels_)
        has_choice = (~is_predicted).sum(axis=1).max(initial=0) > 1
        if has_choice and columns is not None:
            scores = self.predictor_.scores(instances)[:, columns]
        else:
            scores = np.broadcast_to(self.frequencies_, is_predicted.shape)
        return np.where(is_predicted, -np.inf, scores).argmax(axis=1)

    def _columns_to_vary(self) -> list[int]:
        """Return the positions of the columns that may change."""
        names = self.encoder_.names
        if self.features_to_vary == "all":
            return list(range(len(names)))
        chosen = [str(name) for name in self.features_to_vary]
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise faithkit.errors.InputError(
                f"dice: features_to_vary has {unknown[0]!r}, which is no column of the background: "
                f"it has {', '.join(names[:10])}{', …' if len(names) > 10 else ''}."
            )
        return [j for j, name in enumerate(names) if name in chosen]

    def _check_labels(self, n: int) -> None:
        if len(self.labels_) < 2:
            raise faithkit.errors.InputError(
                f"the model gives all {n} rows of the background that dice can learn from the label "
                f"{str(self.labels_[0])!r}, and a counterfactual has another one. "
                "Give a background of two labels or more."
            )


def _parameter_error(name: str, expected: str, value: Any) -> faithkit.errors.ParameterError:
    return faithkit.errors.ParameterError(f"dice: {name} must be {expected}, got {value!r}.")


def _rows_without_remark(remarks: Any) -> NDArray[np.intp]:
    """Return the indices of the rows without a remark."""
    return np.flatnonzero([remark is None for remark in remarks])


def _dtypes(rows: Any) -> list[Any]:
    return list(rows.dtypes) if hasattr(rows, "dtypes") else [rows.dtype]
