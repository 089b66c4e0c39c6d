"""Explaining a sample: by whom, where, and what is kept of it.

A row meets, on its way: the job (explainer, model, background and seed), which names all that determines its
explanation; its chunk, and the store, which may know the answer from an earlier run; else a worker, in this
process, in others, or on a cluster, which takes up the job once and the chunk's rows one by one or all at
once. What came of the chunk is kept in the store by whoever has it first, and put in its place in the sample.
"""
