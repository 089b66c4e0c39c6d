"""The pipeline: explain, discretize, relate, tally, estimate; and the result object."""
