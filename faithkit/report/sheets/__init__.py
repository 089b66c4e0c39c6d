"""Sheets: what a report shows of each kind of value."""
