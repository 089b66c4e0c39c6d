"""Explain a sample: in chunks, by workers of any kind, with a store between the runs.

- `sample` cuts the rows into *chunks*, looks up their *keys* in the *store*, and joins all answers,
- `job` has explainer, model, background and seed, and `execution` says how to run it,
- `chunk.answer(job, chunk)` explains the rows of a chunk, with a time limit for each (`timeout`),
- `workers` calls it: here, or in threads and processes of joblib, or on a `cluster`; the job reaches each of
  them once, as a *parcel*,
- an `answer` travels back, and is kept in the store as a file of arrays and JSON (`packing`),
- `progress` shows how far a run is, in the `outlets` that there are.
"""
