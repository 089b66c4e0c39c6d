"""Explanations, rules, relations and the built-in discretizer."""
