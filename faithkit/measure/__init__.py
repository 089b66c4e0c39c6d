"""The paper itself, as pure functions of arrays: no files, no plugins, no global state."""

MEASURES = ("consistency", "sufficiency")
