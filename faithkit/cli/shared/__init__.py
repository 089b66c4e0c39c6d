"""Code that several verbs share: options, paths, output and exit codes."""
