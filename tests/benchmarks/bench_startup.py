"""How long a person waits for the command line to answer."""

import subprocess
import sys

from harness import Contest, benchmark


@benchmark
def startup() -> list[Contest]:
    """Start the command line; the peer is Python importing what the verb cannot do without."""
    click = [sys.executable, "-c", "import click"]
    listing = [sys.executable, "-c", "import click, attrs, pluggy, importlib.metadata"]

    def call(*arguments):
        return lambda: subprocess.run(arguments, check=True, capture_output=True).returncode

    faithkit = [sys.executable, "-m", "faithkit"]
    return [
        Contest("faithkit --help", call(*faithkit, "--help"), "import of click", call(*click), 0.4, repeat=7),
        Contest(
            "faithkit plugins",
            call(*faithkit, "plugins"),
            "import of its libraries",
            call(*listing),
            0.4,
            repeat=7,
        ),
    ]
