"""Logs of predictions and explanations, and the roles of their columns."""
