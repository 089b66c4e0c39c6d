"""Comparisons: of several systems, of discretizers, of subgroups, and with an earlier result."""
