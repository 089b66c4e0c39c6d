"""Run functions on the workers of a Dask cluster.

It uses the client of joblib's Dask backend, and not the backend itself: that one (joblib 1.6) waits for ever
for a task whose workers were killed.
"""

import asyncio
import contextlib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import joblib

from faithkit.errors import ExplainerError, InputError
from faithkit.run.components.resolution import ResolvedComponent, resolve_component
from faithkit.run.explaining.job import SharedFunction, cluster_worker
from faithkit.run.provenance import versions
from faithkit.third_party import guard
from faithkit.wording import describe

Item = TypeVar("Item")
T = TypeVar("T")

CONNECT_SECONDS = 5


@contextlib.contextmanager
def connect_to_scheduler(scheduler: str) -> Iterator[None]:
    """Let joblib use the cluster of a Dask scheduler, such as tcp://10.0.0.1:8786."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("the backend dask needs the package distributed: pip install distributed.") from None
    if not re.fullmatch(r"[a-z]+://.+:\d+", scheduler):
        raise InputError(f"{scheduler!r} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    try:
        # Dask's client would wait for ever for a server that does not answer
        server_type = asyncio.run(asyncio.wait_for(_fetch_server_type(scheduler), CONNECT_SECONDS))
        if server_type != "Scheduler":
            raise InputError(f"there is a {server_type!r:.30}")
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # addresses and networks fail in many ways
        raise InputError(
            f"no Dask scheduler answers at {scheduler} ({describe(error)}): start one with "
            "`dask scheduler`, and give the address that it prints, such as tcp://10.0.0.1:8786."
        ) from None
    with client, joblib.parallel_config(backend="dask", client=client):
        yield


async def _fetch_server_type(address: str) -> Any:
    from distributed import Security
    from distributed.core import rpc

    async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
        return (await server.identity())["type"]


def active_cluster() -> Any:
    """Return the Dask backend that joblib is configured with, or None."""
    backend, _ = joblib.parallel.get_active_backend()
    return backend if type(backend).__name__ == "DaskDistributedBackend" else None


class KilledWorkersError(ExplainerError):
    """Several workers of a cluster died at the same task."""


def map_in_order(
    cluster: Any,
    function: Callable[[Item], T],
    items: Sequence[Item],
    components: Iterable[ResolvedComponent],
) -> Iterator[T]:
    """Call a function for each item, and yield the results in the order of the items.

    The function, with the object that it is bound to, travels to each worker once.
    """
    check_workers(cluster, components)
    for future in _submit_all(cluster, SharedFunction.of(function), items):
        yield _result_of(future)


def map_as_completed(
    cluster: Any, function: SharedFunction, items: Sequence[Item]
) -> Iterator[tuple[Item, Any]]:
    """Call a function for each item, and yield items and results as they are finished.

    A `KilledWorkersError` in place of a result says that workers died repeatedly at the item.
    """
    from distributed import as_completed

    item_of = dict(zip(_submit_all(cluster, function, items), items, strict=True))
    completed = as_completed(item_of, loop=cluster.client.loop)
    while item_of:
        with _guard_cluster():
            future = next(completed)
        try:
            result = _result_of(future)
        except KilledWorkersError as error:
            result = error
        yield item_of.pop(future), result  # the cluster forgets a result without a future


def _submit_all(cluster: Any, function: SharedFunction, items: Sequence[Any]) -> list[Any]:
    """Submit a task for each item, and return the futures.

    The function is also the result of a task, so Dask sends it again if all workers that have it die.
    """

    def submit(*call: Any) -> Any:
        return cluster.client.submit(*call, **{"pure": False, **cluster.submit_kwargs})

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # each row is sent only once
        sent_function = submit(_identity, function)
        return [submit(_run_task, sent_function, item) for item in items]


def _identity(value: T) -> T:
    return value


def _run_task(function: SharedFunction, item: Any) -> Any:
    with (
        guard(f"the worker {cluster_worker().address}", error=ExplainerError),
        joblib.parallel_config(backend="sequential"),  # a worker starts no workers of its own
    ):
        return function.load()(item)


def _result_of(future: Any) -> Any:
    """Return the result of a task; raise `KilledWorkersError` if workers died repeatedly at it."""
    from distributed import KilledWorker

    with _guard_cluster():
        try:
            return future.result()
        except KilledWorker as error:
            raise KilledWorkersError(
                f"a task has killed {error.allowed_failures + 1} workers of the cluster, the last of them "
                f"{error.last_worker.address}: its log says why; often memory is too small."
            ) from None


@contextlib.contextmanager
def _guard_cluster() -> Iterator[None]:
    """Turn failures of the cluster into errors with advice."""
    with guard("the cluster", error=ExplainerError):
        try:
            yield
        except (CancelledError, OSError) as error:
            raise ExplainerError(
                f"the cluster is gone ({describe(error)}): start it again, and then the same command, which "
                "does not repeat what a store keeps."
            ) from None


def check_workers(cluster: Any, components: Iterable[ResolvedComponent]) -> None:
    """Refuse a cluster without workers, or with one that lacks a component or has another version of it."""
    named_components = [resolved for resolved in components if resolved.recipe is not None]
    local_versions = versions(named_components)
    texts = [(resolved.kind, resolved.text) for resolved in named_components]
    with _guard_cluster():
        replies = cluster.client.run(_worker_versions, texts, on_error="return")
    if not replies:
        raise InputError(
            "the cluster has no workers: start some with `dask worker` and the scheduler's address."
        )
    for address, reply in replies.items():
        if isinstance(reply, BaseException):
            raise InputError(
                f"the worker {address} cannot do this: {describe(reply).rstrip('.')}. "
                "Install there what is installed here."
            )
        for name, version in local_versions.items():
            if reply.get(name) != version:
                raise InputError(
                    f"the worker {address} has {name} {reply.get(name)}, and this process has {version}: "
                    "install the same versions everywhere, for numbers may differ."
                )


def _worker_versions(texts: list[tuple[str, str]]) -> dict[str, str]:
    return versions([resolve_component(kind, text) for kind, text in texts])
