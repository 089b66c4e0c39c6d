"""`faithkit report`: turn a saved result into a page."""

import os

import click

import faithkit

EXAMPLES = """\b
Examples:
  faithkit report result.json page.html
  faithkit report result.json page.html --title 'Loans, May' --author 'Model risk'"""


@click.command(epilog=EXAMPLES)
@click.argument("result", type=click.Path())
@click.argument("page", type=click.Path())
@click.option("--title", metavar="TEXT", help="Give the page this title.")
@click.option("--note", metavar="TEXT", help="Print this note under the title.")
@click.option("--author", metavar="TEXT", help="Name this author in the page's provenance.")
@click.option("--date", metavar="TEXT", help="Write this date into the provenance; by default there is none.")
def report(result: str, page: str, **texts: str | None) -> None:
    """Write PAGE, such as page.html, about a RESULT that --out has written as JSON.

    A saved result has all numbers and no rows, so the page has no rows that contradict an explanation, and no
    local scores. For these, write the page where you measure: --out page.html.
    """
    if os.path.realpath(result) == os.path.realpath(page):
        raise faithkit.errors.InputError(f"{page} is read; give the page a file of its own.")
    given = {name: text for name, text in texts.items() if text is not None}
    faithkit.load(result).write(page, **given)
