"""Reports: how values show themselves, as one line, as sheets of sentences and tables, and as text.

It knows no numbers of the project: a value that people look at is a `Displayable` and says what it shows.
"""

from contextvars import ContextVar

VERBOSE: ContextVar[bool] = ContextVar("VERBOSE", default=False)
"""Whether all of a result is shown, and not only its first screen; on the command line, --verbose."""
