"""Inputs: files, logs, tables, models, datasets, and the helpers that explainers use."""
