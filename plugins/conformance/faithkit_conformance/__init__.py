"""Checks that a plugin of faithkit keeps the written contract, and templates to start one from."""
