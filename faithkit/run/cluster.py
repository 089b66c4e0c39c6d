"""Work on a cluster through joblib's Dask backend: what tasks share travels once, and troubles have names."""

import contextlib
import logging
import os
import re
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

import attrs
import joblib

from faithkit.errors import ExplainerError, FaithkitError, FaithkitWarning, InputError
from faithkit.run.components import Given, component
from faithkit.run.provenance import versions
from faithkit.wording import describe

CONNECT_SECONDS = 5
ATTEMPTS = 3
BACKEND = "DaskDistributedBackend"


@contextlib.contextmanager
def connected(scheduler: str) -> Iterator[None]:
    """Let joblib work on the cluster of a Dask scheduler, such as tcp://10.0.0.1:8786."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError(
            "the backend dask needs the package distributed: pip install 'faithkit[dask]'."
        ) from None
    if not re.fullmatch(r"[a-z]+://.+:\d+", scheduler):
        raise InputError(f"{scheduler!r} is no address of a Dask scheduler, such as tcp://10.0.0.1:8786.")
    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # an address of any form, a network of any kind
        raise InputError(
            f"no Dask scheduler answers at {scheduler} ({describe(error)}): start one with `dask scheduler`, "
            "and give the address that it prints, such as tcp://10.0.0.1:8786."
        ) from None
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)  # what goes wrong is told once, by us
    try:
        with client, joblib.parallel_config(backend="dask", client=client):
            yield
    finally:
        logger.setLevel(level)


def active_cluster() -> Any:
    """Return the Dask backend that joblib is configured with, or None."""
    backend, _ = joblib.parallel.get_active_backend()
    return backend if type(backend).__name__ == BACKEND else None


@attrs.frozen(eq=False)
class Parcel:
    """Something that all tasks need: packed here once, sent to every worker once, unpacked there once."""

    content: bytes
    token: str = attrs.field(factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(cls, thing: Any) -> "Parcel":
        """Pack it."""
        import cloudpickle

        return cls(cloudpickle.dumps(thing))

    def open(self) -> Any:
        """Unpack it, or say which worker cannot."""
        import cloudpickle

        if _SHELF.token != self.token:
            try:
                _SHELF.thing = cloudpickle.loads(self.content)
            except Exception as error:
                raise InputError(
                    f"{place()} cannot take up the work ({describe(error)}): install there what is installed "
                    "here, and put modules of your own on its path."
                ) from None
            _SHELF.token = self.token
        return _SHELF.thing


class _Shelf(threading.local):
    """What this thread of a worker unpacked last."""

    token: str | None = None
    thing: Any = None


_SHELF = _Shelf()


def place() -> str:
    """Name the worker that this is, as the scheduler knows it."""
    from distributed import get_worker

    return f"the worker {get_worker().address}"


def _scattering(cluster: Any, parcel: Any) -> joblib.Parallel:
    """Return joblib's way to the cluster, with the parcel on all workers already."""
    with joblib.parallel_config(backend=_backend(cluster, parcel)):
        return joblib.Parallel(return_as="generator_unordered")


def _backend(cluster: Any, parcel: Any) -> Any:
    """Return a backend like the one that was configured, which scatters the parcel."""
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):
        """Joblib's own, but for tasks that Dask has given up, for which it would wait for ever."""

        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))  # with 1, all would run in this process

        def submit(self, func: Any, callback: Any = None) -> Any:
            def tell(done: Any) -> None:
                if done.exception() is not None:
                    callback(done)

            future = super().submit(func, callback)
            future.add_done_callback(tell)
            return future

        def retrieve_result_callback(self, out: Any) -> Any:
            return out.result() if hasattr(out, "result") else super().retrieve_result_callback(out)

    waiting = {"wait_for_workers_timeout": cluster.wait_for_workers_timeout}
    return Backend(client=cluster.client, scatter=[parcel], **waiting, **cluster.submit_kwargs)


def on_workers(
    cluster: Any, part: Any, method: str, items: Sequence[Any], components: Iterable[Given]
) -> Iterator[Any]:
    """Yield what a method of `part` makes of each item, in the order of the items."""
    check_workers(cluster, components)
    done: dict[int, Any] = {}
    told = 0
    for i, result in each_result(cluster, Parcel.of(part), _call, [(method, item) for item in items]):
        done[i] = result
        while told in done:
            yield done.pop(told)
            told += 1


def _call(parcel: Parcel, task: tuple[str, Any]) -> Any:
    method, item = task
    return getattr(parcel.open(), method)(item)


def each_result(
    cluster: Any, parcel: Parcel, function: Callable[[Parcel, Any], Any], tasks: Sequence[Any]
) -> Iterator[tuple[int, Any]]:
    """Yield the number of each task and what the function makes of it, as they are finished.

    Dask repeats what a worker was at when it died. If the last worker that had the parcel dies, the parcel
    is sent again.
    """
    from distributed import KilledWorker

    left = dict(enumerate(tasks))
    for attempt in range(ATTEMPTS):
        try:
            parallel = _scattering(cluster, parcel)
            for i, result in parallel(
                joblib.delayed(_numbered)(parcel, function, i, left[i]) for i in list(left)
            ):
                yield i, result
                del left[i]
            return
        except KilledWorker as error:
            raise ExplainerError(
                f"a task has killed {error.allowed_failures + 1} workers of the cluster, the last of them "
                f"{error.last_worker.address}: its log says why; often memory is too small."
            ) from None
        except OSError as error:
            raise ExplainerError(
                f"the cluster is gone ({describe(error)}): start it again, and then the same command, which "
                "does not repeat what a store keeps."
            ) from None
        except CancelledError:
            if attempt == ATTEMPTS - 1:
                break
            warnings.warn(
                "all workers that had the data died; it is sent again.", FaithkitWarning, stacklevel=2
            )
    raise ExplainerError(
        f"the workers of the cluster died {ATTEMPTS} times: their logs say why; often memory is too small."
    )


def _numbered(parcel: Parcel, function: Callable[[Parcel, Any], Any], i: int, task: Any) -> tuple[int, Any]:
    with joblib.parallel_config(backend="sequential"):  # a worker does not send for others
        return i, function(parcel, task)


def check_workers(cluster: Any, components: Iterable[Given]) -> None:
    """Refuse a cluster without workers, or with one that lacks a component or has another version of it."""
    named = [given for given in components if given.recipe is not None]
    wanted = versions(named)
    texts = [(given.kind, given.text) for given in named]
    found = cluster.client.run(_versions_here, texts, on_error="return")
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


def all_see(cluster: Any, folder: Any) -> bool:
    """Whether every worker has this folder: the same file system, as far as can be told."""
    return all(cluster.client.run(os.path.isdir, str(folder)).values())


def _versions_here(texts: list[tuple[str, str]]) -> dict[str, str]:
    return versions([component(kind, text) for kind, text in texts])
