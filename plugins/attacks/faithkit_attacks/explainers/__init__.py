"""Explainers that lie. Each follows the protocol of explainers, so only a measure can detect it."""
