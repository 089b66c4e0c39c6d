"""Predictions: labels, numbers or scores, and the tolerance within which two count as equal."""
