"""The reader: a classifier or regressor that guesses predictions from explanations alone."""
