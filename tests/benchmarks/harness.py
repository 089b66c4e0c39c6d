"""One harness for all benchmarks: two ways to the same number, timed in the same run, and curves of growth.

Each side runs in a forked process of its own, so that its peak memory is its own and neither warms
the other's caches. A ratio is the peer's time divided by ours; the two answers must be equal.
"""

import multiprocessing
import os
import time
from collections.abc import Callable
from typing import Any

import attrs

LONG = 10.0  # seconds
BATCH_SIZE = 100_000  # rows that a model is asked about: more are no faster

_BENCHMARKS: dict[str, Callable[[], "list[Contest | Curve | Limit]"]] = {}


@attrs.frozen
class Contest:
    """Our way and a peer's to the same answer; `goal` is the least ratio that was set as a goal, 0 for none."""

    name: str
    ours: Callable[[], Any]
    peer_name: str
    peer: Callable[[], Any]
    goal: float
    same: Callable[[Any, Any], bool] = lambda a, b: a == b
    repeat: int = 3
    peer_share: float = 1.0  # of the work that the peer does; its time is scaled up


@attrs.frozen
class Curve:
    """Work of growing size: `make(size)` prepares it and returns what is timed."""

    name: str
    library: str
    of: str  # what the size counts
    sizes: tuple[int, ...]
    make: Callable[[int], Callable[[], Any]]


@attrs.frozen
class Limit:
    """An explainer beside the model alone, asked about as many rows; `most` is the goal, 0 for none.

    `ask(n)` asks the model about n rows at once; beyond AT_ONCE its time is scaled up.
    """

    name: str
    explain: Callable[[], Any]
    rows: int
    rows_asked: int
    ask: Callable[[int], Any]
    most: float = 0.0


@attrs.frozen
class Run:
    """The best time of a few, the extra memory at the peak, and the answer."""

    seconds: float
    megabytes: float
    answer: Any


def benchmark(function: Callable[[], list[Any]]) -> Callable[[], list[Any]]:
    """Register a function that prepares contests or curves."""
    _BENCHMARKS[function.__name__.replace("_", "-")] = function
    return function


def benchmarks() -> dict[str, Callable[[], list[Any]]]:
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
        result: Run = receive.recv()
    except EOFError:
        child.join()
        raise RuntimeError(f"{work} died with exit code {child.exitcode}") from None
    child.join()
    return result


def _child(work: Callable[[], Any], repeat: int, send: Any) -> None:
    _forget_peak()
    before = _status("VmRSS")
    seconds, answer = _time(work)
    peak = _status("VmHWM") - before
    # imports and first-use compilation are nobody's merit, and nothing beside a long time
    times = [seconds] if seconds > LONG else []
    while len(times) < repeat:
        seconds, answer = _time(work)
        times.append(seconds)
    send.send(Run(min(times), peak / 1024, answer))
    send.close()
    os._exit(0)  # pools of workers would otherwise be waited for until they time out


def _time(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = work()
    return time.perf_counter() - start, answer


def _forget_peak() -> None:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field))


@attrs.frozen
class Outcome:
    """One contest, decided."""

    benchmark: str
    contest: str
    ours: Run
    peer_name: str
    peer: Run
    goal: float

    @property
    def ratio(self) -> float:
        """How many times as long the peer takes."""
        return self.peer.seconds / self.ours.seconds

    def line(self) -> str:
        """Say how they compare, on one line."""
        verdict = "" if self.ratio >= self.goal else "  (below the goal)"
        return (
            f"{self.contest:<44} {self.ours.seconds * 1e3:>10.1f} {self.ours.megabytes:>8.0f}   "
            f"{self.peer_name:<24} {self.peer.seconds * 1e3:>10.1f} {self.peer.megabytes:>8.0f} "
            f"{self.ratio:>8.2f} {self.goal or '–':>7.4}{verdict}"
        )


@attrs.frozen
class Point:
    """One size of a curve, measured."""

    benchmark: str
    curve: str
    library: str
    of: str
    size: int
    run: Run

    def line(self) -> str:
        """Say what it cost, on one line."""
        label = f"{self.curve}, {self.library}"
        return f"{label:<44} {self.run.seconds * 1e3:>10.1f} {self.run.megabytes:>8.0f}   {self.size:,} {self.of}"


@attrs.frozen
class Multiple:
    """How many times as long as the model alone an explainer takes."""

    benchmark: str
    limit: Limit
    ours: Run
    model: float  # seconds

    @property
    def times(self) -> float:
        """Above 1, what the explainer does itself takes time, or it asks in small batches."""
        return self.ours.seconds / self.model

    def line(self) -> str:
        """Say how they compare, on one line."""
        verdict = "  (beyond the goal)" if self.limit.most and self.times > self.limit.most else ""
        return (
            f"{self.limit.name:<44} {self.ours.seconds * 1e3:>10.1f} {self.ours.megabytes:>8.0f}   "
            f"{f'{self.limit.rows_asked:,} rows asked':<24} {self.model * 1e3:>10.1f} {'':>8} "
            f"{self.times:>8.2f} {self.limit.most or '–':>7.4}{verdict}"
        )


def multiple(name: str, limit: Limit) -> Multiple:
    """Run the explainer, and the model alone."""
    ours, rows = run(limit.explain, 1), min(limit.rows_asked, BATCH_SIZE)
    alone = run(lambda: limit.ask(rows) is None, 2)
    return Multiple(name, limit, ours, alone.seconds * limit.rows_asked / rows)


def decide(name: str, contest: Contest) -> Outcome:
    """Run both sides; unequal answers are an error."""
    ours, peer = run(contest.ours, contest.repeat), run(contest.peer, contest.repeat)
    if not contest.same(ours.answer, peer.answer):
        raise AssertionError(f"{name}: {contest.name}: {ours.answer!r} is not {peer.answer!r}")
    peer = attrs.evolve(peer, seconds=peer.seconds / contest.peer_share)
    return Outcome(name, contest.name, ours, contest.peer_name, peer, contest.goal)


def measure(name: str, curve: Curve, size: int) -> Point:
    """Run one size of a curve; the small ones more often."""
    work = curve.make(size)
    result = run(work, 5 if size <= curve.sizes[-1] // 100 else 2)
    return Point(name, curve.name, curve.library, curve.of, size, result)


HEADER = (
    f"{'contest':<44} {'ours, ms':>10} {'peak, MB':>8}   {'peer':<24} {'peer, ms':>10} {'peak, MB':>8} "
    f"{'ratio':>8} {'goal':>7}"
)
