"""Settings for all tests: Hypothesis without time limits, reproducible everywhere."""

from hypothesis import settings

settings.register_profile("faithkit", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("faithkit")
