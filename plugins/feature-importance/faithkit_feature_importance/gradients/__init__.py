"""Gradients: by formula, by autograd, or by finite differences."""
