"""`python -m faithkit`, for where the console script is not on the path."""

from faithkit.cli import main

main()
