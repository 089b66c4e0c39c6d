import a_library_that_nobody_has  # noqa: F401

FAITHKIT_API = 1
