"""Anchors of tables: the published algorithm as anchor-exp has it, for many rows at once, in exact rules.

An anchor is judged here on rows like the background's in which its predicates hold. Whether it keeps its
word on real rows is what sufficiency measures.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_scoped_rules.anchors.bins import BINS, BinnedTable, Bools, Condition, Floats
from faithkit_scoped_rules.anchors.library import AnchorPackage
from faithkit_scoped_rules.anchors.rows import PerturbedRows, codes_of
from faithkit_scoped_rules.anchors.search import Search
from faithkit_scoped_rules.anchors.together import Steps, together
from faithkit_scoped_rules.unseen import unseen

ENGINES = ("faithkit", "library")
RuleAndRemark = tuple[faithkit.Rule, str | None]


class Anchors:
    """Rules that, as far as perturbed rows tell, fix the model's answer (Ribeiro, Singh, Guestrin 2018).

    Parameters
    ----------
    threshold : float
        The precision that a rule must reach.
    delta : float
        The probability with which the confidence bounds may fail.
    tau : float
        How exactly the best candidates of each size are told apart.
    batch_size : int
        How many samples of a candidate are drawn at a time.
    beam_size : int
        How many candidates of each size are extended; 1 is what anchor-exp does, whatever it is told.
    max_size : int, optional
        The most conditions a rule may have.
    bins : str
        Where numbers are cut: at "quartile" or "decile" points of the background.
    within : float, optional
        By how much a number may differ from the instance's and still be the model's answer, where it predicts
        numbers; `shared` tells it. By default what the measure counts as equal (``agree="within:ε"``), else
        half a standard deviation of the predictions for the background.
    engine : str
        "faithkit" searches for many rows together; "library" calls anchor-exp row by row, with the same
        parameters, the beam included, and the row's own seed.

    Notes
    -----
    A missing value is a value like others: a rule can ask that a cell is missing or, where the background
    has missing cells in the column, that it is not. No other condition on a number holds for a missing one.

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
    rows_per_chunk = 1024  # some take a hundred times as many rounds as others: few should be the last

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
        if engine not in ENGINES:
            raise faithkit.errors.ParameterError(
                f"anchors: engine must be one of {', '.join(ENGINES)}, got {engine!r}."
            )
        self.bins = bins
        self.engine = engine
        if engine == "library":
            self.rows_per_chunk = 16  # no row gains from company, so let workers share few
        self.within = faithkit.plugin.Tolerance.checked("anchors", within)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "Anchors":
        """Cut the background into bins; rows to ask the model about are drawn from it."""
        if isinstance(background, list):
            raise faithkit.errors.InputError("anchors explains tables, not texts: use anchors-text.")
        self.predictor_ = predictor
        self.tolerance_ = faithkit.plugin.Tolerance.of("anchors", predictor, background, self.within)
        self.encoder_ = faithkit.plugin.Encoder(background)
        self.named_ = hasattr(background, "columns")
        self.table_ = BinnedTable.learn(self.encoder_.encode(background), self.encoder_.categories, self.bins)
        if self.engine == "library":
            self.package_ = AnchorPackage(self.encoder_, self.table_, self.bins, self.search)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one rule per row, each found with its own seed."""
        codes = self.encoder_.encode(X, unseen="keep")
        strangers, remarks = unseen(self.encoder_, codes)
        known, rules = np.flatnonzero(~strangers), np.full(len(codes), None, dtype=object)
        names = self._names(X)
        search = self._search_by_package if self.engine == "library" else self._search_together
        for i, (rule, remark) in zip(
            known, search(codes[known], np.asarray(seeds)[known], names), strict=True
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

    def _search_by_package(self, rows: Floats, seeds: Any, names: list[Any]) -> Iterator[RuleAndRemark]:
        self.package_.check_numbers(rows, "an explained row")
        for row, seed in zip(rows, seeds.tolist(), strict=True):
            own = self._predict(row[None, :])[0]
            agree = functools.partial(self._agree, own)
            conditions, remark = self.package_.anchor(row, agree, seed)
            yield self._rule(conditions, names), remark
            faithkit.plugin.rows_done()

    def _search_together(self, rows: Floats, seeds: Any, names: list[Any]) -> list[RuleAndRemark]:
        searches = (self._steps(row, seed, names) for row, seed in zip(rows, seeds.tolist(), strict=True))
        # all other cells of perturbed rows are the background's own
        strange = np.flatnonzero(self.table_.strange(rows, range(rows.shape[1])).any(axis=0)).tolist()
        ask = functools.partial(self._labels, strange=strange)
        bytes_a_round = self.search.rows_a_round * 8 * rows.shape[1]
        return together(searches, ask, bytes_a_round, self.predictor_.is_regressor)

    def _steps(self, row: Floats, seed: int, names: list[Any]) -> Steps[RuleAndRemark]:
        rows = PerturbedRows(self.table_, row, seed)
        anchor = yield from self.search.steps(rows, self.tolerance_)
        if anchor.unanimous:
            return faithkit.Rule(), None
        return self._rule([rows.conditions[number] for number in anchor.predicates], names), anchor.remark

    def _rule(self, conditions: list[Condition], names: list[Any]) -> faithkit.Rule:
        columns = self.table_.columns
        return self.encoder_.rule([columns[c.column].predicate(names[c.column], c) for c in conditions])

    def _predict(self, codes: Floats) -> NDArray[Any]:
        return self.predictor_.predict(self.encoder_.decode(codes))

    def _agree(self, own: Any, codes: Floats) -> Bools:
        return self.tolerance_.agree(self._predict(codes), own)

    def _labels(self, rows: list[bytes], strange: Sequence[int] = ()) -> NDArray[Any]:
        """Ask the model; rows with strange cells, which may change a column's dtype, are not among others."""
        codes = np.asfortranarray(codes_of(rows))
        found = self.table_.strange(codes, strange)
        if not found.any():
            return self._predict(codes)
        patterns, of_row = np.unique(found, axis=0, return_inverse=True)
        labels = np.empty(len(codes), dtype=np.float64 if self.predictor_.is_regressor else object)
        for pattern in range(len(patterns)):
            alike = of_row == pattern
            labels[alike] = self._predict(codes[alike])
        return labels

    def _names(self, X: Any) -> list[Any]:
        """Return how X itself names the columns: rules are asked about rows such as these."""
        if not hasattr(X, "columns"):
            return list(range(self.encoder_.n_columns))
        by_text = {str(name): name for name in X.columns}
        return [by_text[name] for name in self.encoder_.names] if self.named_ else list(X.columns)
