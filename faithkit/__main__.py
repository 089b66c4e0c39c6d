"""The command `faithkit`, which is also `python -m faithkit`."""

import gc
import sys

from faithkit.supervision import INTERRUPTED, open_standard_streams, supervise

UNSUPERVISED = ("datasets", "new", "plan", "plugins", "show")  # they run no model and check no limit


def main() -> None:
    """Start the command line; a verb that measures or runs third-party code runs in a supervised child."""
    gc.disable()  # imports leave no garbage, and the search for it slows the start; verbs enable it
    if _needs_supervision(sys.argv[1:]):
        supervise(_run_command_line)
    open_standard_streams()
    sys.exit(_run_command_line())


def _needs_supervision(arguments: list[str]) -> bool:
    verb, options = arguments[:1], arguments[1:]
    is_verb = bool(verb) and not verb[0].startswith("-") and verb[0] not in UNSUPERVISED
    return is_verb and options not in (["--help"], ["-h"])


def _run_command_line() -> int:
    """Run the command line and return its exit code; a failed import becomes one line."""
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
