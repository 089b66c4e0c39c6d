"""What else was asked about a result, in words that anybody understands: whom it fails, and what it hides."""

from faithkit.report.formats import Told, between, number, percent, percents, plural, signed
from faithkit.report.readings import reading_sentences
from faithkit.wording import exact


def further_sentences(told: Told) -> list[str]:
    """Return what a result has to say about all that was asked beside its measures."""
    exceeding = [one for one in (told.get("exceedance") or {}).values() if one is not None]
    gap = told.get("encoding_gap")
    return [*reading_sentences(told), *map(exceeded, exceeding), *([] if gap is None else [encoded(gap)])]


def exceeded(found: Told) -> str:
    """Say how many local values are under a level.

    Examples
    --------
    >>> counts = {"n": 400, "checked": 380, "share": 0.1211, "surely": 0.05, "low": 0.0041, "high": 0.31}
    >>> exceeded(counts | {"measure": "consistency", "level": 0.8})
    'Of the 380 instances that could be checked, 12 % have a local consistency under 0.8, and 5 % surely:
    their whole interval lies below. Of all 400 instances, 0 – 31 % are under 0.8, on average over samples.'
    """
    level, n = exact(found["level"]), plural(found["n"], "instance")
    what = f"a local {found['measure']} under {level}"
    if found["share"] is None:
        return f"How many of {n} have {what} is not known: none could be checked."
    some = plural(found["checked"], "instance")
    return (
        f"Of the {some} that could be checked, {percent(found['share'])} have {what}, and "
        f"{percent(found['surely'])} surely: their whole interval lies below. Of all {n}, "
        f"{percents(found['low'], found['high'], found['share'])} are under {level}, on average over samples."
    )


def encoded(found: Told) -> str:
    """Say how much the choice of an explanation tells beyond what it says.

    Examples
    --------
    >>> told = {"value": 0.31, "low": 0.25, "high": 0.37, "same": 0.98, "other": 0.67, "n": 900}
    >>> encoded(told | {"compared": 800, "without_same": 70, "without_other": 40, "confidence": 0.95})
    'Encoding gap +0.310 (95 % interval +0.250 to +0.370): on average 0.980 agree of those with the same
    explanation, and 0.670 of others to whom it applies. So which explanation is chosen tells what its content
    does not. 800 of 900 instances have both; 70 have nobody of the former kind, and 40 nobody of the latter.'
    """
    if found["value"] is None:
        return (
            "The encoding gap is not known: it takes others with the same explanation to whom it applies, "
            f"and others with another one. {_counted(found)}"
        )
    return (
        f"Encoding gap {signed(found['value'])} ({_ends(found)}): on average {number(found['same'])} agree "
        f"of those with the same explanation, and {number(found['other'])} of others to whom it applies. "
        f"{_meaning(found)}{_counted(found)}"
    )


def _ends(found: Told) -> str:
    if found["low"] is None:
        return "no interval: too few instances"
    return f"{100 * found['confidence']:g} % interval {between(found['low'], found['high'])}"


def _meaning(found: Told) -> str:
    surely = found["low"] is not None and found["low"] > 0
    return "So which explanation is chosen tells what its content does not. " if surely else ""


def _counted(found: Told) -> str:
    if found["compared"] == found["n"]:
        return f"All {plural(found['n'], 'instance')} have both."
    return (
        f"{found['compared']:,} of {plural(found['n'], 'instance')} have both; {found['without_same']:,} "
        f"have nobody of the former kind, and {found['without_other']:,} nobody of the latter."
    )
