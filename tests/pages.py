"""What reporters write of a result, as text."""

from faithkit.report.writing import find_reporter, render_report


def page_of(report, **options):
    """Return the HTML page of a report."""
    return render_report(find_reporter("page.html"), report, **options)


def json_of(report):
    """Return the JSON text of a report."""
    return render_report(find_reporter("result.json"), report)
