"""Reports of a monitor: a table of looks, the meaning of the numbers, and a plot."""

from typing import TYPE_CHECKING, Any

import numpy as np

import faithkit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LOOKS = 30  # in a table
BLUE, PALE_BLUE, ORANGE = "#1864ab", "#c5ddf3", "#c2500a"  # pages replace these, for light and for dark
INK, GRID = "#24292f", "#d8dee4"

CHANGES = {
    "lower": "agree less with the pool than expected",
    "higher": "agree more with the pool than expected",
    "changed": "do not agree equally with the pool all the time",
}
BOUND = "which is not consistency, and on average not above it"


def monitor_line(name: str, values: dict[str, Any]) -> str:
    """Return one line about a monitor; `values` is the output of `Monitor.to_dict`."""
    alarm = f"alarm at {values['alarm']['look']}" if values["alarm"] else "no alarm"
    return f"{name}: {_plural(values['n'], 'row')} in {_plural(len(values['looks']), 'look')}, {alarm}"


def monitor_sheet(values: dict[str, Any]) -> faithkit.plugin.Sheet:
    """Return the looks as a table, and their meaning; `values` is the output of `Monitor.to_dict`."""
    name = values["discretizer"].replace("original", "logged explanations")
    reference, looks = values["reference"], values["looks"]
    earlier = max(0, len(looks) - MAX_LOOKS)
    calibration = {**values["calibration"], "name": "calibration", "so_far": None, "alarm": None}
    heads = ("batch", "rows", "unverified", "agreement", "so far", "interval", "")
    rows = [_row(look) for look in (calibration, *looks[earlier:])]
    return faithkit.plugin.Sheet.of(
        f"{name}, monitored",
        f"reference: {_plural(reference['n'], 'row')}; the pool: {reference['pool']:,} of them, "
        f"{_plural(reference['n_explanations'], 'explanation')}",
        f"stream: {_plural(values['n'], 'row')} in {_plural(len(looks), 'look')}",
        faithkit.plugin.Table.of(heads, rows),
        f"{_plural(earlier, 'earlier look')}: CSV files and to_frame() have all." if earlier else None,
        "*: something is not as expected at this look." if values["alarm"] else None,
        _verdict(values),
        *_meanings(values),
    )


def _row(look: dict[str, Any]) -> list[Any]:
    share = f"{100 * look['unverified'] / look['n']:.3g} %"
    mark = "*" if look["alarm"] else ""
    return [
        look["name"],
        look["n"],
        share,
        look["agreement"],
        look["so_far"],
        (look["low"], look["high"]),
        mark,
    ]


def _verdict(values: dict[str, Any]) -> str:
    alarm = values["alarm"]
    if not values["n"]:
        return "No rows were added yet."
    if alarm is None:
        return "No alarm: nothing shows that rows agree with the pool less or more than expected."
    change = CHANGES[alarm["change"]]
    if alarm["change"] != "changed":
        calibration = values["calibration"]
        (cells,) = faithkit.plugin.Table.of(
            ["", ""], [[(alarm["low"], alarm["high"]), (calibration["low"], calibration["high"])]]
        ).rows
        change += ": {} instead of {}".format(*cells)
    return f"Alarm at {alarm['look']}: rows since {alarm['since']} {change}."


def _meanings(values: dict[str, Any]) -> list[str]:
    """Return the meaning of the numbers, and the guarantee."""
    confidence = f"{100 * values['confidence']:.6g} %"
    alpha = f"{100 * (1 - values['confidence']):.6g} %"
    score, bound = _score_meaning(values["outcome"])
    return [
        f"The agreement of a row is {score}; 0 where the pool lacks its explanation (unverified).",
        f"The intervals are of the expected agreement with this pool, {bound}. They hold together and at all "
        f"looks, with {confidence} confidence, and are about all rows so far.",
        f"If nothing changes, the probability that an alarm is ever raised is at most {alpha}.",
    ]


def _score_meaning(outcome: dict[str, Any]) -> tuple[str, str]:
    pool_predictions = "those of the pool's rows with its explanation, on average"
    if outcome["kind"] == "labels":
        return "the share of the pool's rows with its explanation that have its prediction", BOUND
    if outcome["within"] is not None:
        near = f"whose prediction is within {outcome['within']:g} of its own"
        return f"the share of the pool's rows with its explanation {near}", BOUND
    if outcome["kind"] == "scores":
        return f"1 less half the squared distance between its scores and {pool_predictions}", BOUND
    return (
        f"1 less half the squared distance between its prediction and {pool_predictions}, over the variance "
        "of the pool's predictions, and never below 0",
        "which is not consistency, and may be above it, because nothing is below 0",
    )


def monitor_provenance(values: dict[str, Any]) -> dict[str, str]:
    """Return the settings and versions that the numbers depend on."""
    columns = values["columns"] or {"prediction": "given in Python", "explanation": ["given in Python"]}
    return {
        "prediction": columns["prediction"],
        "explanation": ", ".join(columns["explanation"]),
        "discretizer": values["discretizer"],
        "confidence": f"{100 * values['confidence']:.6g} %",
        "seed": str(values["seed"]),
        "reference checksum": values["reference"]["fingerprint"],
        **values["versions"],
    }


def draw_looks(ax: "Axes", values: dict[str, Any]) -> None:
    """Draw each batch, the estimate so far and the expected interval over the rows of the stream."""
    expected, looks = values["calibration"], values["looks"]
    rows = np.cumsum([look["n"] for look in looks], dtype=np.int64)
    batches = [look["agreement"] for look in looks]
    low, high = ([look[end] for look in looks] for end in ("low", "high"))
    ax.plot(rows, [look["so_far"] for look in looks], color=BLUE, lw=2, label="so far")
    ax.plot(rows, batches, "o", color=INK, ms=4, mew=0, label="batch")
    ax.fill_between(rows, low, high, color=PALE_BLUE, lw=0, label="interval")
    ax.axhspan(expected["low"], expected["high"], color=GRID, lw=0, label="expected", zorder=0)
    lowest, highest = min([expected["low"], *batches]), max([expected["high"], *batches])
    for row in rows[[look["alarm"] is not None for look in looks]][:1]:
        ax.axvline(row, color=ORANGE, lw=2, ls="--")
        ax.annotate(
            "alarm", (row, lowest - 0.04), (-4, 0), textcoords="offset points", ha="right", color=ORANGE
        )
    ax.set(
        xlim=(0, max([1, *rows * 1.02])), ylim=(lowest - 0.05, highest + 0.05), xlabel="rows of the stream"
    )
    ax.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
