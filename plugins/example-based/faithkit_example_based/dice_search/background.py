"""dice-ml's view of a background table. This module imports dice-ml: import it only when fitting."""

from typing import Any

import pandas as pd
from dice_ml.data_interfaces.public_data_interface import PublicData

from faithkit_example_based.dice_search.dice_table import CLOSE_QUANTILE, DiceTable, Space, column_name

OUTCOME = "y"


class Background(PublicData):
    """The rows that DiCE learns from, in float64 instead of dice-ml's float32."""

    def __init__(self, table: DiceTable) -> None:
        self._dtypes = table.dtypes
        rows = table.frame(table.codes).copy()  # one memory block: pandas warns about fragmented wide tables
        super().__init__(
            {
                "dataframe": rows.assign(**{OUTCOME: 0}),
                "continuous_features": [column_name(j) for j in table.decimals],
                "continuous_features_precision": {column_name(j): d for j, d in table.decimals.items()},
                "outcome_name": OUTCOME,
            }
        )

    def _set_feature_dtypes(self, frame: pd.DataFrame, *_: Any) -> pd.DataFrame:
        return frame.astype(self._dtypes)


def learn_space(table: DiceTable, columns: list[int]) -> Space:
    """Learn the search space of a table; only `columns` may change."""
    background = Background(table)
    quantiles = background.get_quantiles_from_training_data(CLOSE_QUANTILE)
    mads = background.get_valid_mads()
    deviations = {j: float(mads[column_name(j)]) for j in table.decimals}
    close = {j: min(float(quantiles[column_name(j)]), deviations[j]) for j in table.decimals}
    return Space(
        table,
        [j for j in table.columns if j in columns],
        {j: background.permitted_range[column_name(j)] for j in table.columns},
        deviations,
        dict(sorted(close.items(), key=lambda item: item[1], reverse=True)),
    )
