"""A recommender has tens of thousands of labels: results in little memory, from rows or from a file in pieces."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # every case is a process, or waits for one

PEAK = """
from faithkit.report.writing import find_reporter, render_report

def written(report, name):
    return render_report(find_reporter(name), report)

def peak():
    return int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))) // 1024
"""

GROUPING = (
    PEAK
    + """
import json, sys
import numpy as np, pandas as pd
import faithkit
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.populations.log_scoring import score_log

n, rng = 50_000, np.random.default_rng(0)
number = rng.integers(0, 25_000, n)
item = np.where(rng.random(n) < 0.5, number, rng.integers(0, 25_000, n))
why = pd.DataFrame({"why": number})
report = EvaluationReport.of(faithkit.score(item, why, estimator="majority"), 3)
result = report.result
result.local(7), result.by(number % 2).to_frame(), faithkit.plan(0.1, pilot=result), written(result, 'r.html')
result.difference(faithkit.score(item, why // 2))
faithkit.score(item, why, permutations=20)
why.assign(label=item).to_parquet(sys.argv[1], row_group_size=5_000)
read = score_log(open_log(sys.argv[1], "label", ("why",)), contradictions=3, estimator="majority")
same = [{**side.to_dict(), "data": None} for side in (report, read)]
print(json.dumps({"same": same[0] == same[1], "kind": type(read.result.evidence.population).__name__, "peak": peak(),
                  "n_explanations": result.n_explanations, "letters": len(written(report, 'r.json')) + len(str(report))}))
"""
)

RULES = (
    PEAK
    + """
import json, sys
import numpy as np, pandas as pd
import faithkit
from faithkit.inputs.files import parquet
from faithkit.inputs.logs.log_files import open_log
from faithkit.run.evaluation_report import EvaluationReport
from faithkit.run.populations.log_scoring import score_log

n, m, rng = 11_000, 5_000, np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
ends = rng.normal(size=(m, 2))
rules = [faithkit.Rule([faithkit.plugin.Interval("a", low=float(low)), faithkit.plugin.Interval("b", high=float(high))])
         for low, high in ends]
own = rng.integers(0, m, n)
item = np.where(rng.random(n) < 0.3, 3, rng.integers(0, 5_000, n))
explanations = faithkit.Explanations.of([rules[i] for i in own], kind="rule")
rows = {"X": X, "relation": "in-scope"}
result = faithkit.score(item, explanations, **rows, permutations=20, control_draws=10)
report = EvaluationReport.of(faithkit.score(item, explanations, **rows, control_draws=0), 3)  # pieces have none
faithkit.score(item, explanations, **rows, control_draws=0, estimator="majority")
written(result, 'r.html'), result.local(7), result.by(own % 2)
texts = [json.dumps(rule.to_json()) for rule in rules]
X.assign(label=item, rule=[texts[i] for i in own]).to_parquet(sys.argv[1], row_group_size=2_500)
parquet.VALUES_PER_BATCH = 30_000
log = open_log(sys.argv[1], "label", ("rule",), tuple("abcd"))
read = score_log(log, contradictions=3)
def comparable(side):
    payload = {**side.to_dict(), "data": None, "by_label": None, "why_no_control": None}  # not of pieces
    shown = [(contradiction["explanation"], contradiction["predictions"]) for contradiction in payload["contradictions"]]
    return payload | {"contradictions": shown}

same = [comparable(side) for side in (report, read)]
print(json.dumps({"same": same[0] == same[1], "kind": type(read.result.evidence.population).__name__, "peak": peak(),
                  "n_explanations": result.n_explanations, "letters": len(written(report, 'r.json')) + len(str(report))}))
"""
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "distinct", "most"), [(GROUPING, 21_000, 500), (RULES, 4_200, 800)], ids=["grouping", "rules"]
)
def test_as_many_labels_as_explanations_need_little_memory(script, distinct, most, tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", script, tmp_path / "log.parquet"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr
    payload = json.loads(process.stdout.splitlines()[-1])
    assert payload["n_explanations"] > distinct
    assert payload["kind"] == "OnDisk"
    assert payload["same"]
    assert payload["peak"] < most  # MB; the tables alone would take 110 GB, and 4.5 GB
    assert payload["letters"] < 100_000  # of thousands of labels, the 50 most frequent are shown
