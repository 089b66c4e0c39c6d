"""How long a person waits for the command line to answer."""

import subprocess
import sys

from harness import Contest, benchmark


@benchmark
def startup() -> list[Contest]:
    """Start the command line; the peer is Python importing what the listing cannot do without."""
    bare = [sys.executable, "-c", "import click, attrs, pluggy, importlib.metadata"]

    def call(*arguments):
        return lambda: subprocess.run(arguments, check=True, capture_output=True).returncode

    faithkit = [sys.executable, "-m", "faithkit"]
    peer = "import of its libraries", call(*bare)
    return [
        Contest("faithkit --help", call(*faithkit, "--help"), *peer, 0.5, repeat=7),
        Contest("faithkit plugins", call(*faithkit, "plugins"), *peer, 0.4, repeat=7),
    ]
