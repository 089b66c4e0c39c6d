"""The paper's datasets and experiments: every table and figure, next to the printed numbers."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1

DATASETS = {
    "adult": "48,842 persons, 14 facts from a census; income above 50K or not",
    "avila": "20,867 groups of rows in a manuscript, 10 measurements; twelve copyists",
    "bank-marketing": "45,211 telephone calls, 16 facts; whether a deposit was sold",
    "chess": "28,056 end games of king and rook against king; moves to mate, or draw",
    "covtype": "581,012 patches of forest, 54 facts about the ground; seven types of cover",
    "heart": "303 patients, 13 findings; heart disease or not",
    "rt-polarity": "10,433 snippets of film reviews; positive or negative",
}


@faithkit.plugin.hookimpl
def faithkit_datasets() -> Iterable[faithkit.plugin.Component]:
    """Provide the datasets of the paper. Each is a function in the module `datasets`."""
    for name, summary in DATASETS.items():
        factory = f"faithkit_paper.datasets:{name.replace('-', '_')}"
        yield faithkit.plugin.Component(name=name, factory=factory, summary=summary)
