"""The name of a report's file: a page if a reporter of pages is installed, else text."""

import faithkit


def report_file(name: str) -> str:
    """Return the file to write a report to.

    Examples
    --------
    >>> report_file("report") in ("report.html", "report.txt")
    True
    """
    reporters = faithkit.plugin.registry().entries("reporter")
    has_pages = any(".html" in entry.component.types for entry in reporters)
    return f"{name}.html" if has_pages else f"{name}.txt"
