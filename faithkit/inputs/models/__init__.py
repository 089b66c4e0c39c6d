"""Models of any kind: from a file, a function or another library, asked through one face."""
