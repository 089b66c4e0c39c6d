"""One module for each table, figure or section of the paper."""
