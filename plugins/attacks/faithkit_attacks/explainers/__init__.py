"""Explainers that lie. Each keeps the contract of explainers, so that nothing but a measure can tell."""
