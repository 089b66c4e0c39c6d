"""Executors for faithkit: explain rows in processes, on a Dask cluster, with time limits, or from a store."""
