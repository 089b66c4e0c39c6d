"""Adapters of texts read explanations that are written as texts or codes, such as rules in words.

Their pseudo type is `text`. If exactly one of those that are installed takes the texts, it reads them by
itself; users choose another one by name.
"""

import copy
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from faithkit.arrays.containers import Rows, n_rows
from faithkit.errors import ContractError, InputError, PluginError, warn
from faithkit.explanations.explanations import Explanations, object_array
from faithkit.extension.creation import EMPTY, build, parameters
from faithkit.extension.entries import Entry
from faithkit.extension.known_plugins import pip_command, providers
from faithkit.extension.registry import registry
from faithkit.extension.spec import parse_spec
from faithkit.inputs.objects.adapters import RowContext
from faithkit.inputs.rows import feature_names_or_none
from faithkit.measure.protocols import get_optional_attribute
from faithkit.third_party import guard
from faithkit.wording import join_words

TEXT = "text"
"""The pseudo type of adapters that read texts."""

NO_ADAPTER = "none"
"""What users write where texts shall be compared as they are."""

Text = str | tuple[str, ...]
"""An explanation in words: a text, or the texts of a list."""

_RULE_READER = "rule-texts"
_COMPARISON = re.compile("[<>=≤≥≠]")


def is_text_adapter(entry: Entry) -> bool:
    """Return whether an adapter reads texts."""
    return TEXT in entry.component.types


@attrs.frozen(eq=False)
class TextAdapter:
    """An adapter of texts, and its entry in the registry for messages.

    An adapter with the method `partial_fit` sees all rows of X first, perhaps in parts. It then gets each
    distinct text once, so that it can read logs that are larger than memory. Any other adapter gets the
    explanations of all rows, with the rows as `context.X`.
    """

    entry: Entry
    instance: Any

    @classmethod
    def of(cls, entry: Entry, params: Mapping[str, Any]) -> "TextAdapter":
        """Create the adapter of an entry."""
        return cls(entry, build(entry, params))

    @classmethod
    def named(cls, text: str) -> "TextAdapter":
        """Create the adapter of texts that a text names, with parameters as "name:param=value,…"."""
        name, params = parse_spec(text)
        entry = registry().find("adapter", name)
        if not is_text_adapter(entry):
            names = [
                entry.component.name for entry in registry().entries("adapter") if is_text_adapter(entry)
            ]
            raise InputError(
                f"{entry} takes {join_words(entry.component.types)}, no texts: choose "
                f"{join_words([*names, NO_ADAPTER], 'or')}."
            )
        return cls.of(entry, params)

    @property
    def reads_distinct_texts(self) -> bool:
        """Whether it reads each distinct text once, after it has seen the columns of X."""
        return get_optional_attribute(self.instance, "partial_fit") is not None

    def takes(self, texts: Sequence[Text]) -> bool:
        """Return whether it can read these texts."""
        return bool(self._call("takes", texts))

    def learn_from(self, parts: Iterable[Rows]) -> "TextAdapter":
        """Return an adapter that has seen these parts of the rows too, if it reads distinct texts."""
        if not self.reads_distinct_texts:
            return self
        adapter = attrs.evolve(self, instance=copy.deepcopy(self.instance))
        for part in parts:
            adapter._call("partial_fit", part)
        return adapter

    def read(self, values: Any, context: RowContext) -> Explanations:
        """Return an explanation for each value."""
        explanations = self._call("explanations", values, context)
        if not isinstance(explanations, Explanations):
            kind = type(explanations).__name__
            raise ContractError(f"{self.entry} made a {kind} of texts; expected faithkit.Explanations.")
        if len(explanations) != n_rows(values):
            raise ContractError(
                f"{self.entry} made {len(explanations)} explanations of {n_rows(values)}; expected one each."
            )
        return explanations

    def read_texts(self, explanations: Explanations, X: Rows) -> Explanations:
        """Read explanations that are texts; an adapter that reads distinct texts has learnt from X."""
        texts = distinct_texts(explanations)
        if not texts:
            return explanations
        if self.reads_distinct_texts:
            return self.remark(TextReading.of(self, texts).apply(explanations), X)
        context = RowContext(n=len(explanations), features=feature_names_or_none(X), X=X)
        read = self.read(list(explanations.values), context)
        return attrs.evolve(read, instances=explanations.instances, block=explanations.block)

    def read_further_texts(self, explanations: Explanations, X: Rows) -> Explanations:
        """Read texts about further rows, in the way in which those about the first rows were read."""
        texts = distinct_texts(explanations)
        if not texts:
            return explanations
        if self.reads_distinct_texts:
            read = TextReading.of(self.learn_from([X]), texts).apply(explanations)
        else:
            read = self.read_texts(explanations, X)
        if are_unread(read, explanations):
            remark = next(filter(None, read.remarked), "compared as a text")
            raise InputError(
                f"the texts of the first rows were read by {self.entry}, and a further one is {remark}: "
                "explain all alike."
            )
        return read

    @property
    def has_remarks(self) -> bool:
        """Whether it remarks on rows."""
        return get_optional_attribute(self.instance, "remarks") is not None

    def remark(self, explanations: Explanations, X: Rows) -> Explanations:
        """Add what it remarks about rows, where nothing is remarked yet."""
        if X is None or not self.has_remarks:
            return explanations
        return _add_remarks(explanations, self._call("remarks", explanations, X))

    def notes(self, explanations: Explanations, ids: pd.Series | None) -> tuple[str, ...]:
        """Return its notes for a result; `ids` are the names of the rows."""
        if get_optional_attribute(self.instance, "notes") is None:
            return ()
        return tuple(self._call("notes", explanations, ids))

    def _call(self, method: str, *arguments: Any) -> Any:
        with guard(f"{self.entry}, in {method},", error=PluginError):
            return getattr(self.instance, method)(*arguments)


