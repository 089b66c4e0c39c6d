"""Single instances: the measures of one row, and two rows that contradict an explanation."""
