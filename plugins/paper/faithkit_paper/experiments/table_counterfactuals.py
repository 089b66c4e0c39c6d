"""Table 4 (appendix D): DiCE's counterfactuals under four discretizations.

The paper does not say which of DiCE's methods it used, nor which class a counterfactual has where there are
many; here it is the runner-up. The method is DiCE's first; the candidates have not been compared yet.
"""

from faithkit_paper.context import Context
from faithkit_paper.findings import Findings
from faithkit_paper.readings import Reading, Table

TABLE = Table(
    name="table-counterfactuals",
    explainer="dice",
    discretizers=("original", "delta", "delta-sign", "is-feature-modified"),
    reading=Reading("dice:method=random", table="published"),
    candidates=[
        Reading(f"dice:method={method}", table)
        for method in ("random", "kdtree")
        for table in ("codes", "published")
    ],
    rows={
        "tiny": {"": 12},
        "quick": {"": 100, "chess": 25, "avila": 40, "covtype": 25},
        "full": {"": 2_000, "chess": 1_000, "avila": 1_000, "covtype": 1_000},
    },
)


def run(context: Context) -> Findings:
    """Measure six datasets under four discretizations."""
    return TABLE.run(context)
