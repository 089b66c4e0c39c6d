"""Counterfactuals by DiCE: dice-ml's searches, one row at a time, with every answer checked by the model."""

from typing import Any

import numpy as np

import faithkit
from faithkit_example_based.dice_model import DiceModel, score_columns, tells_probabilities
from faithkit_example_based.dice_search import Search
from faithkit_example_based.dice_table import DiceTable, Floats

METHODS = ("random", "genetic", "kdtree")
SPARSITIES = ("binary", "linear", None)
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

    rows_per_chunk = 8  # a row takes from a tenth of a second to several seconds

    def __init__(
        self,
        method: str = "random",
        features_to_vary: Any = "all",
        sparsity: str | None = "binary",
        max_calls: int = 500,
    ) -> None:
        if method not in METHODS:
            raise _wrong("method", f"one of {', '.join(METHODS)}", method)
        listed = isinstance(features_to_vary, list | tuple) and len(features_to_vary) > 0
        if features_to_vary != "all" and not listed:
            raise _wrong("features_to_vary", "'all' or a list of columns, such as ['age']", features_to_vary)
        if sparsity not in SPARSITIES:
            raise _wrong("sparsity", "binary, linear or none", sparsity)
        error = faithkit.ParameterError
        self.method = method
        self.features_to_vary = features_to_vary
        self.sparsity = sparsity
        self.max_calls = faithkit.whole_number(max_calls, "dice: max_calls", least=1, error=error)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Dice":
        """Hand the rows of the background and their labels to DiCE."""
        self.predictor_ = predictor
        self.encoder_ = faithkit.Encoder(background)
        columns = self._columns()
        self.table_ = DiceTable.learn(self.encoder_.encode(background), self.encoder_.categorical)
        rows = self.encoder_.decode(self.table_.codes)
        self.dtypes_ = _dtypes(rows)
        self.labels_, classes = np.unique(predictor.predict(rows), return_inverse=True)
        self._check_labels(len(classes))
        self.frequencies_ = np.bincount(classes)
        by_scores = self.method == "genetic" and tells_probabilities(predictor, rows, self.labels_)
        model = DiceModel(predictor, self.encoder_, self.table_, self.labels_, by_scores)
        self.search_ = Search(
            self.table_, model, classes, self.method, columns, self.sparsity, self.max_calls
        )
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one counterfactual per row, found with its own seed, in the background's columns."""
        codes = self.encoder_.encode(X, unseen="keep")
        found = [self._counterfactual(row, int(seed)) for row, seed in zip(codes, seeds, strict=True)]
        values = np.array([row for row, _ in found]).reshape(-1, self.encoder_.n_columns)
        remarks = np.array([remark for _, remark in found], dtype=object)
        return faithkit.Explanations(
            kind="example",
            values=self.encoder_.decode(values),
            instances=X,
            missing=[remark is not None for remark in remarks],
            remarks=remarks,
            relation="in-ball",
        )

    def _counterfactual(self, row: Floats, seed: int) -> tuple[Floats, str | None]:
        """Return the codes of a counterfactual, or of any row of the background and why there is none."""
        nothing = self.table_.codes[0]
        refusal = self.table_.refusal(row)
        if refusal is not None:
            return nothing, refusal
        instance = self.encoder_.decode(row[None, :])
        if _dtypes(instance) != self.dtypes_:
            return nothing, NO_ROOM
        label = self.predictor_.predict(instance)[0]
        for candidate in self.search_.candidates(row, self._target(instance, label), seed):
            if self.predictor_.predict(self.encoder_.decode(candidate[None, :]))[0] != label:
                return candidate, None
        return nothing, NOT_FOUND

    def _target(self, instance: Any, label: Any) -> int:
        """Return the number of the label to look for: the other one of two, else the runner-up."""
        others = np.flatnonzero(self.labels_ != label)
        if len(others) == 1:
            return int(others[0])
        columns = score_columns(self.predictor_, self.labels_)
        if columns is None:
            return int(others[self.frequencies_[others].argmax()])
        return int(others[self.predictor_.scores(instance)[0, columns][others].argmax()])

    def _columns(self) -> list[int]:
        """Return the positions of the columns that may change."""
        names = self.encoder_.names
        if self.features_to_vary == "all":
            return list(range(len(names)))
        wanted = [str(name) for name in self.features_to_vary]
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise faithkit.InputError(
                f"dice: features_to_vary has {unknown[0]!r}, which is no column of the background: "
                f"it has {', '.join(names[:10])}{', …' if len(names) > 10 else ''}."
            )
        return [j for j, name in enumerate(names) if name in wanted]

    def _check_labels(self, n: int) -> None:
        if len(self.labels_) < 2:
            raise faithkit.InputError(
                f"the model gives all {n} rows of the background that dice can learn from the label "
                f"{str(self.labels_[0])!r}, and a counterfactual has another one. "
                "Give a background of two labels or more."
            )


def _wrong(name: str, expected: str, given: Any) -> faithkit.ParameterError:
    return faithkit.ParameterError(f"dice: {name} must be {expected}, got {given!r}.")


def _dtypes(rows: Any) -> list[Any]:
    return list(rows.dtypes) if hasattr(rows, "dtypes") else [rows.dtype]
