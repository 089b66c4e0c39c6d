"""Tables in files: what a path names, read so that no value turns into another on the way."""
