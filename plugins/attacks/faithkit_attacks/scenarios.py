"""Scenarios for attacks: rows to explain, background rows, and models that decide on them."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd

import faithkit
from faithkit_attacks import bank
from faithkit_attacks.applicants import make_applicants
from faithkit_attacks.decides_by import DecidesBy
from faithkit_attacks.notes import WORD_ANSWERS, DecidesByWord, make_notes
from faithkit_attacks.scaffold import Scaffold

N_BACKGROUND = 2_000
N_REPEATED = 30  # different people, where they are repeated
FIRST_SEED = 1_000  # smaller seeds draw the customers of the bank


@attrs.frozen(eq=False)
class Scenario:
    """A sample of people, a background, and five models by name: honest, biased, liar, mixed and by-word.

    `mixed` learns decisions that depend on the reasons of both models and on age, so explainers disagree on
    it. `by-word` decides about notes, the others about people. Models are built on first use.
    """

    X: Any
    background: Any
    seed: int
    _model_builders: dict[str, Callable[[], Any]]
    _models: dict[str, Any] = attrs.field(factory=dict, init=False)

    def model(self, name: str) -> Any:
        """Return a model by its name."""
        if name == "by-word":
            return DecidesByWord(WORD_ANSWERS)
        if name not in self._models:
            self._models[name] = self._model_builders[name]()
        return self._models[name]

    def sample(self, name: str) -> tuple[Any, Any]:
        """Return rows to explain and a background, by the name of the sample.

        "people" are those of the scenario, "own-rows" the same people, who are also the background,
        "repeats" a few of them, repeated with a time stamp, and "notes" texts about others.

        Examples
        --------
        >>> X, background = applicants_scenario(100).sample("repeats")
        >>> X["time"].is_unique, len(X), len(X.drop(columns="time").drop_duplicates())
        (True, 100, 30)
        """
        n, seed = len(self.X), FIRST_SEED + self.seed
        if name == "own-rows":
            return self.X, self.X
        if name == "notes":
            return make_notes(n, seed), make_notes(N_BACKGROUND, bank.CUSTOMERS_SEED)
        if name == "repeats":
            people = np.random.default_rng(seed).permutation(np.arange(n) % N_REPEATED)
            return _add_time(self.X.iloc[people]), _add_time(self.background)
        return self.X, self.background


def _add_time(X: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a time stamp, one a minute."""
    return X.reset_index(drop=True).assign(time=pd.date_range("2024-01-01", periods=len(X), freq="min"))


def applicants_scenario(n: int, seed: int = 0) -> Scenario:
    """Build a scenario with n synthetic applicants.

    Examples
    --------
    >>> scenario = applicants_scenario(5)
    >>> len(scenario.X), len(scenario.background), scenario.model("honest")
    (5, 2000, DecidesBy(column='arrears', values=[False]))
    """
    background = make_applicants(N_BACKGROUND, seed=bank.CUSTOMERS_SEED)
    model_builders: dict[str, Callable[[], Any]] = {
        "honest": lambda: bank.honest,
        "biased": lambda: bank.biased,
        "liar": lambda: bank.fit_liar(seed),
        "mixed": lambda: _fit_mixed(background, ~background["arrears"], background["sex"] == "man", seed),
    }
    return Scenario(make_applicants(n, seed=FIRST_SEED + seed), background, seed, model_builders)


def adult_scenario(n: int, seed: int = 0) -> Scenario:
    """Build a scenario with n persons of the census data Adult, and a random column `coin`.

    The biased model decides by sex and the innocuous one by the coin, as in the paper of Slack et al.
    """
    table = faithkit.load_dataset("adult").X
    if N_BACKGROUND + n > len(table):
        raise faithkit.errors.InputError(
            f"adult has {len(table):,} persons, and {N_BACKGROUND:,} of them are the background: ask for at "
            f"most {len(table) - N_BACKGROUND:,} samples, got {n:,}."
        )
    rng = np.random.default_rng(seed)
    row_numbers = rng.choice(len(table), N_BACKGROUND + n, replace=False)
    rows = (
        table.iloc[row_numbers]
        .reset_index(drop=True)
        .assign(coin=rng.choice(["heads", "tails"], len(row_numbers)))
    )
    background, X = rows[:N_BACKGROUND], rows[N_BACKGROUND:].reset_index(drop=True)
    honest, biased = DecidesBy("coin", ["heads"]), DecidesBy("sex", ["Male"])
    model_builders: dict[str, Callable[[], Any]] = {
        "honest": lambda: honest,
        "biased": lambda: biased,
        "liar": lambda: Scaffold(biased, honest, seed=seed).fit(background),
        "mixed": lambda: _fit_mixed(
            background, background["coin"] == "heads", background["sex"] == "Male", seed
        ),
    }
    return Scenario(X, background, seed, model_builders)


SCENARIOS: dict[str, Callable[[int, int], Scenario]] = {
    "applicants": applicants_scenario,
    "adult": adult_scenario,
}


def _fit_mixed(X: pd.DataFrame, is_innocent: Any, is_favoured: Any, seed: int) -> Any:
    """Fit a forest to decisions that depend on two reasons, age and chance."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    noise = np.random.default_rng(seed).integers(-20, 21, len(X))  # integers, so that sums are exact
    points = (
        50 * is_innocent.to_numpy(int) + 40 * is_favoured.to_numpy(int) + X["age"].to_numpy() - 50 + noise
    )
    encode_words = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    prepare = make_column_transformer(
        (encode_words, make_column_selector(dtype_exclude=[np.number, bool])), remainder="passthrough"
    )
    forest = RandomForestClassifier(20, max_depth=5, random_state=seed)
    return make_pipeline(prepare, forest).fit(X, np.where(points > 45, "yes", "no"))
