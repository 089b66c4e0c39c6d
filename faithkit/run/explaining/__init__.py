"""Explain a sample: in chunks, on workers of any kind, with a store that keeps results between runs.

- `sample` splits the rows into *chunks*, looks up their *keys* in the `store`, and joins all results.
- `job` holds explainer, model, background and seed. `execution` holds the settings of a run.
- `chunk.explain_chunk(job, chunk)` explains the rows of a chunk, each within a time limit (`timeout`).
- `workers` calls it: in this process, in threads or processes of joblib, or on a Dask `cluster`.
- `chunk_result` is the result of a chunk. The store keeps it as a file of arrays and JSON (`packing`).
- `progress` counts finished rows and shows them.
"""
