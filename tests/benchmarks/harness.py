"""One harness for all benchmarks: two ways to the same number, timed in the same run.

Each side runs in a forked process of its own, so that its peak memory can be told and nobody warms
another's caches. A ratio is the peer's time divided by ours; the two answers must be equal.
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from typing import Any

import attrs

_BENCHMARKS: dict[str, Callable[[], "list[Contest]"]] = {}


@attrs.frozen
class Contest:
    """Our way and a peer's to the same answer; `wanted` is the least ratio that was set as a goal."""

    name: str
    ours: Callable[[], Any]
    peer_name: str
    peer: Callable[[], Any]
    wanted: float
    same: Callable[[Any, Any], bool] = lambda a, b: a == b
    repeat: int = 3
    peer_share: float = 1.0  # of the work that the peer does; its time is scaled up


@attrs.frozen
class Run:
    """The best time of a few, the extra memory at the peak, and the answer."""

    seconds: float
    megabytes: float
    answer: Any


def benchmark(function: Callable[[], list[Contest]]) -> Callable[[], list[Contest]]:
    """Register a function that prepares contests."""
    _BENCHMARKS[function.__name__.replace("_", "-")] = function
    return function


def benchmarks() -> dict[str, Callable[[], list[Contest]]]:
    """Return all registered benchmarks by name."""
    return dict(_BENCHMARKS)


def run(work: Callable[[], Any], repeat: int) -> Run:
    """Run in a forked process: the fork shares the prepared data, and its memory is its own."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(work, repeat, send))
    child.start()
    send.close()
    try:
        found: Run = receive.recv()
    except EOFError:
        raise RuntimeError(f"{work} died with exit code {child.exitcode}") from None
    child.join()
    return found


def _child(work: Callable[[], Any], repeat: int, send: Any) -> None:
    _forget_peak()
    before = _status("VmRSS")
    work()  # untimed: imports and first-use compilation are nobody's merit
    peak = _status("VmHWM") - before
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - start)
    send.send(Run(min(times), peak / 1024, answer))
    send.close()
    os._exit(0)  # pools of workers would otherwise be waited for until they time out


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))


def report(name: str, contest: Contest) -> str:
    """Run both sides and say how they compare."""
    ours, peer = run(contest.ours, contest.repeat), run(contest.peer, contest.repeat)
    if not contest.same(ours.answer, peer.answer):
        raise AssertionError(f"{name}: {contest.name}: {ours.answer!r} is not {peer.answer!r}")
    peer = attrs.evolve(peer, seconds=peer.seconds / contest.peer_share)
    ratio = peer.seconds / ours.seconds
    verdict = "" if ratio >= contest.wanted else "  (below the goal)"
    return (
        f"{contest.name:<44} {ours.seconds * 1e3:>10.1f} {ours.megabytes:>8.0f}   "
        f"{contest.peer_name:<24} {peer.seconds * 1e3:>10.1f} {peer.megabytes:>8.0f} "
        f"{ratio:>8.2f} {contest.wanted:>7.4g}{verdict}"
    )


HEADER = (
    f"{'contest':<44} {'ours, ms':>10} {'peak, MB':>8}   {'peer':<24} {'peer, ms':>10} {'peak, MB':>8} "
    f"{'ratio':>8} {'goal':>7}"
)
