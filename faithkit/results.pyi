"""What measuring returns. `faithkit/results.py` imports each name at its first use."""

from .measure.baselines.control import Control as Control
from .measure.baselines.control import Worth as Worth
from .measure.by_label import LabelEstimate as LabelEstimate
from .measure.difference import Difference as Difference
from .measure.estimate import Estimate as Estimate
from .measure.intervals import MeasureStatistics as MeasureStatistics
from .measure.local_estimate import LocalEstimate as LocalEstimate
from .measure.local_estimate import PredictionSummary as PredictionSummary
from .measure.planning.forecast import CheckableCounts as CheckableCounts
from .measure.planning.plans import PilotPlan as PilotPlan
from .measure.planning.plans import Plan as Plan
from .measure.planning.plans import RangePlan as RangePlan
from .measure.verdict import Verdict as Verdict
from .measure.witnesses import LocalResult as LocalResult
from .measure.witnesses import RowId as RowId
from .measure.witnesses import Violation as Violation
from .measure.witnesses import Violations as Violations
from .measure.witnesses import Witness as Witness
from .run.comparisons.by_label import ByLabel as ByLabel
from .run.comparisons.comparison import Comparison as Comparison
from .run.comparisons.comparison import Pair as Pair
from .run.comparisons.subgroups import Subgroups as Subgroups
from .run.gates import GateResult as GateResult
from .run.measurements import DesignSummary as DesignSummary
from .run.measurements import Evidence as Evidence
from .run.provenance import Origin as Origin
