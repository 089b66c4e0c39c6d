"""faithkit in people's pipelines: `pytest_plugin` for their tests, `mlflow` for their experiments.

This module imports nothing: pytest loads the plugin, and with it this, for tests of all kinds.
"""
