"""The kernel's own plugin, which is loaded through the same entry points and hooks as any other plugin.

So third parties can do everything that the kernel does.
"""

from collections.abc import Iterator

from faithkit.extension.component import ARRAYS, INPUTS, Component
from faithkit.extension.entry_points import VERBS
from faithkit.extension.hookspecs import hookimpl

FAITHKIT_API = 1

DATASETS = {
    "breast-cancer": "569 tumours, 30 measurements of their cell nuclei; malignant or benign",
    "diabetes": "442 patients, 10 measurements; a number: how far diabetes has come after a year",
    "digits": "1,797 handwritten digits, 64 pixels; the digit",
    "houses": "2,000 made-up houses; a number: the price, by a known rule and noise",
    "iris": "150 irises, 4 measurements of a flower; three species",
    "loans": "2,000 made-up applications for a loan, 7 columns; granted (yes) or not (no), by a known rule",
    "reasons": "2,000 made-up decisions of a bank, with codes of their reasons; some reasons are false",
    "wine": "178 wines, 13 chemical measurements; three growers",
}
"""The embedded datasets: each a function of `faithkit.inputs.embedded`."""


@hookimpl
def faithkit_relations() -> Iterator[Component]:
    """Offer the relations that compare explanations with each other, and the relation of rules."""
    yield Component(
        name="same-explanation",
        factory="faithkit.explanations.relations:SameExplanation",
        summary="The instance has the very same explanation: the relation of consistency.",
        inputs=(*INPUTS, *ARRAYS),
    )
    yield Component(
        name="near-explanation",
        factory="faithkit.explanations.relations:NearExplanation",
        summary="The instance's own explanation lies within a distance of this one.",
        kinds=("vector",),
        inputs=(*INPUTS, *ARRAYS),
    )
    yield Component(
        name="in-scope",
        factory="faithkit.explanations.in_scope:InScope",
        summary="The instance satisfies every predicate of the rule.",
        kinds=("rule",),
    )


@hookimpl
def faithkit_discretizers() -> Iterator[Component]:
    """Offer the discretizer that changes nothing."""
    yield Component(
        name="original",
        factory="faithkit.explanations.precision:Original",
        summary="Explanations as they are: only equal ones count as the same.",
    )


@hookimpl
def faithkit_estimators() -> Iterator[Component]:
    """Offer the paper's estimator and three variants of it."""
    yield Component(
        name="leave-one-out",
        factory="faithkit.measure.estimators:LeaveOneOut",
        summary="The paper's estimator: the share of the other instances that agree; alone scores 0.",
    )
    yield Component(
        name="plug-in",
        factory="faithkit.measure.estimators:PlugIn",
        summary="The instance itself counts too: the accuracy of the Gibbs decoder.",
    )
    yield Component(
        name="majority",
        factory="faithkit.measure.estimators:Majority",
        summary="Agreement with the commonest label: the accuracy of the optimal decoder.",
    )
    yield Component(
        name="verified-only",
        factory="faithkit.measure.estimators:VerifiedOnly",
        summary="Leave-one-out over those instances that have another one to check against.",
    )


@hookimpl
def faithkit_executors() -> Iterator[Component]:
    """Offer the executors that need this process only."""
    yield Component(
        name="here",
        factory="faithkit.run.explaining.executors:Here",
        summary="In this process, one chunk of rows after the other.",
    )
    yield Component(
        name="threads",
        factory="faithkit.run.explaining.executors:Threads",
        summary="In threads of this process.",
    )


@hookimpl
def faithkit_reporters() -> Iterator[Component]:
    """Offer the formats that need no other library."""
    yield Component(
        name="text",
        factory="faithkit.report.reporters:Text",
        summary="What is printed, in 80 columns.",
        types=(".txt", "text/plain"),
    )
    yield Component(
        name="json",
        factory="faithkit.report.reporters:Json",
        summary="All numbers, for programs and for `faithkit.load`.",
        types=(".json", "application/json"),
    )
    yield Component(
        name="csv",
        factory="faithkit.report.reporters:Csv",
        summary="The measures as a table, for spreadsheets.",
        types=(".csv", "text/csv"),
    )


@hookimpl
def faithkit_datasets() -> Iterator[Component]:
    """Offer the datasets that come with the installation."""
    for name, summary in DATASETS.items():
        factory = f"faithkit.inputs.embedded:{name.replace('-', '_')}"
        yield Component(name=name, factory=factory, summary=summary)


def commands() -> Iterator[Component]:
    """Describe the kernel's verbs; plugins declare theirs as entry points instead."""
    for verb, summary in VERBS.items():
        yield Component(name=verb, factory=f"faithkit.cli.{verb}:command", summary=summary)