@attrs.frozen(eq=False)
class TextReading:
    """What an adapter made of the distinct texts of a column."""

    position: Mapping[Text, int]
    explanations: Explanations

    @classmethod
    def of(cls, adapter: TextAdapter, texts: Sequence[Text]) -> "TextReading":
        """Read each text once."""
        explanations = adapter.read(list(texts), RowContext(n=len(texts)))
        return cls({text: position for position, text in enumerate(texts)}, explanations)

    def apply(self, explanations: Explanations) -> Explanations:
        """Replace the texts of rows by what was made of them."""
        is_missing = explanations.missing
        codes, texts = pd.factorize(_without(explanations.values, is_missing))
        positions = np.array([*(self.position[text] for text in texts), 0])  # code −1 selects the last
        read = self.explanations.take(positions[codes])
        replaced = attrs.evolve(
            read,
            values=_without(read.values, is_missing),
            instances=explanations.instances,
            identity=explanations.identity if read.identity is None else read.identity,
            relation=read.relation or explanations.relation,
            discretizer=read.discretizer or explanations.discretizer,
            missing=is_missing | read.missing,
            shared={**explanations.shared, **read.shared},
            remarks=explanations.remarks,
            block=explanations.block,
        )
        return _add_remarks(replaced, _without(read.remarks, is_missing))

    def count_remarks(self, counts: Mapping[Text, int]) -> dict[str, int]:
        """Return how often each remark about a text applies, by the number of rows of each text."""
        times = Counter[str]()
        if self.explanations.remarks is not None:
            for text, remark in zip(self.position, self.explanations.remarks, strict=True):
                if not pd.isna(remark):
                    times[remark] += counts[text]
        return dict(times)


def find_text_adapter(explanations: Explanations, X: Rows) -> TextAdapter | None:
    """Return the adapter for explanations that are texts, which has seen the rows; None if there is none."""
    texts = None if X is None else distinct_texts(explanations)
    adapter = choose_text_adapter(texts) if texts else None
    return None if adapter is None else adapter.learn_from([X])


