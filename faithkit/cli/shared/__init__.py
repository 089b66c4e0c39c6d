"""Code that several verbs share: options, paths, gates, output and exit codes."""
