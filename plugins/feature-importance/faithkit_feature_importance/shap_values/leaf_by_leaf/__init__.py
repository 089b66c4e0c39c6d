"""Exact SHAP values of trees by raw column: each leaf is a game of the columns on its path."""
