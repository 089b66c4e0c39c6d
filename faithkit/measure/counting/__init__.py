"""Counting of rows by explanation and label, with weights, clusters and pools."""
