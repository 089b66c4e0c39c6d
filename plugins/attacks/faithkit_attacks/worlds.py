"""Where lies are told: rows to explain, rows to learn from, and models that decide about them."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit_attacks import bank
from faithkit_attacks.applicants import make_applicants
from faithkit_attacks.decides_by import DecidesBy
from faithkit_attacks.scaffold import Scaffold

BACKGROUND = 2_000
OTHERS = 1_000  # seeds below are the bank's own


@attrs.frozen(eq=False)
class World:
    """A sample, a background, and four models by name: honest, biased, liar and mixed.

    `mixed` is trained on decisions in which both reasons count, and so does age: explainers disagree on it.
    Models are made when they are first asked for.
    """

    X: Any
    background: Any
    _makers: dict[str, Callable[[], Any]]
    _made: dict[str, Any] = attrs.field(factory=dict, init=False)

    def model(self, name: str) -> Any:
        """Return the model of this name."""
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]


def of_applicants(n: int, seed: int = 0) -> World:
    """Draw n made-up applicants.

    Examples
    --------
    >>> world = of_applicants(5)
    >>> len(world.X), len(world.background), world.model("honest")
    (5, 2000, DecidesBy(column='arrears', values=[False]))
    """
    background = make_applicants(BACKGROUND, seed=bank.CUSTOMERS)
    makers: dict[str, Callable[[], Any]] = {
        "honest": lambda: bank.honest,
        "biased": lambda: bank.biased,
        "liar": lambda: bank.scaffolded(seed),
        "mixed": lambda: _mixed(background, ~background["arrears"], background["sex"] == "man", seed),
    }
    return World(make_applicants(n, seed=OTHERS + seed), background, makers)


def of_adult(n: int, seed: int = 0) -> World:
    """Draw n persons of the census data Adult, each with a coin that has nothing to do with anything.

    The biased model decides by sex and the innocuous one by the coin, as in the paper of Slack et al.
    """
    table = faithkit.load_dataset("adult").X
    if BACKGROUND + n > len(table):
        raise faithkit.errors.InputError(
            f"adult has {len(table):,} persons, of whom {BACKGROUND:,} are learnt from: ask for at most "
            f"{len(table) - BACKGROUND:,} samples, got {n:,}."
        )
    rng = np.random.default_rng(seed)
    drawn = rng.choice(len(table), BACKGROUND + n, replace=False)
    rows = table.iloc[drawn].reset_index(drop=True).assign(coin=rng.choice(["heads", "tails"], len(drawn)))
    background, X = rows[:BACKGROUND], rows[BACKGROUND:].reset_index(drop=True)
    honest, biased = DecidesBy("coin", ["heads"]), DecidesBy("sex", ["Male"])
    makers: dict[str, Callable[[], Any]] = {
        "honest": lambda: honest,
        "biased": lambda: biased,
        "liar": lambda: Scaffold(biased, honest, seed=seed).fit(background),
        "mixed": lambda: _mixed(background, background["coin"] == "heads", background["sex"] == "Male", seed),
    }
    return World(X, background, makers)


WORLDS: dict[str, Callable[[int, int], World]] = {"applicants": of_applicants, "adult": of_adult}


def _mixed(X: pd.DataFrame, innocent: Any, favoured: Any, seed: int) -> Any:
    """Train trees on decisions for which two reasons, age and luck count."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    luck = np.random.default_rng(seed).integers(-20, 21, len(X))  # whole numbers: no sum hangs on rounding
    points = 50 * innocent.to_numpy(int) + 40 * favoured.to_numpy(int) + X["age"].to_numpy() - 50 + luck
    words = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    prepare = make_column_transformer(
        (words, make_column_selector(dtype_exclude=[np.number, bool])), remainder="passthrough"
    )
    trees = RandomForestClassifier(20, max_depth=5, random_state=seed)
    return make_pipeline(prepare, trees).fit(X, np.where(points > 45, "yes", "no"))
