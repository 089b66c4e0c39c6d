"""What reports show of a monitor, as texts: a line for every look, and whether anything has changed."""

from typing import Any

from faithkit.report.agreeing import words
from faithkit.report.formats import Told, number, outward, percent, plural, system_name, unbroken
from faithkit.report.views import View

NO_ALARM = "No alarm: nothing shows that rows agree with the pool less or more often than expected."
WHAT = {
    "lower": "agree less often with the pool than expected",
    "higher": "agree more often with the pool than expected",
    "changed": "do not agree equally often with the pool all the time",
}


def monitor_view(told: Told) -> View:
    """Return what a terminal, a notebook and a page show of a monitor, as texts."""
    return {
        "headline": f"{system_name(None, told['discretizer'])}, monitored",
        "facts": _facts(told),
        "calibration": _line({**told["calibration"], "name": "calibration", "so_far": None, "alarm": None}),
        "looks": [_line(look) for look in told["looks"]],
        "sentences": [unbroken(sentence) for sentence in (_verdict(told), *_meanings(told))],
        "alarm": told["alarm"] is not None,
    }


def _facts(told: Told) -> list[str]:
    reference = told["reference"]
    known = plural(reference["n_explanations"], "explanation")
    return [
        f"reference: {plural(reference['n'], 'row')}; the pool: {reference['pool']:,} of them, {known}",
        f"stream: {plural(told['n'], 'row')} in {plural(len(told['looks']), 'look')}",
    ]


def _line(look: Told) -> View:
    return {
        "name": look["name"],
        "rows": f"{look['n']:,}",
        "unverified": percent(look["unverified"] / look["n"]),
        "agreement": number(look["agreement"]),
        "so far": number(look["so_far"]),
        "interval": outward(look["low"], look["high"]),
        "mark": "*" if look["alarm"] else "",
    }


def _verdict(told: Told) -> str:
    alarm = told["alarm"]
    if alarm is None:
        return _worded(NO_ALARM, told) if told["n"] else "No rows were added yet."
    ends = outward(alarm["low"], alarm["high"]), _expected(told)
    between = "" if alarm["change"] == "changed" else ": {} instead of {}".format(*ends)
    what = _worded(WHAT[alarm["change"]], told)
    return f"Alarm at {alarm['look']}: rows since {alarm['since']} {what}{between}."


def _worded(sentence: str, told: Told) -> str:
    """Say how far predictions agree, where that is not a matter of how often."""
    return sentence if words(told).is_counted else sentence.replace(" often", "")


def _expected(told: Told) -> str:
    return outward(told["calibration"]["low"], told["calibration"]["high"])


def _meanings(told: Told) -> list[str]:
    """Say what the numbers are of, and what is promised."""
    confidence, doubt = (f"{100 * part:.6g} %" for part in (told["confidence"], 1 - told["confidence"]))
    said = words(told)
    return [
        f"The agreement of a row is {said.with_pool}; 0 where the pool lacks its explanation (unverified).",
        f"The intervals are of the expected agreement with this pool, which is not consistency{said.bound}. "
        f"They hold together and at all looks, with {confidence} confidence, and speak of all rows so far.",
        f"If nothing changes, the probability that an alarm is ever raised is at most {doubt}.",
    ]


def monitor_facts(told: Told) -> dict[str, Any]:
    """Return where the numbers come from."""
    columns = told["columns"] or {"prediction": "given in Python", "explanation": ["given in Python"]}
    return {
        "prediction": columns["prediction"],
        "explanation": ", ".join(columns["explanation"]),
        "discretizer": told["discretizer"],
        "confidence": f"{100 * told['confidence']:.6g} %",
        "seed": str(told["seed"]),
        "reference checksum": told["reference"]["fingerprint"],
    }
