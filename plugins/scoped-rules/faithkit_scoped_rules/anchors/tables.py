"""The explainer `anchors` for tables: anchor-exp's algorithm for many rows at a time, with exact rules.

The precision of an anchor is estimated on perturbed rows of the background. Sufficiency measures whether the
anchor also holds on real rows.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.beam_search import Search
from faithkit_scoped_rules.anchors.binned_table import BINS, BinnedTable, Bools, Condition, Floats
from faithkit_scoped_rules.anchors.library import AnchorLibrary, check_engine
from faithkit_scoped_rules.anchors.lockstep_searches import Steps, run_together
from faithkit_scoped_rules.anchors.perturbed_rows import PerturbedRows, from_bytes
from faithkit_scoped_rules.unseen_categories import find_unseen

RuleAndRemark = tuple[faithkit.Rule, str | None]


class Anchors:
    """Rules that fix the model's answer on perturbed rows (Ribeiro, Singh, Guestrin 2018).

    Parameters
    ----------
    threshold : float
        The precision that a rule must reach.
    delta : float
        The probability with which the confidence bounds may fail.
    tau : float
        The tolerance in the comparison of the best candidates of each size.
    batch_size : int
        The number of samples of a candidate to draw at a time.
    beam_size : int
        The number of candidates of each size to extend. anchor-exp always uses 1, whatever its parameter.
    max_size : int, optional
        The most conditions a rule may have.
    bins : str
        Where numbers are cut: at "quartile" or "decile" points of the background.
    within : float, optional
        The largest difference of predicted numbers that count as the same answer; stored in `shared`. By
        default the tolerance of the measure (``agree="within:ε"``), else
        half a standard deviation of the predictions for the background.
    engine : str
        "faithkit" searches for many rows together; "library" calls anchor-exp row by row, with the same
        parameters, the beam included, and the row's own seed.

    Notes
    -----
    A missing value is a value like others: a rule can ask that a value is missing or, where the background
    has missing values in the column, that it is not. No other condition on a number holds for a missing one.

    A row with a category that the background does not have has no explanation; a remark says so.

    Where no rule reaches the threshold the search returns the most precise one it met: it is kept, with the
    remark "below the threshold". Where the search meets no other label at all the rule is empty, and covers
    everything. Otherwise the published search tries the empty rule only if the first row that it draws
    has the instance's label.

    With ``engine="library"`` missing and infinite numbers are refused, anchor-exp's rule is kept where the
    search meets no other label, and each row takes the memory of 10,000 batches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([np.arange(100.0), rng.normal(size=100)])
    >>> model = faithkit.Predictor(lambda X: np.where(X[:, 0] > 49.5, "old", "young"))
    >>> anchors = Anchors().fit(model, X)
    >>> for rule in anchors.explain(X[[10, 70]], seeds=[1, 2]).values:
    ...     print(rule)
    0 ≤ 49.5
    0 > 49.5
    """

    outcomes = ("labels", "numbers")
    rows_per_chunk = 1024  # large, because some rows take a hundred times as many rounds as others

    def __init__(
        self,
        threshold: float = 0.95,
        delta: float = 0.1,
        tau: float = 0.15,
        batch_size: int = 100,
        beam_size: int = 4,
        max_size: int | None = None,
        bins: str = "quartile",
        within: float | None = None,
        engine: str = "faithkit",
    ) -> None:
        self.search = Search("anchors", threshold, delta, tau, batch_size, beam_size, max_size)
        if bins not in BINS:
            raise faithkit.errors.ParameterError(
                f"anchors: bins must be one of {', '.join(BINS)}, got {bins!r}."
            )
        self.bins = bins
        self.engine = check_engine("anchors", engine)
        if engine == "library":
            self.rows_per_chunk = 16  # rows are searched one by one, so small chunks balance the workers
        self.within = faithkit.plugin.Tolerance.check_within("anchors", within)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Anchors":
        """Cut the background into bins; perturbed rows are drawn from it."""
        if isinstance(background, list):
            raise faithkit.errors.InputError("anchors explains tables, not texts: use anchors-text.")
        self.predictor_ = predictor
        self.tolerance_ = faithkit.plugin.Tolerance.of("anchors", predictor, background, within=self.within)
        self.encoder_ = faithkit.plugin.Encoder(background)
        self.named_ = hasattr(background, "columns")
        self.table_ = BinnedTable.learn(self.encoder_.encode(background), self.encoder_.categories, self.bins)
        if self.engine == "library":
            self.library_ = AnchorLibrary(self.encoder_, self.table_, self.bins, self.search)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per row, each found with its own seed."""
        codes = self.encoder_.encode(X, unseen="keep")
        has_unseen, remarks = find_unseen(self.encoder_, codes)
        rows_without_unseen, rules = np.flatnonzero(~has_unseen), np.full(len(codes), None, dtype=object)
        names = self._column_names(X)
        search = self._search_with_library if self.engine == "library" else self._search_together
        for i, (rule, remark) in zip(
            rows_without_unseen,
            search(codes[rows_without_unseen], np.asarray(seeds)[rows_without_unseen], names),
            strict=True,
        ):
            rules[i], remarks[i] = rule, remark
        return faithkit.Explanations.of(
            rules.tolist(),
            kind="rule",
            instances=X,
            remarks=remarks,
            shared=self.tolerance_.to_shared(),
            relation="in-scope",
        )

    def _search_with_library(self, rows: Floats, seeds: Any, names: list[Any]) -> Iterator[RuleAndRemark]:
        self.library_.check_numbers(rows, "an explained row")
        for row, seed in zip(rows, seeds.tolist(), strict=True):
            label = self._predict(row[None, :])[0]
            agree = functools.partial(self._agree, label)
            conditions, remark = self.library_.find_anchor(row, agree, seed)
            yield self._build_rule(conditions, names), remark
            faithkit.plugin.report_progress()

    def _search_together(self, rows: Floats, seeds: Any, names: list[Any]) -> list[RuleAndRemark]:
        searches = (self._steps(row, seed, names) for row, seed in zip(rows, seeds.tolist(), strict=True))
        # all other values of perturbed rows come from the background
        unusual_columns = np.flatnonzero(
            self.table_.is_unusual(rows, range(rows.shape[1])).any(axis=0)
        ).tolist()
        predict = functools.partial(self._predict_rows, unusual_columns=unusual_columns)
        bytes_per_round = self.search.rows_per_round * 8 * rows.shape[1]
        return run_together(searches, predict, bytes_per_round, self.predictor_.is_regressor)

    def _steps(self, row: Floats, seed: int, names: list[Any]) -> Steps[RuleAndRemark]:
        rows = PerturbedRows(self.table_, row, seed)
        anchor = yield from self.search.steps(rows, self.tolerance_)
        if anchor.is_unanimous:
            return faithkit.Rule(), None
        return self._build_rule(
            [rows.conditions[number] for number in anchor.predicates], names
        ), anchor.remark

    def _build_rule(self, conditions: list[Condition], names: list[Any]) -> faithkit.Rule:
        columns = self.table_.columns
        return self.encoder_.rule(
            [
                columns[condition.column].predicate(names[condition.column], condition)
                for condition in conditions
            ]
        )

    def _predict(self, codes: Floats) -> NDArray[Any]:
        return self.predictor_.predict(self.encoder_.decode(codes))

    def _agree(self, label: Any, codes: Floats) -> Bools:
        return self.tolerance_.agree(self._predict(codes), label)

    def _predict_rows(self, rows: list[bytes], unusual_columns: Sequence[int] = ()) -> NDArray[Any]:
        """Return the model's labels; rows with unusual values are predicted separately."""
        codes = np.asfortranarray(from_bytes(rows))
        is_unusual = self.table_.is_unusual(codes, unusual_columns)
        if not is_unusual.any():
            return self._predict(codes)
        patterns, pattern_of_row = np.unique(is_unusual, axis=0, return_inverse=True)
        labels = np.empty(len(codes), dtype=np.float64 if self.predictor_.is_regressor else object)
        for pattern in range(len(patterns)):
            has_pattern = pattern_of_row == pattern
            labels[has_pattern] = self._predict(codes[has_pattern])
        return labels

    def _column_names(self, X: Any) -> list[Any]:
        """Return the names of the columns in X, because rules are applied to such rows."""
        if not hasattr(X, "columns"):
            return list(range(self.encoder_.n_columns))
        name_of_text = {str(name): name for name in X.columns}
        return [name_of_text[name] for name in self.encoder_.names] if self.named_ else list(X.columns)
