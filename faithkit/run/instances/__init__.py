"""Single instances: rows that contradict an explanation, and the measures of one row."""
