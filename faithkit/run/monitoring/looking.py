"""One look: what a batch adds to what was known before it."""

import attrs

from faithkit.errors import InputError
from faithkit.measure.sequence import Sequence
from faithkit.measure.watch import Alarm, Watch
from faithkit.run.monitoring.scores import Scores
from faithkit.run.monitoring.state import Told


def looked(name: str, scores: Scores, settings: Told, before: list[Told]) -> tuple[Told, Told]:
    """Return the settings that change with a look, and what is told of it."""
    watch = _watch(settings["watch"]).after(scores.values)
    alarm = watch.alarm(Sequence(**settings["expected"]))
    so_far, low, high = watch.whole.now
    told = {"name": name, **outcome(scores, low, high), "so_far": so_far}
    told["alarm"] = None if alarm is None else _alarm_told(alarm, [*before, told])
    return {"watch": attrs.asdict(watch)}, told


def refuse_twice(name: str, fingerprint: str, partition: str, before: list[Told]) -> None:
    """Refuse rows that are in already, and a day that had other rows when it was added."""
    for one in before:
        if one["fingerprint"] == fingerprint:
            twin = "" if one["name"] == name else f" (as {one['name']})"
            raise InputError(
                f"{name} was added before{twin}, and a batch counts once. If these are other rows that look "
                "the same, add them together with the next ones."
            )
        if partition and one["name"] == partition:
            raise InputError(
                f"{name} has other rows than when it was added: what was added stays, and nothing "
                "else was. Take it out of the folder, or make a new state."
            )


def outcome(scores: Scores, low: float, high: float) -> Told:
    """Return what some rows gave, and between which numbers the expected agreement is after them."""
    return {
        "n": len(scores.values),
        "unverified": scores.unverified,
        "agreement": scores.agreement,
        "low": low,
        "high": high,
    }


def _alarm_told(alarm: Alarm, looks: list[Told]) -> Told:
    ends = (None, None) if alarm.low > alarm.high else (alarm.low, alarm.high)
    return {"change": alarm.change, "since": looks[alarm.since]["name"], "low": ends[0], "high": ends[1]}


def _watch(told: Told) -> Watch:
    windows = tuple(Sequence(**window) for window in told["windows"])
    return Watch(told["alpha"], Sequence(**told["whole"]), windows, told["looks"])
