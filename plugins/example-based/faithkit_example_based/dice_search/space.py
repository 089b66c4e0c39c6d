"""The search space of DiCE: the columns that may change, and the ranges of their values."""

import attrs

from faithkit_example_based.dice_search.dice_table import CLOSE_QUANTILE, DiceTable, column_name


@attrs.frozen(eq=False)
class Space:
    """The columns of a table, by position, with their ranges and deviations.

    Parameters
    ----------
    table : DiceTable
    columns : list of int
        The columns that may change, in DiCE's order.
    ranges : dict
        The smallest and the largest value of each numeric column, and the codes of each categorical column.
    deviations : dict
        The median absolute deviation of each numeric column; 1 where it is 0.
    close : dict
        The largest difference of two close values of each numeric column, in descending order.
    """

    table: DiceTable
    columns: list[int]
    ranges: dict[int, list[float]]
    deviations: dict[int, float]
    close: dict[int, float]

    @classmethod
    def learn(cls, table: DiceTable, columns: list[int]) -> "Space":
        """Learn the space from a table with dice-ml; only `columns` may change."""
        from faithkit_example_based.dice_search.background import Background

        background = Background(table)
        quantiles = background.get_quantiles_from_training_data(CLOSE_QUANTILE)
        mads = background.get_valid_mads()
        deviations = {j: float(mads[column_name(j)]) for j in table.decimals}
        close = {j: min(float(quantiles[column_name(j)]), deviations[j]) for j in table.decimals}
        return cls(
            table,
            [j for j in table.columns if j in columns],
            {j: background.permitted_range[column_name(j)] for j in table.columns},
            deviations,
            dict(sorted(close.items(), key=lambda item: item[1], reverse=True)),
        )
