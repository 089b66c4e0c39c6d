"""Rows that are not equally likely, or not independent: weights, clusters, and their exact jackknife."""
