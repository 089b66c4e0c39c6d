"""Executors for faithkit: explain rows in processes, on a Dask cluster, with time limits, or from a store."""

from collections.abc import Iterable

import faithkit

FAITHKIT_API = 1


@faithkit.plugin.hookimpl
def faithkit_executors() -> Iterable[faithkit.plugin.Component]:
    """Yield the executors of this plugin."""
    yield faithkit.plugin.Component(
        name="processes",
        factory="faithkit_executors.processes:Processes",
        summary="In processes of this machine, which may die, and with a time limit for each row.",
    )
    yield faithkit.plugin.Component(
        name="dask",
        factory="faithkit_executors.dask_cluster:Dask",
        summary="On the workers of a Dask cluster.",
        requires=("distributed",),
    )
    yield faithkit.plugin.Component(
        name="stored",
        factory="faithkit_executors.store:Stored",
        summary="By another executor, and keep what is finished, so that a killed run resumes.",
    )
