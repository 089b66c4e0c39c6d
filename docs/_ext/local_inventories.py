"""Intersphinx without a network: ``docs/inventories`` lists the names that we refer to.

The first line of a list is the library's address. Each other line is ``role name page``; ``$`` in the page
stands for the name. The build turns every list into the file that intersphinx would have fetched.
"""

import zlib
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

LISTS = Path(__file__).parents[1] / "inventories"


def inventory(name: str, lines: list[str]) -> bytes:
    """Return an inventory in Sphinx's format, version 2."""
    head = f"# Sphinx inventory version 2\n# Project: {name}\n# Version: \n# compressed by zlib\n"
    rows = [f"{full} {role} 1 {page} -\n" for role, full, page in map(str.split, lines)]
    return head.encode() + zlib.compress("".join(rows).encode())


def names() -> list[str]:
    """Return every name that is listed."""
    return [line.split()[1] for path in LISTS.glob("*.txt") for line in path.read_text().splitlines()[1:]]


def write(app: Sphinx, config: Config) -> None:
    """Write every list as an inventory into the build folder, and configure intersphinx to read it."""
    folder = Path(app.doctreedir) / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(LISTS.glob("*.txt")):
        address, *lines = path.read_text().splitlines()
        target = folder / f"{path.stem}.inv"
        target.write_bytes(inventory(path.stem, lines))
        config.intersphinx_mapping[path.stem] = (address, str(target))


def setup(app: Sphinx) -> dict[str, bool]:
    """Run before intersphinx reads its configuration, which it does at priority 800."""
    app.connect("config-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
