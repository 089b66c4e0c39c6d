"""Objects as people hold them, of pandas, NumPy and other libraries: rows, columns and explanations."""
