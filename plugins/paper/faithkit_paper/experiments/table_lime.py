"""Table 3 (appendix D): LIME's weights under six discretizations.

The printed numbers say that one class is explained for all rows, and not the predicted one: on Chess and
Avila, where the second class is rare, all weights are 0 to two decimals, and consistency is what chance gives
(lime's default is the class number 1). Zeros also say that FP rounds: a floor would tell the signs of tiny
weights apart. That is inferred from the printed numbers; the candidates have not been compared yet.
"""

from faithkit_paper.context import Context
from faithkit_paper.experiments.table_shap import IMPORTANCES
from faithkit_paper.findings import Findings
from faithkit_paper.readings import Reading, Table

AS_IS, DISCRETIZED = "lime:target=all,discretize_continuous=false", "lime:target=all"

TABLE = Table(
    name="table-lime",
    explainer="lime",
    discretizers=IMPORTANCES,
    reading=Reading(DISCRETIZED, table="codes", target="second", fp="round"),
    candidates=[
        Reading(explainer, table, target, fp)
        for explainer in (DISCRETIZED, AS_IS)
        for table in ("codes", "published")
        for target in ("second", "predicted")
        for fp in ("floor", "round")
    ],
    rows={
        "tiny": {"": 12},
        "quick": {"": 300, "chess": 60, "avila": 100, "covtype": 60},
        "full": {"": 5_000, "chess": 1_000, "avila": 1_000, "covtype": 1_000},
    },
    quicker="samples=1000",
)


def run(context: Context) -> Findings:
    """Measure six datasets under six discretizations."""
    return TABLE.run(context)
