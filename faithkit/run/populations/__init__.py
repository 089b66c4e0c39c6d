"""Populations: the rows that are measured, in memory, in a log on disk, or in a saved result."""
