"""Counts: who owns an explanation, for whom it holds, and what rows and clusters weigh."""
