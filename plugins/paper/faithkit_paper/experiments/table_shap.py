"""Table 2 (in full in appendix D): SHAP values under six discretizations.

The paper states neither what SHAP explains (a probability, a raw score or the predicted class as a number,
and of which class), nor its reference rows, nor how digits were dropped. The predicted class as a number,
with a sample of 100 reference rows and truncated digits, is the closest of the candidates below. It is also
what a user of shap gets who passes ``model.predict`` and the training rows: shap takes 100 of them.

On Covtype both printed numbers of 1-FP are those of about 20,000 rows.
"""

from faithkit_paper.context import Context
from faithkit_paper.discretization_tables import PAPER_ROWS, Reading, Table
from faithkit_paper.findings import Findings

IMPORTANCES = ("original", "2fp", "1fp", "sign", "rank", "sign-of-top-5")
DIGITS_DROPPED = ("floor", "round", "truncate")

SCORES = "shap:target=all,output={},background={},algorithm=tree"
NUMBER = "shap:target=positive,output=probability,background={}"


def scores_reading(scale: str, background: str, target: str, fp: str) -> Reading:
    """Return a reading that explains scores exactly; raw scores if there are three classes or more."""
    raw = SCORES.format("raw", background)
    return Reading(SCORES.format(scale, background), target=target, fp=fp, multiclass_explainer=raw)


def number_reading(background: str, fp: str) -> Reading:
    """Return a reading that explains the predicted class as a number."""
    return Reading(NUMBER.format(background), fp=fp, explains_number=True)


TABLE = Table(
    name="table-shap",
    explainer="shap",
    discretizers=IMPORTANCES,
    reading=number_reading("sample:100", "truncate"),
    candidates=[
        *(
            number_reading(background, fp)
            for background in ("kmeans:10", "median", "sample:100")
            for fp in DIGITS_DROPPED
        ),
        *(
            scores_reading(scale, background, target, fp)
            for scale, background in (
                ("raw", "rows"),
                ("raw", "kmeans:10"),
                ("raw", "median"),
                ("probability", "kmeans:10"),
                ("probability", "median"),
            )
            for target in ("second", "predicted")
            for fp in DIGITS_DROPPED
        ),
    ],
    rows={
        "tiny": {"": 30, "chess": 10, "avila": 4, "covtype": 4},
        "quick": {"": 500, "chess": 150, "avila": 120, "covtype": 16},
        "full": {},
    },
    paper_rows=PAPER_ROWS | {"covtype": 20_000},
    compared_rows=PAPER_ROWS | {"covtype": 8_000},
)


def run(context: Context) -> Findings:
    """Measure six datasets under six discretizations."""
    return TABLE.run(context)
