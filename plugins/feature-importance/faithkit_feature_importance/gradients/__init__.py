"""Gradients of scores: by formula, by autograd, or by finite differences."""
