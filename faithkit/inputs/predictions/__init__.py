"""Predictions: labels, numbers or scores, and when two of them count as the same."""
