"""What dice-ml learns from a table. Only this module imports dice-ml: load it when fitting."""

from typing import Any

import pandas as pd
from dice_ml.data_interfaces.public_data_interface import PublicData

from faithkit_example_based.dice_search.table import DiceTable, name

OUTCOME = "y"


class Background(PublicData):
    """The rows that DiCE learns from, not rounded to float32."""

    def __init__(self, table: DiceTable) -> None:
        self._dtypes = table.dtypes
        rows = table.frame(table.codes).copy()  # in one piece: pandas warns of the many pieces of wide tables
        super().__init__(
            {
                "dataframe": rows.assign(**{OUTCOME: 0}),
                "continuous_features": [name(j) for j in table.decimals],
                "continuous_features_precision": {name(j): d for j, d in table.decimals.items()},
                "outcome_name": OUTCOME,
            }
        )

    def _set_feature_dtypes(self, frame: pd.DataFrame, *_: Any) -> pd.DataFrame:
        return frame.astype(self._dtypes)
