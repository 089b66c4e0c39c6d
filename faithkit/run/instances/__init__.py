"""Single instances: explanations that rows contradict, and the measures of one row."""
