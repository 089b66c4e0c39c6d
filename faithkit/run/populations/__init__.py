"""Populations: the rows that measures are taken of, in memory, in a log on disk, or in a saved result."""
