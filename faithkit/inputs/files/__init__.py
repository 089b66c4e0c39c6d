"""Tables in files: find the files, read them, and type their columns without changing a value."""
