"""Discretizers: which vectors of importances count as equal (the appendix of the paper)."""
