"""The documentation builds without a network and without a warning, and none of its links is dead."""

import re
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from faithkit_conformance import check_targets, checks

from faithkit.extension.registry import registry

ROOT = Path(__file__).parents[2]

# a build that opens a connection fails
OFFLINE = """
import socket, sys
def refuse(*_, **__):
    raise OSError("no network while building the documentation")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        self.links += [values[name] for name in ("href", "src") if values.get(name)]


@pytest.mark.slow
def test_the_pages_build_silently_link_to_what_is_there_and_describe_all_that_is_installed(tmp_path):
    options = ["-q", "-n", "-W", "--keep-going", str(ROOT / "docs"), str(tmp_path)]
    process = subprocess.run([sys.executable, "-c", OFFLINE, *options], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert list_dead_links(tmp_path) == []
    described = read_inventory(tmp_path / "objects.inv")
    installed = [entry for entry in registry().entries() if entry.distribution.startswith("faithkit")]
    assert described["component"] == {f"{entry.kind} {entry.component.name}" for entry in installed}
    assert described["check"] == {*list_checks(), "explains_*"}


def list_dead_links(html):
    pages = {path: Page(path) for path in html.rglob("*.html")}
    return [
        f"{path.relative_to(html)}: {link}"
        for path, page in pages.items()
        for link in page.links
        if not re.match(r"[a-z]+:", link) and not leads_somewhere(path, link, pages)
    ]


def leads_somewhere(path, link, pages):
    target, anchor = urldefrag(link)
    place = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path
    return place.exists() and (not anchor or place not in pages or unquote(anchor) in pages[place].anchors)


def read_inventory(inventory):
    """Return the names of the components and checks that the pages describe."""
    listed = zlib.decompress(inventory.read_bytes().split(b"zlib.\n", 1)[1]).decode()
    return {
        kind: set(re.findall(rf"^(.+?) std:{kind} ", listed, flags=re.M)) for kind in ("component", "check")
    }


def list_checks():
    for module in check_targets.CHECK_MODULES:
        yield from map(checks.check_name, checks.checks_in(module))
