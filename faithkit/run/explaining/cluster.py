"""Work on the Dask cluster that joblib was given: what all share travels once, and troubles have names.

It uses the client of joblib's Dask backend, and not the backend itself: that one (joblib 1.6) waits for ever
for a task whose workers were killed.
"""

import asyncio
import contextlib
import functools
import itertools
import logging
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import joblib

from faithkit.errors import ExplainerError, FaithkitError, FaithkitWarning, InputError
from faithkit.foreign import foreign
from faithkit.run.components.resolution import ResolvedComponent, component
from faithkit.run.explaining.parcel import Parcel, portably
from faithkit.run.provenance import versions
from faithkit.wording import describe

T = TypeVar("T")

CONNECT_SECONDS = 5
ATTEMPTS = 3
LEAST_AHEAD = 64  # items on the cluster at a time: its scheduler holds their rows
BACKEND = "DaskDistributedBackend"


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[None]:
    """Let joblib work on the cluster of a Dask scheduler, such as tcp://10.0.0.1:8786."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("the backend dask needs the package distributed: pip install distributed.") from None
    if not re.fullmatch(r"[a-z]+://.+:\d+", scheduler):
        raise InputError(f"{scheduler!r} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    with _quiet("asyncio", "distributed", "tornado"):
        try:
            _greet(scheduler)
            client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # an address of any form, a network of any kind
            raise InputError(
                f"no Dask scheduler answers at {scheduler} ({describe(error)}): start one with "
                "`dask scheduler`, and give the address that it prints, such as tcp://10.0.0.1:8786."
            ) from None
        with client, joblib.parallel_config(backend="dask", client=client):
            yield


@contextlib.contextmanager
def _quiet(*libraries: str) -> Iterator[None]:
    """Let libraries log nothing: what goes wrong is told once, by us."""
    names = [name for name in [*logging.root.manager.loggerDict] if name.split(".")[0] in libraries]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _greet(address: str) -> None:
    """Ask who is there, in a thread of its own: Dask's client would wait for ever if nobody answers."""
    answer: list[Any] = []

    def ask() -> None:
        try:
            answer.append(asyncio.run(asyncio.wait_for(_identity(address), CONNECT_SECONDS)))
        except TimeoutError:
            return
        except Exception as error:
            answer.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(2 * CONNECT_SECONDS)  # looking up a name cannot be cancelled
    (found,) = answer or [TimeoutError(f"no answer in {CONNECT_SECONDS} s")]
    if isinstance(found, Exception):
        raise found
    if found != "Scheduler":
        raise InputError(f"there is a {found!r:.30}")


async def _identity(address: str) -> Any:
    from distributed import Security
    from distributed.core import connect, send_recv

    comm = await connect(
        address, CONNECT_SECONDS, deserialize=False, **Security().get_connection_args("client")
    )
    try:
        return (await send_recv(comm, op="identity"))["type"]
    finally:
        comm.abort()


def active_cluster() -> Any:
    """Return the Dask backend that joblib is configured with, or None."""
    backend, _ = joblib.parallel.get_active_backend()
    return backend if type(backend).__name__ == BACKEND else None


def on_workers(
    cluster: Any, part: Any, method: str, items: Sequence[Any], components: Iterable[ResolvedComponent]
) -> Iterator[Any]:
    """Yield what a method of `part` makes of each item, in the order of the items."""
    check_workers(cluster, components)
    done: dict[int, Any] = {}
    told = 0
    for i, result in each_result(cluster, Parcel.of(part), getattr(type(part), method), items):
        if isinstance(result, ExplainerError):
            raise result
        done[i] = result
        while told in done:
            yield done.pop(told)
            told += 1


