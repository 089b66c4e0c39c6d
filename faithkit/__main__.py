"""The command `faithkit`, and `python -m faithkit` for where the console script is not on the path."""

import gc
import sys

from faithkit.supervision import INTERRUPTED, supervised


def main() -> None:
    """Start the command line, in a process that is watched over."""
    gc.disable()  # imports leave no garbage, and looking for it is a tenth of the start; a verb turns it on
    # the help and the version run no model, and answer at once
    supervised(_command_line, watched=len(sys.argv) > 1 and not sys.argv[1].startswith("-"))


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
