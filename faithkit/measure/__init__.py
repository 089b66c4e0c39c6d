"""The paper's measures as pure functions of arrays, without files, plugins or global state."""

MEASURES = ("consistency", "sufficiency")