def each_result(
    cluster: Any, parcel: Parcel, function: Callable[[Any, Any], Any], items: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each item and what the function makes of the parcel and it, as they are finished.

    In place of a result an `ExplainerError` says that workers died at the item, again and again.

    Dask repeats what a worker was at when it died. If the last worker that had the parcel dies, the parcel
    is sent again, unless nothing was finished since it was sent, and that several times.
    """
    left = dict(enumerate(items))
    in_vain = 0
    while left and in_vain < ATTEMPTS:
        in_vain += 1
        try:
            for i, result in _results(cluster, parcel, function, left):
                in_vain = 0
                del left[i]
                yield i, result
        except _ParcelLostError:
            if in_vain < ATTEMPTS:
                warnings.warn(
                    "all workers that had the data died; it is sent again.", FaithkitWarning, stacklevel=2
                )
    for i in left:
        yield i, ExplainerError(_DIED)


_DIED = f"the workers of the cluster died {ATTEMPTS} times: their logs say why; often memory is too small."


class _ParcelLostError(FaithkitError):
    """No worker is left that has the parcel."""


def _results(
    cluster: Any, parcel: Parcel, function: Callable[[Any, Any], Any], left: dict[int, Any]
) -> Iterator[tuple[int, Any]]:
    """Yield what becomes of the items that are left, as they are finished."""
    from distributed import as_completed

    client = cluster.client
    sent = _step(lambda: _sent(client, parcel))
    ahead = max(LEAST_AHEAD, 2 * sum(_step(client.ncores).values()))
    waiting = iter([*left.items()])
    numbers: dict[Any, int] = {}
    finished = as_completed(loop=client.loop)
    while True:
        for i, item in itertools.islice(waiting, ahead - len(numbers)):
            future = _submitted(cluster, _work, sent, function, item)
            numbers[future] = i
            finished.add(future)
        if not numbers:
            return
        future = _step(lambda: next(finished))
        yield numbers.pop(future), _step(functools.partial(_outcome, future))


def _sent(client: Any, parcel: Parcel) -> Any:
    """Send the parcel to all workers, when there are some."""
    client.wait_for_workers(1, timeout=2 * CONNECT_SECONDS)
    try:
        (sent,) = client.scatter([parcel], broadcast=True, hash=False)
    except (ValueError, KeyError) as error:  # so Dask says that none was there any more, or one just left
        raise CancelledError from error
    return sent


def _submitted(cluster: Any, *call: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # rows travel once, however many they are
        return cluster.client.submit(*call, **{"pure": False, **cluster.submit_kwargs})


def _outcome(future: Any) -> Any:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        return ExplainerError(
            f"a task has killed {error.allowed_failures + 1} workers of the cluster, the last of them "
            f"{error.last_worker.address}: its log says why; often memory is too small."
        )


def _step(take: Callable[[], T]) -> T:
    """Take a step on the cluster; what goes wrong has a name."""
    with foreign("the cluster", error=ExplainerError):
        try:
            return take()
        except (CancelledError, TimeoutError) as error:  # all its holders are dead, or none is up again
            raise _ParcelLostError("the workers of the cluster are gone.") from error
        except OSError as error:
            raise ExplainerError(
                f"the cluster is gone ({describe(error)}): start it again, and then the same command, which "
                "does not repeat what a store keeps."
            ) from None


def _work(parcel: Parcel, function: Callable[[Any, Any], Any], item: Any) -> Any:
    with joblib.parallel_config(backend="sequential"):  # a worker does not send for others
        return portably(lambda: function(parcel.open(), item))


def check_workers(cluster: Any, components: Iterable[ResolvedComponent]) -> None:
    """Refuse a cluster without workers, or with one that lacks a component or has another version of it."""
    named = [given for given in components if given.recipe is not None]
    wanted = versions(named)
    texts = [(given.kind, given.text) for given in named]
    found = _step(lambda: cluster.client.run(_versions_here, texts, on_error="return"))
    if not found:
        raise InputError(
            "the cluster has no workers: start some with `dask worker` and the scheduler's address."
        )
    for address, answer in found.items():
        if isinstance(answer, BaseException):
            reason = str(answer) if isinstance(answer, FaithkitError) else describe(answer)
            raise InputError(
                f"the worker {address} cannot do this: {reason.rstrip('.')}. "
                "Install there what is installed here."
            )
        for name, version in wanted.items():
            if answer.get(name) != version:
                raise InputError(
                    f"the worker {address} has {name} {answer.get(name)}, and this process has {version}: "
                    "install the same versions everywhere, for numbers may differ."
                )


def _versions_here(texts: list[tuple[str, str]]) -> dict[str, str]:
    return portably(lambda: versions([component(kind, text) for kind, text in texts]))
