"""The command `faithkit`, and `python -m faithkit` for where the console script is not on the path."""

import gc
import sys

from faithkit.supervision import INTERRUPTED, open_standard_streams, supervise

UNSUPERVISED = ("datasets", "new", "plan", "plugins", "show")  # these run no model and judge nothing


def main() -> None:
    """Start the command line; a verb that measures or runs code of others works in a supervised child."""
    gc.disable()  # imports leave no garbage, and looking for it is a tenth of the start; a verb turns it on
    if _measures(sys.argv[1:]):
        supervise(_command_line)
    open_standard_streams()
    sys.exit(_command_line())


def _measures(arguments: list[str]) -> bool:
    verb, options = arguments[:1], arguments[1:]
    is_verb = bool(verb) and not verb[0].startswith("-") and verb[0] not in UNSUPERVISED
    return is_verb and options not in (["--help"], ["-h"])


def _command_line() -> int:
    """Return the exit code of the command line; whatever cannot even be imported is one line, too."""
    try:
        from faithkit.cli import console

        return console()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:
        from faithkit.wording import describe

        print(f"error: faithkit cannot start ({describe(error)}): install it anew.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    main()