def choose_text_adapter(texts: Sequence[Text]) -> TextAdapter | None:
    """Return the one adapter that takes these texts; None if there is none.

    An adapter with a required parameter is used only if users name it.

    Examples
    --------
    >>> choose_text_adapter(["too young", "no income"]) is None
    True
    """
    entries = [entry for entry in registry().entries("adapter") if is_text_adapter(entry)]
    adapters = [TextAdapter.of(entry, {}) for entry in entries if not _needs_parameters(entry)]
    takers = [adapter for adapter in adapters if adapter.takes(texts)]
    if len(takers) > 1:
        names = join_words(adapter.entry.qualified for adapter in takers)
        raise InputError(
            f"explanations such as {_excerpt(texts[0])} are taken by {names}: name one of them with "
            f"adapter=… (CLI: --as), or {NO_ADAPTER} to compare texts."
        )
    if not takers:
        _warn_about_rules(texts)
        return None
    return takers[0]


def are_unread(explanations: Explanations, texts: Explanations) -> bool:
    """Return whether an adapter left texts as they were, perhaps with remarks that say why.

    Examples
    --------
    >>> texts = Explanations.of(["a;b", None])
    >>> are_unread(texts, texts), are_unread(Explanations.of([("a", "b"), None]), texts)
    (True, False)
    """
    if explanations.kind != texts.kind or not isinstance(explanations.values, np.ndarray):
        return False
    is_present = ~texts.missing
    return list(explanations.values[is_present]) == list(texts.values[is_present])


def distinct_texts(explanations: Explanations) -> list[Text] | None:
    """Return the distinct texts of explanations; None if some are no texts, or have a remark.

    Examples
    --------
    >>> distinct_texts(Explanations.of(["a > 1", None, "a > 1", ("a > 1", "b > 2")]))
    ['a > 1', ('a > 1', 'b > 2')]
    >>> distinct_texts(Explanations.of(["a > 1", 2])) is None
    True
    """
    values, is_missing = explanations.values, explanations.missing
    if explanations.kind != "value" or not isinstance(values, np.ndarray) or values.ndim != 1:
        return None
    if explanations.remarks is not None and pd.notna(explanations.remarks[~is_missing]).any():
        return None
    present = values[~is_missing]
    if not all(map(_is_text, present)):
        return None
    return list(pd.unique(object_array(present)))


def _is_text(value: Any) -> bool:
    is_list = isinstance(value, tuple) and value and all(isinstance(text, str) for text in value)
    return isinstance(value, str) or bool(is_list)


def _without(values: Any, is_missing: NDArray[np.bool_]) -> Any:
    """Return a column of objects with None in the rows that are missing; anything else as it is."""
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        return values
    column = values.astype(object)
    column[is_missing] = None
    return column


def _add_remarks(explanations: Explanations, remarks: Any) -> Explanations:
    """Add remarks about rows; a row that has one keeps it."""
    remarks = None if remarks is None else object_array(remarks)
    if remarks is None or not pd.notna(remarks).any():
        return explanations
    if explanations.remarks is not None:
        remarks = np.where(pd.isna(explanations.remarks), remarks, explanations.remarks)
    return attrs.evolve(explanations, remarks=remarks)


def _needs_parameters(entry: Entry) -> bool:
    return any(parameter.default is EMPTY and parameter.preset is EMPTY for parameter in parameters(entry))


def _warn_about_rules(texts: Sequence[Text]) -> None:
    """Say what reads rules, where explanations look like rules and it is not installed."""
    if any(entry.component.name == _RULE_READER for entry in registry().entries("adapter")):
        return
    rule = next((text for text in texts if _COMPARISON.search(str(text))), None)
    if rule is not None:
        warn(
            f"explanations look like rules ({_excerpt(rule)}), and are compared as texts: "
            f"{pip_command(providers('adapter')[_RULE_READER])} reads them, for sufficiency."
        )


def _excerpt(text: Text) -> str:
    return f"{text!r:.60}"
