"""A plugin that imports at once what it did not ask for."""

import a_library_that_nobody_has  # noqa: F401

FAITHKIT_API = 1
