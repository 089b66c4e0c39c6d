"""Rows whose explanation nobody else has, merged: bounds that need no repetition."""
