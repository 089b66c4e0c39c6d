"""Projects of other people: they are built and installed by tests/distributions, never imported from here."""

collect_ignore_glob = ["*-faithkit"]
