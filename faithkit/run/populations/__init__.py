"""Populations: the rows that are measured, in memory, in a log on disk, or in a saved result.

- `population` is the interface of the pipeline. `in_memory`, `on_disk` and `weighted_log` implement it.
- `sample_inputs` converts the arguments of `evaluate` and `score`: rows with their design (`sample_design`),
  pool, ids and content (`row_metadata`). With predictions and explanations, they are a population in memory.
- `row_groups` divides a population into groups.
- `log_scoring` decides whether a log is read in pieces or into memory; `log_passes` reads the pieces.
- `row_counts` counts rows by explanation and prediction, for plugins.
"""
