"""A plugin with adapters of texts, as tests use it."""

import numpy as np

from faithkit import Explanations
from faithkit.plugin import Component, RowContext, hookimpl

FAITHKIT_API = 1


class Lists:
    """Reads lists in one text; of all rows at once.

    Parameters
    ----------
    separator : str
        What stands between the words.
    """

    def __init__(self, separator: str = ";"):
        self.separator = separator

    def example(self):
        return ["a;b", "b"], RowContext(n=2)

    def takes(self, texts):
        return all(isinstance(text, str) and self.separator in text for text in texts)

    def explanations(self, values, context):
        n_columns = None if context.X is None else context.X.shape[1]
        return Explanations.of(
            [None if text is None else tuple(sorted(text.split(self.separator))) for text in values],
            remarks=[None if text is None else f"beside {n_columns} columns" for text in values],
        )


class Marks:
    """Reads each distinct text once, as the number of rows that it has seen beyond a mark."""

    def __init__(self):
        self.seen = 0

    def example(self):
        return ["#1", "#2"], RowContext(n=2)

    def takes(self, texts):
        return all(isinstance(text, str) and text[:1] == "#" for text in texts)

    def partial_fit(self, X):
        self.seen += len(X)

    def explanations(self, values, context):
        assert context.X is None
        assert len(set(values)) == len(values) == context.n
        numbers = [int(text[1:]) for text in values]
        remarks = ["too large" if number > self.seen else None for number in numbers]
        return Explanations(kind="vector", values=np.array(numbers)[:, None], remarks=remarks)

    def remarks(self, explanations, X):
        is_one = (explanations.values[:, 0] == 1) & ~explanations.missing
        return [f"one, of {len(X.columns)}" if one else None for one in is_one]

    def notes(self, explanations, ids):
        return [f"{len(explanations)} marks of {ids.name}"]


class Required(Lists):
    """Reads lists, with a separator that users must give.

    Parameters
    ----------
    separator : str
        What stands between the words.
    """

    def __init__(self, separator: str):
        super().__init__(separator)


class Short:
    """Breaks the contract: it leaves out a row, or makes no explanations."""

    def takes(self, texts):
        return texts[0] == "?"

    def explanations(self, values, context):
        if len(values) > 3:
            raise ValueError("too many")
        return values if len(values) == 2 else Explanations.of(values[1:])


@hookimpl
def faithkit_adapters():
    for name, summary in {
        "lists": "Lists in a text.",
        "marks": "Marks.",
        "required": "Lists in a text, by a separator.",
        "short": "Breaks the contract.",
    }.items():
        factory = f"texts_plugin:{name.title()}"
        yield Component(name=name, factory=factory, summary=summary, types=("text",))
