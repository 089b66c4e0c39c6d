"""Baselines of a measure: chance by permutation, and explanations chosen without the model."""
