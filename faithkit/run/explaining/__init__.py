"""Explaining a sample: by whom, where, and what is kept of it.

A row meets, on its way to its explanation and back:

- the *job* (`job`): explainer, model, background and seed; it explains any rows that it is given,
- the *execution* (`execution`): how many workers, what to do about failures, and the *store* (`store`),
- its *chunk* (`chunk`, cut by `sample`): some rows with their seeds, and the *key* (`keys`) under which the
  store may have an answer of an earlier run,
- else a *worker* (`workers`): this process, a thread, another process, which leaves *notes* on what it is at
  (`processes`, `notes`, `timeout`), or one of a cluster (`cluster`); the job reaches it once, as a *parcel*,
- the *answer* (`answer`): what came of the chunk, kept by whoever has it first, as bytes (`framing`,
  `packing`), and put into its place in the sample.
"""
