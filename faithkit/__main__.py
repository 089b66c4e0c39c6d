"""The command `faithkit`, and `python -m faithkit` for where the console script is not on the path."""

import gc


def main() -> None:
    """Start the command line."""
    gc.disable()  # imports leave no garbage, and looking for it is a tenth of the start; a verb turns it on
    from faithkit.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
