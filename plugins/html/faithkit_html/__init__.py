"""Results of faithkit as one HTML page that loads nothing, and as plots."""
