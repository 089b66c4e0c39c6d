"""Measure how far explainers agree (Krishna et al., "The Disagreement Problem", 2022)."""
