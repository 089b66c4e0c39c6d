"""Explanations in logs for faithkit: rules in words, and reason codes."""
