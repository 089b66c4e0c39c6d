"""What a cluster brings: two Dask workers against one process, on rows that take as long as LIME's."""

import subprocess
import sys

from bench_execution import MILLISECONDS, ROWS, evaluate_rows
from harness import Contest, benchmark

CLUSTER = """
import sys
sys.path.insert(0, sys.argv[1])
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


@benchmark
def cluster() -> list[Contest]:
    """Explain 200 rows on two workers; the cluster runs already, and ends with this process."""
    import distributed  # noqa: F401 (so that a missing distributed leaves this benchmark out)

    server = subprocess.Popen(
        [sys.executable, "-c", CLUSTER, sys.path[0]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    address = server.stdout.readline().strip()

    def ours():
        return evaluate_rows(executor=f"dask:scheduler={address}")

    name = f"{ROWS} rows of {MILLISECONDS} ms, two workers"
    return [Contest(name, ours, "one process", evaluate_rows, 1.0, repeat=1)]
