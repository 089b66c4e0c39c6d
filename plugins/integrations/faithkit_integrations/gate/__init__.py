"""Gates on a saved result: each passes, fails, or cannot be checked."""
