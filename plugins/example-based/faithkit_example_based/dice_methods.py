"""DiCE's three methods with their faults mended. Only this module imports dice-ml: load it when fitting.

Each method can `find` a row of the wanted class, or None. They call dice-ml below its public method, which
shows a progress bar and raises an error where nothing is found.
"""

from typing import Any

import numpy as np
import pandas as pd
from dice_ml import Model
from dice_ml.data_interfaces.public_data_interface import PublicData
from dice_ml.explainer_interfaces.dice_genetic import DiceGenetic
from dice_ml.explainer_interfaces.dice_KD import DiceKD
from dice_ml.explainer_interfaces.dice_random import DiceRandom
from dice_ml.explainer_interfaces.explainer_base import ExplainerBase
from numpy.typing import NDArray

import faithkit
from faithkit_example_based.dice_model import DiceModel
from faithkit_example_based.dice_table import CLOSE, DiceTable, name

OUTCOME = "y"
DRAWN = 1000  # rows: dice-ml's default


def prepared(method: str, table: DiceTable, model: DiceModel, classes: NDArray[np.int64]) -> Any:
    """Return a method that is ready to search: it knows the rows of a table and their classes."""
    kind = {"random": Random, "genetic": Genetic, "kdtree": KDTree}[method]
    made = kind(Background(table, classes), Model(model=model, backend="sklearn"))
    if isinstance(made, _Planted):
        made.plant(np.unique(classes))
    return made


class Background(PublicData):
    """The rows that DiCE learns from, not rounded to float32; their statistics are computed once."""

    def __init__(self, table: DiceTable, classes: NDArray[np.int64]) -> None:
        self._dtypes = table.dtypes
        super().__init__(
            {
                "dataframe": table.frame(table.codes).assign(**{OUTCOME: classes}),
                "continuous_features": [name(j) for j in table.decimals],
                "continuous_features_precision": {name(j): d for j, d in table.decimals.items()},
                "outcome_name": OUTCOME,
            }
        )
        self.set_continuous_feature_indexes(self.data_df)
        self._mads = super().get_valid_mads()
        self._quantiles = super().get_quantiles_from_training_data(CLOSE)

    def _set_feature_dtypes(self, frame: pd.DataFrame, *_: Any) -> pd.DataFrame:
        return frame.astype(self._dtypes)

    def get_valid_mads(self, normalized: bool = False) -> dict[str, float]:
        """Return the median absolute deviation of each column, 1 for 0."""
        return dict(self._mads)

    def get_quantiles_from_training_data(self, quantile: float) -> dict[str, float]:
        """Return how far numbers of each column may lie apart and still be close."""
        return dict(self._quantiles)


class Random(DiceRandom):
    """Change columns at random: one, then another, until a row of the wanted class is met.

    This is dice-ml's loop and draws the same numbers, but it changes a thousand cells at once.
    """

    def find(self, query: pd.DataFrame, target: int, columns: list[str]) -> pd.DataFrame | None:
        """Return a row in which few columns are changed: two, where the first two are enough."""
        names = self.data_interface.feature_names
        self.setup(columns, None, query, feature_weights=None)
        self.target_cf_class = target
        fixed = {column: query[column].iat[0] for column in names if column not in columns}
        drawn = self.get_samples(fixed, self.feature_range, None, DRAWN).to_numpy(dtype=np.float64)
        rows, each = np.repeat(query.to_numpy(dtype=np.float64), DRAWN, axis=0), np.arange(DRAWN)
        found = pd.DataFrame(rows[:0], columns=names)
        for changes in range(1, len(columns) + 1):
            changed = np.random.choice([names.index(column) for column in columns], DRAWN)
            rows[each, changed] = drawn[each, changed]
            met = pd.DataFrame(rows, columns=names)
            found = pd.concat([found, met[self.model.model.predict(met) == target]]).drop_duplicates()
            if changes > 1 and len(found):
                break
        return found.sample(1) if len(found) else None


class _Planted(ExplainerBase):
    """What `KDTree` and `Genetic` share: each class has one tree, where dice-ml builds one for every row."""

    def plant(self, classes: NDArray[np.int64]) -> None:
        """Build the trees."""
        rows, predicted = self.data_interface.data_df, self.predicted_outcome_name
        build = super().build_KD_tree
        self.trees = {int(target): build(rows.copy(), None, target, predicted) for target in classes}

    def build_KD_tree(self, _rows: Any, _range: Any, target: int, _predicted: str) -> Any:  # noqa: N802
        """Return the rows of a class, their tree, and the classes of all rows."""
        return self.trees[int(target)]


class KDTree(_Planted, DiceKD):
    """Take the row of the wanted class that is nearest, and changes few columns."""

    def find(self, query: pd.DataFrame, target: int, columns: list[str]) -> pd.DataFrame | None:
        """Return one of the ten nearest rows that have the instance's values in the other columns."""
        answer = self._generate_counterfactuals(
            query, 1, desired_class=target, features_to_vary=columns, posthoc_sparsity_param=None
        )
        return answer.final_cfs_df


class Genetic(_Planted, DiceGenetic):
    """Breed rows of the wanted class, the nearest ones at first."""

    def find(self, query: pd.DataFrame, target: int, columns: list[str]) -> pd.DataFrame | None:
        """Return the fittest row: of the wanted class, near, and with few changes."""
        # dice-ml rounds these weights, divides by their sum, and is lost where that is 0
        weights = {column: 1 / mad for column, mad in self.data_interface.get_valid_mads().items()}
        answer = self._generate_counterfactuals(
            query,
            1,
            desired_class=target,
            features_to_vary=columns,
            feature_weights=weights,
            proximity_weight=0.2 if weights else 0.0,
        )
        return answer.final_cfs_df

    def label_decode(self, coded: NDArray[Any]) -> pd.DataFrame:
        """Turn label codes into categories, column by column, where dice-ml does it cell by cell."""
        columns = dict(zip(self.data_interface.feature_names, np.atleast_2d(coded).T, strict=True))
        for column, encoder in self.labelencoder.items():
            columns[column] = encoder.classes_[columns[column].astype(np.int64)]
        return pd.DataFrame(columns)

    def compute_loss(self, cfs: NDArray[Any], *args: Any) -> Any:
        """Remember the population, which dice-ml keeps to itself."""
        self.population = cfs
        return super().compute_loss(cfs, *args)

    def find_counterfactuals(self, query: NDArray[Any], *args: Any) -> pd.DataFrame:
        """Breed; a population of one, without two parents to choose, ends it, where dice-ml fails."""
        try:
            return super().find_counterfactuals(query, *args)
        except ValueError as error:
            if isinstance(error, faithkit.FaithkitError) or len(self.population) > 1:
                raise
            self.final_cfs_df = self.final_cfs_df_sparse = self.label_decode(self.population)
            return self.label_decode(query).assign(**{OUTCOME: 0})
