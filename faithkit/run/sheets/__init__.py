"""Sheets: the content of reports, by kind of value."""
