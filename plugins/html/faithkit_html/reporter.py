"""`Html`: the reporter of pages."""

from typing import Any

import attrs

from faithkit.plugin import Sheet, Table
from faithkit_html.page import page_html, sheet_html


class Html:
    """One page for a browser, in one file that loads nothing and is reproducible to the byte.

    The options of `write` are `title`, `note`, `author` and `date`.
    """

    needs = ("reader",)

    def write(
        self,
        report: Any,
        *,
        title: str | None = None,
        note: str | None = None,
        author: str | None = None,
        date: str | None = None,
    ) -> str:
        """Return the page of a report.

        Parameters
        ----------
        report : Report
        title : str, optional
            The title of the page.
        note : str, optional
            A text under the title.
        author, date : str, optional
            Lines of the page's provenance; by default there are none.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "yes", "no"], ["a", "a", "b"])
        >>> page = Html().write(result, title="Audit of May")
        >>> page.splitlines()[0], "<h1>Audit of May</h1>" in page
        ('<!DOCTYPE html>', True)
        """
        texts = {"title": title, "note": note, "author": author, "date": date}
        given = {name: text for name, text in texts.items() if text is not None}
        if given and hasattr(report, "with_origin"):
            return page_html(report.with_origin(**given).page())
        return page_html(_with_texts(report.page(), given))

    def fragment(self, sheet: Sheet) -> str:
        """Return a sheet as HTML for a notebook, without colours, so that it fits into any theme."""
        return sheet_html(sheet)


def _with_texts(sheet: Sheet, texts: dict[str, str]) -> Sheet:
    """Return the sheet of a report without an origin with what the user wrote about it."""
    facts = {name: text for name, text in texts.items() if name in ("author", "date")}
    notes = [texts["note"]] if "note" in texts else []
    origin = [Table.of_pairs(facts)] if facts else []
    return attrs.evolve(sheet, title=texts.get("title", sheet.title), parts=[*notes, *sheet.parts, *origin])
