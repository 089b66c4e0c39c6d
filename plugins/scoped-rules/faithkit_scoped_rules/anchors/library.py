"""`engine=library` of `anchors` and `anchors-text`, which calls anchor-exp row by row."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import faithkit
from faithkit_scoped_rules.anchors.beam_search import BELOW_THRESHOLD, Search
from faithkit_scoped_rules.anchors.binned_table import BinnedTable, Bools, Condition, Floats

ENGINES = ("faithkit", "library")


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

        `agree` returns in which encoded rows the model gives this row's answer.
        """
        with faithkit.plugin.seed_global_generators(seed):
            sample, mapping = self.explainer.get_sample_fn(row, agree, desired_label=True)
            numbers, remark = _search(sample, self.search)
        return [self._condition(*mapping[number]) for number in numbers], remark

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


def find_text_anchor(
    text: str, words: list[str], agree: Callable[[list[str]], Bools], seed: int, search: Search
) -> tuple[list[str], str | None]:
    """Search with anchor-exp for the anchor of a text; return its words, and a remark if it is imprecise.

    anchor-exp asks a spaCy model for the words of the text, and needs nothing else of it. `agree` returns for
    which texts the model gives this text's answer.
    """
    from anchor.anchor_text import AnchorText

    tokens = [Token(word, position) for position, word in enumerate(words)]
    explainer = AnchorText(lambda _: tokens, class_names=[], use_unk_distribution=True)
    with faithkit.plugin.seed_global_generators(seed):
        *_, sample = explainer.get_sample_fn(text, agree)
        numbers, remark = _search(sample, search, stop_on_first=True, coverage_samples=1)
    return [words[number] for number in numbers], remark


class Token(NamedTuple):
    """A word of a text, with the attributes of a spaCy token that anchor-exp reads."""

    text: str
    idx: int


def _search(sample: Callable[..., Any], search: Search, **options: Any) -> tuple[list[int], str | None]:
    """Return the numbers of an anchor's predicates, and a remark if it is imprecise.

    anchor-exp's `explain_instance` ignores the beam size, so this function calls its search directly.
    """
    from anchor.anchor_base import AnchorBaseBeam

    result = AnchorBaseBeam.anchor_beam(
        sample,
        desired_confidence=search.threshold,
        delta=search.delta,
        epsilon=search.tau,
        batch_size=search.batch_size,
        beam_size=search.beam_size,
        max_anchor_size=search.max_size,
        **options,
    )
    precision = result["mean"][-1] if result["feature"] else result["all_precision"]
    return result["feature"], None if precision >= search.threshold else BELOW_THRESHOLD


def check_engine(name: str, engine: str) -> str:
    """Return the engine of the explainer `name`, if there is one of that name."""
    if engine not in ENGINES:
        raise faithkit.errors.ParameterError(
            f"{name}: engine must be one of {', '.join(ENGINES)}, got {engine!r}."
        )
    return engine
