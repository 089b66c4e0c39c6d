"""Logs of predictions and explanations, and which of their columns are what."""
