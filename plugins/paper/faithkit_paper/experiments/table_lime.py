"""Table 3 (appendix D): LIME's weights under six discretizations.

The paper states neither which class is explained, nor whether LIME bins numbers, nor whether all weights were
compared or only the ten largest, which lime returns by default. Bins, the class number 1, all weights and
truncated digits are the closest of the candidates below.

On Covtype both printed numbers of Sign-of-top-5 are those of 1,000 to 1,500 rows. On 20,000 rows half as many
explanations are distinct.
"""

from faithkit_paper.context import Context
from faithkit_paper.discretization_tables import PAPER_ROWS, Reading, Table
from faithkit_paper.experiments.table_shap import DIGITS_DROPPED, IMPORTANCES
from faithkit_paper.findings import Findings

BINS = "lime:target=all,samples=5000,discretize_continuous=true"
AS_IS = "lime:target=all,samples=5000,discretize_continuous=false"

TABLE = Table(
    name="table-lime",
    explainer="lime",
    discretizers=IMPORTANCES,
    reading=Reading(BINS, target="second", fp="truncate"),
    candidates=[
        Reading(explainer, table, target, fp, n_features=n_features)
        for explainer, table in ((BINS, "codes"), (AS_IS, "codes"), (BINS, "published"))
        for target in ("second", "predicted")
        for fp in DIGITS_DROPPED
        for n_features in (None, 10)
    ],
    rows={
        "tiny": {"": 12},
        "quick": {"": 250, "chess": 40, "avila": 60, "covtype": 40},
        "full": {"covtype": 20_000},
    },
    paper_rows=PAPER_ROWS | {"covtype": 1_250},
    compared_rows=PAPER_ROWS | {"covtype": 2_000},
)


def run(context: Context) -> Findings:
    """Measure six datasets under six discretizations."""
    return TABLE.run(context)
