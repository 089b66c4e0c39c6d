"""The reader: a classifier or regressor that sees only explanations and predicts the predictions."""
