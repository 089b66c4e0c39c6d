"""What each measure says about a lie and about its honest twin, and whether that gives the lie away."""

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import attrs

import faithkit
from faithkit_attacks.catalogue import Attack, Telling
from faithkit_attacks.worlds import World

READ: dict[str, dict[str, Any]] = {  # by what kind of explanation: what counts as the same, and who is meant
    "vector": {"discretizer": "sign-of-top:k=1", "relation": "same-top-features:k=1,bins=2"},
    "example": {"discretizer": "is-feature-modified"},
}
STEADY = 9  # digits: what is written hangs on no later ones, in which machines differ
MEASURES = ("consistency", "merged bound", "sufficiency", "same-top-features", "reader", "uniqueness")


@attrs.frozen
class Cell:
    """A number with its interval; none where a measure does not apply, or nothing could be checked.

    Examples
    --------
    >>> str(Cell(0.4987, 0.4937, 0.5102)), str(Cell(0.0025)), str(Cell())
    ('0.50 [0.49, 0.52]', '0.003', '–')
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    unchecked: bool = False

    def __str__(self) -> str:
        if self.unchecked:
            return "nothing to check"
        if self.value is None:
            return "–"
        if self.low is None or self.high is None:
            return _plain(self.value, digits=3)
        return f"{_plain(self.value)} [{_down(self.low)}, {_up(self.high)}]"

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its ends, if it has both and they are about something."""
        if self.unchecked or self.low is None or self.high is None:
            return None
        return self.low, self.high


def betrays(lie: Cell, twin: Cell) -> bool:
    """Whether a measure makes the lie look worse than its twin: two intervals with nothing in common.

    It also does where nothing of the lie can be checked, and the twin can.

    >>> betrays(Cell(0.5, 0.4, 0.6), Cell(0.9, 0.8, 1.0))
    True
    """
    if lie.unchecked:
        return twin.interval is not None
    mine, honest = lie.interval, twin.interval
    return mine is not None and honest is not None and mine[1] < honest[0]


@attrs.frozen
class Finding:
    """An attack, and what was measured of the lie and of its twin."""

    attack: Attack
    lie: dict[str, Cell]
    twin: dict[str, Cell]

    @property
    def caught_by(self) -> list[str]:
        """The measures by which the lie looks worse than the truth."""
        return [name for name in MEASURES if betrays(self.lie[name], self.twin[name])]


def find(attack: Attack, world: World, seed: int = 0) -> Finding:
    """Measure a lie and its twin on the same rows."""
    return Finding(attack, *(cells(told, attack, world, seed) for told in (attack.lie, attack.twin)))


def cells(told: Telling, attack: Attack, world: World, seed: int = 0) -> dict[str, Cell]:
    """Explain once, and apply every measure to the explanations.

    Examples
    --------
    >>> from faithkit_attacks.catalogue import chosen
    >>> from faithkit_attacks.worlds import of_applicants
    >>> (parrot,) = chosen(("parrot",))
    >>> str(cells(parrot.lie, parrot, of_applicants(400))["consistency"])
    '1.00 [0.98, 1.00]'
    """
    result = explained(told, attack, world, seed)
    labels = result.labels
    whole = attrs.evolve(result.sample.explanations, identity=None)  # importances with all their digits
    raw = faithkit.score([labels.classes[code] for code in labels.codes], whole, discretizer="original")
    is_vector, applied = whole.kind == "vector", result.sufficiency
    guessed = raw.diagnose("reader").accuracy
    return {
        "consistency": _of(result.consistency),
        "merged bound": Cell(raw.consistency.estimate, raw.consistency.low, raw.consistency.high),
        "sufficiency": Cell() if is_vector else _of(applied),
        "same-top-features": _of(applied) if is_vector else Cell(),
        "reader": Cell() if guessed is None else Cell(guessed.value, guessed.low, guessed.high),
        "uniqueness": Cell(result.uniqueness),
    }


def explained(told: Telling, attack: Attack, world: World, seed: int = 0) -> faithkit.Evaluation:
    """Evaluate one side of an attack: importances by the column they name, examples by what they change."""
    (kind,) = faithkit.plugin.registry().find("explainer", told.explainer.partition(":")[0]).component.kinds
    read = READ.get(kind, {})
    X, model = faithkit.plugin.take_rows(world.X, slice(0, attack.rows)), world.model(told.model)
    return faithkit.evaluate(model, X, told.make(), background=world.background, seed=seed, **read)


def _of(estimate: faithkit.results.Estimate | None) -> Cell:
    if estimate is None:
        return Cell()
    nothing = estimate.checkability == "unverifiable"
    return Cell(estimate.estimate, estimate.low, estimate.high, unchecked=nothing)


def _plain(value: float, digits: int = 2) -> str:
    step = Decimal(1).scaleb(-digits)
    return f"{Decimal(repr(round(value, STEADY))).quantize(step, ROUND_HALF_UP) + 0}".replace("-", "−")


def _down(low: float) -> str:
    return _plain(math.floor(round(low * 100, STEADY)) / 100)


def _up(high: float) -> str:
    return _plain(math.ceil(round(high * 100, STEADY)) / 100)
