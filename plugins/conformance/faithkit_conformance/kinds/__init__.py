"""Checks by kind of component, and of plugins as a whole."""
