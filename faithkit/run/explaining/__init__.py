"""Explain a sample: in chunks, by an executor, which may be a plugin's.

- `sample` splits the rows into *chunks*, hands them to the executor, and joins the results.
- `job` holds what workers receive: explainer, model, background and seed.
- `chunk.explain_chunk(job, chunk)` explains the rows of a chunk.
- `executors` has the kernel's own: in this process, and in its threads.
- `progress` counts finished rows and shows them.
"""
