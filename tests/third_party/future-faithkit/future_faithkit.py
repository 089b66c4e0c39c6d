"""A plugin for a faithkit that does not exist yet."""

FAITHKIT_API = 2
