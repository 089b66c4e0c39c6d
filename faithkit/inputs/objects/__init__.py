"""Convert objects of pandas, NumPy and other libraries to rows, columns and explanations."""
