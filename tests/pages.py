"""What reporters write of a result as text, and what stands on a page."""

import re
from html.parser import HTMLParser

from faithkit.report.writing import find_reporter, render_report

VOID = {"meta", "link", "col", "br"}


class Reader(HTMLParser):
    """Collects a page's elements, attributes and words, and complains where tags do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.words = [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def values(self, name):
        return [value for key, value in self.attributes if key == name]


def page_of(report, **options):
    """Return the HTML page of a report."""
    return render_report(find_reporter("page.html"), report, **options)


def json_of(report):
    """Return the JSON text of a report."""
    return render_report(find_reporter("result.json"), report)


def read_explanations(text):
    """Return the cells of a page's table of explanations."""
    body = re.search(r'<table class="explore">.*?<tbody>(.*?)</tbody>', text, re.S)[1]
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S) for row in body.split("</tr>")[:-1]]
