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
    expected = Sequence(**settings["expected"])
    alarm = watch.alarm(expected)
    so_far, low, high = watch.whole.now
    told = {"name": name, **outcome(scores, low, high), "so_far": so_far}
    told["alarm"] = (
        _lasting_alarm(scores.agreement, expected, before)
        if alarm is None
        else _alarm_told(alarm, [*before, told])
    )
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


def _lasting_alarm(agreement: float, expected: Sequence, before: list[Told]) -> Told | None:
    """Return the latest alarm where a batch is nearer to what raised it than to what is expected.

    Windows that begin anew after an alarm have seen too little to raise it again.
    """
    alarm: Told | None = next((look["alarm"] for look in reversed(before) if look["alarm"]), None)
    if alarm is None:
        return None
    _, low, high = expected.now
    below, above = (alarm["high"], alarm["low"]) if alarm["change"] != "changed" else (low, high)
    is_lower, is_higher = agreement < (below + low) / 2, agreement > (above + high) / 2
    lasts = {"lower": is_lower, "higher": is_higher, "changed": is_lower or is_higher}[alarm["change"]]
    return alarm if lasts else None


def _alarm_told(alarm: Alarm, looks: list[Told]) -> Told:
    ends = (None, None) if alarm.low > alarm.high else (alarm.low, alarm.high)
    return {"change": alarm.change, "since": looks[alarm.since]["name"], "low": ends[0], "high": ends[1]}


def _watch(told: Told) -> Watch:
    windows = tuple(Sequence(**window) for window in told["windows"])
    return Watch(told["alpha"], Sequence(**told["whole"]), windows, told["looks"])
