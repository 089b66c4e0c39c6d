"""The estimate and its error: sums over pairs of rows, and the same without each unit."""
