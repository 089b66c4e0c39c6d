"""Explain a sample: in chunks, on workers of any kind, with a store that keeps results between runs.

- `sample` splits the rows into *chunks*, looks up their keys (`chunk_keys`) in the store, and joins results.
- `job` holds what workers receive: explainer, model, background and seed, and the settings of a run.
- `chunk.explain_chunk(job, chunk)` explains the rows of a chunk, each within a time limit (`timeout`).
- `workers` calls it: in this process, in threads or processes of joblib, or on a Dask `cluster`.
- `store` keeps the result of a chunk as a file of arrays and JSON (`packing`).
- `progress` counts finished rows and shows them.
"""
