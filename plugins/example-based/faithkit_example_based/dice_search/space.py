"""Where DiCE's searches look: what dice-ml learns from a table about its columns."""

import attrs

from faithkit_example_based.dice_search.table import CLOSE, DiceTable, name


@attrs.frozen(eq=False)
class Space:
    """The columns of a table, by their positions, and what may happen to them.

    Parameters
    ----------
    table : DiceTable
    columns : list of int
        The columns that may change, in DiCE's order.
    ranges : dict
        For each column of numbers the least and the greatest, for each other one its codes.
    deviations : dict
        For each column of numbers their median absolute deviation, 1 for 0.
    close : dict
        For each column of numbers how far two may lie apart and still be close, the greatest distance first.
    """

    table: DiceTable
    columns: list[int]
    ranges: dict[int, list[float]]
    deviations: dict[int, float]
    close: dict[int, float]

    @classmethod
    def learn(cls, table: DiceTable, columns: list[int]) -> "Space":
        """Ask dice-ml about the table; of its columns some may change."""
        from faithkit_example_based.dice_search.background import Background

        learnt = Background(table)
        quantiles, mads = learnt.get_quantiles_from_training_data(CLOSE), learnt.get_valid_mads()
        deviations = {j: float(mads[name(j)]) for j in table.decimals}
        close = {j: min(float(quantiles[name(j)]), deviations[j]) for j in table.decimals}
        return cls(
            table,
            [j for j in table.columns if j in columns],
            {j: learnt.permitted_range[name(j)] for j in table.columns},
            deviations,
            dict(sorted(close.items(), key=lambda item: item[1], reverse=True)),
        )
