"""Integrations: `pytest_plugin` for tests, `mlflow` for experiments, adapters for models of other libraries.

This module imports nothing, because pytest loads it in every test run.
"""
