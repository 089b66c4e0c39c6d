"""Read the list of wrong edits, and make one in a copy of the tree."""

import tomllib
from dataclasses import dataclass
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("edits.toml")


@dataclass(frozen=True)
class Edit:
    """A small wrong edit: text of a file that occurs once, what replaces it, why it is wrong, and nearby tests."""

    file: str
    search: str
    replace: str
    why: str
    tests: tuple[str, ...]
    is_drawn: bool

    def wrong_text(self, text: str) -> str:
        """Return the text of the file with this edit, which applies at exactly one place."""
        if (times := text.count(self.search)) != 1:
            raise ValueError(
                f"{self.file}: {self.search!r} occurs {times} times, expected once; "
                "search for text that the file holds once, and make the same edit"
            )
        return text.replace(self.search, self.replace)


class MutatedCopy:
    """Make an edit in a copy of the tree, and take it back."""

    def __init__(self, edit: Edit, tree: Path) -> None:
        self.edit, self.path = edit, tree / edit.file
        self.text = self.path.read_text(encoding="utf-8")

    def __enter__(self) -> None:
        self._write(self.edit.wrong_text(self.text))

    def __exit__(self, *failure: object) -> None:
        self._write(self.text)

    def _write(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")
        # compiled code is recognised by whole seconds and its size: an edit may change neither
        Path(cache_from_source(str(self.path))).unlink(missing_ok=True)


def read_edits() -> list[Edit]:
    """Return the edits that must be noticed: those chosen, then those drawn."""
    tables = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return [
        Edit(
            each["file"], each["search"], each["replace"], each["why"], tuple(each["tests"]), kind == "drawn"
        )
        for kind in ("chosen", "drawn")
        for each in tables[kind]
    ]
