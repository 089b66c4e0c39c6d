"""Values that people look at, and results: one line, a sheet, a page and JSON."""

from pathlib import Path
from typing import Any

from faithkit.renamed import new_spelling
from faithkit.report import VERBOSE
from faithkit.report.sheet import Sheet, provenance_sheet
from faithkit.report.writing import fragment_html, write_report
from faithkit.wording import one_line, to_printable


class Displayable:
    """A value that people look at: it prints as a sheet, and has a one-line `repr`.

    A class has two methods: `line()` returns what `repr` shows after the name of the class, and `sheet()`
    what `print` and a notebook show.

    Examples
    --------
    >>> import faithkit
    >>> result = faithkit.score(["yes", "yes", "no", "no"] * 9, ["a", "a", "b", "a"] * 9)
    >>> result
    <Evaluation of logged explanations: 36 instances, consistency estimate 0.654 (0.511 – 0.835)>
    >>> print(result.local(3))
    row 3
    prediction: no
    explanation: a
    <BLANKLINE>
    measure      value       interval  holds for  agree
    ───────────────────────────────────────────────────
    consistency  0.308  0.143 – 0.518         27      9
    26 other rows of the sample share it: 0, 1, 4, 5, 7, 8, 9, 11, 12, 13 and 16
    more.
    <BLANKLINE>
    Rows that contradict it:
      - row 0 → yes
      - row 1 → yes
      - row 4 → yes
    """

    __slots__ = ()

    def line(self) -> str:
        """Return what `repr` shows; control characters in data are escaped there."""
        raise NotImplementedError

    def sheet(self) -> Sheet:
        """Return the sentences and tables that `print` shows."""
        raise NotImplementedError

    def page(self) -> Sheet:
        """Return what a page shows: by default the sheet."""
        sheet = self.sheet()
        return Sheet(sheet.title or type(self).__name__, sheet.parts, shows=sheet.shows)

    def __str__(self) -> str:
        return self.sheet().text().removesuffix("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {one_line(to_printable(self.line()))}>"

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; without faithkit-html None, and it shows the text."""
        return fragment_html(self.sheet())


class Report(Displayable):
    """A result that people can print, and that `write` saves in any format.

    A plugin's report defines its own text. `line()` returns a text for `repr`, and `sheet()` a
    `faithkit.plugin.Sheet` for `print`, for notebooks and for pages. It may have more methods: `to_frame()`
    returns a DataFrame for CSV, `draw(ax)` draws on axes of Matplotlib, `provenance()` names what the numbers
    depend on, and `page()` returns another sheet for pages.

    Examples
    --------
    >>> import faithkit
    >>> class Overlap(faithkit.plugin.Report):
    ...     def to_dict(self):
    ...         return {"rows": 1500, "overlap": 0.61249}
    ...     def line(self):
    ...         return "of 1,500 rows"
    ...     def sheet(self):
    ...         table = faithkit.plugin.Table.of(["number", "value"], self.to_dict().items())
    ...         return faithkit.plugin.Sheet.of("shap and lime", table)
    >>> print(Overlap())
    shap and lime
    number   value
    ──────────────
    rows     1,500
    overlap  0.612
    >>> Overlap()
    <Overlap of 1,500 rows>
    >>> Overlap().write("overlap.json")  # doctest: +SKIP
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the content as JSON values."""
        raise NotImplementedError

    def page(self) -> Sheet:
        """Return what a page shows: the sheet, its picture if there is one, and the provenance."""
        sheet, provenance = self.sheet(), self.provenance()
        details = provenance_sheet(provenance, {}) if provenance else None
        return Sheet.of(sheet.title or "report", *sheet.parts, details, shows=self)

    def write(self, path: str | Path, **options: Any) -> None:
        """Write the report to a file, by the reporter of its suffix; equal reports give equal bytes.

        A temporary file is written and then renamed, so that no reader sees half a file. `load` reads
        what was written as JSON.

        Parameters
        ----------
        path : path
            Its suffix chooses the format: .json, .csv and .txt, and those of installed plugins, such as
            .html of faithkit-html.
        **options
            Options of the reporter, such as `verbose` of text and `title` of HTML.

        Examples
        --------
        >>> import faithkit, os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "january.json")
        >>> faithkit.score(["yes", "yes", "no"], ["a", "a", "b"]).write(path)
        >>> faithkit.load(path).consistency.value
        0.6666666666666666
        """
        write_report(self, path, **options)

    def to_text(self, verbose: bool = False) -> str:
        """Return the report as `print` shows it, or all of it, as --verbose does on the command line.

        Examples
        --------
        >>> import faithkit
        >>> result = faithkit.score(["yes", "no", "no"] * 50, ["a", "b", "c"] * 50)
        >>> "Verdict: explanations" in result.to_text(), "Next steps:" in result.to_text(verbose=True)
        (True, True)
        """
        token = VERBOSE.set(verbose)
        try:
            return str(self)
        finally:
            VERBOSE.reset(token)

    def __getattr__(self, name: str) -> Any:
        """Say what a method is called now; called for names that do not exist."""
        classes = (cls.__name__ for cls in type(self).__mro__)
        new = next(filter(None, (new_spelling(f"{cls}.{name}") for cls in classes)), None)
        raise AttributeError(new or f"{type(self).__name__} has no attribute {name!r}")

    def provenance(self) -> dict[str, str]:
        """Return everything that the numbers depend on, by name; a plugin may override it."""
        return {}
