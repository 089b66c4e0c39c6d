"""The command `faithkit`, and `python -m faithkit` for where the console script is not on the path."""

import gc
import sys

from faithkit.supervision import INTERRUPTED, supervised


def main() -> None:
    """Start the command line, in a process that is watched over."""
    gc.disable()  # imports leave no garbage, and looking for it is a tenth of the start; a verb turns it on
    supervised(_command_line, watched=_runs_a_verb(sys.argv[1:]))


def _runs_a_verb(arguments: list[str]) -> bool:
    """Whether more is asked for than the help or the version, which run no model and answer at once."""
    return bool(arguments) and not arguments[0].startswith("-")


def _command_line() -> int:
    """Return the exit code of the command line; whatever cannot even be imported is one line, too."""
    try:
        from faithkit.cli.console import console

        return console()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BaseException as error:
        from faithkit.wording import describe

        print(f"error: faithkit cannot start ({describe(error)}): install it anew.", file=sys.stderr)
        return 1


if __name__ == "__main__":
    main()
