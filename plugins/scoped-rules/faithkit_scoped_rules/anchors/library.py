"""The engine `anchors:engine=library`, which calls anchor-exp row by row."""

from collections.abc import Callable
from typing import Any

import numpy as np

import faithkit
from faithkit_scoped_rules.anchors.beam_search import BELOW_THRESHOLD, Search
from faithkit_scoped_rules.anchors.binned_table import BinnedTable, Bools, Condition, Floats


class AnchorLibrary:
    """anchor-exp's explainer for tables.

    Parameters
    ----------
    encoder : Encoder
    table : BinnedTable
        The background; anchor-exp cuts it into the same bins.
    bins : str
        "quartile" or "decile".
    search : Search
        The parameters of the search.
    """

    def __init__(
        self, encoder: faithkit.plugin.Encoder, table: BinnedTable, bins: str, search: Search
    ) -> None:
        from anchor.anchor_tabular import AnchorTabularExplainer

        self.encoder, self.table, self.search = encoder, table, search
        self.check_numbers(table.codes, "the background")
        categories = {j: list(map(str, values)) for j, values in encoder.categories.items()}
        self.explainer = AnchorTabularExplainer([], encoder.names, table.codes.copy(), categories, bins)

    def find_anchor(
        self, row: Floats, agree: Callable[[Floats], Bools], seed: int
    ) -> tuple[list[Condition], str | None]:
        """Search for the anchor of an encoded row; return its conditions, and a remark if it is imprecise.

        `agree` returns in which encoded rows the model gives this row's answer. anchor-exp's
        `explain_instance` ignores the beam size, so this method calls its search directly.
        """
        from anchor.anchor_base import AnchorBaseBeam

        with faithkit.plugin.seed_global_generators(seed):
            sample, mapping = self.explainer.get_sample_fn(row, agree, desired_label=True)
            result = AnchorBaseBeam.anchor_beam(
                sample,
                desired_confidence=self.search.threshold,
                delta=self.search.delta,
                epsilon=self.search.tau,
                batch_size=self.search.batch_size,
                beam_size=self.search.beam_size,
                max_anchor_size=self.search.max_size,
            )
        precision = result["mean"][-1] if result["feature"] else result["all_precision"]
        remark = None if precision >= self.search.threshold else BELOW_THRESHOLD
        return [self._condition(*mapping[number]) for number in result["feature"]], remark

    def check_numbers(self, codes: Floats, where: str) -> None:
        """Reject missing and infinite numbers, because anchor-exp has no bin for them."""
        if not np.isfinite(codes).all():
            column = self.encoder.names[np.argwhere(~np.isfinite(codes))[0, 1]]
            raise faithkit.errors.InputError(
                f"anchors: engine=library takes no missing or infinite numbers, and column {column!r} of "
                f"{where} has one: use engine=faithkit, or impute it."
            )

    def _condition(self, column: int, operator: str, bin_: Any) -> Condition:
        """Convert a predicate of anchor-exp: the bin is equal ("eq"), at most ("leq") or greater ("geq")."""
        number = int(bin_)
        if operator == "eq":
            return Condition(column, number - 1, number)
        top = len(self.table.columns[column].cuts)
        return Condition(column, -1, number) if operator == "leq" else Condition(column, number, top)
