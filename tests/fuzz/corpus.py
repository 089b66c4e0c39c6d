"""What fuzzing starts from: honest inputs and those that once went wrong, and small changes to them.

`tests/fixtures/fuzz` has a folder for each reader. What goes wrong becomes a line or a file there.
"""

from pathlib import Path

from hypothesis import strategies as st

from faithkit.errors import FaithkitError

FOLDER = Path(__file__).parents[1] / "fixtures" / "fuzz"
LINES = {
    name: (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines() for name in ("rules", "specs")
}
FILES = {path.name: path.read_bytes() for path in sorted(FOLDER.glob("skops/*.skops"))}


def draw_mutations(lines):
    """Draw a line, or a mixture of two that was changed in a few places."""
    known = st.sampled_from(lines)
    return known | st.builds(
        _mutate, known, known, st.lists(st.tuples(st.integers(0, 300), st.text(max_size=3)), max_size=4)
    )


def _mutate(line, other, changes):
    for place, text in changes:
        at = place % (len(line) + 1)
        line = line[:at] + text + (other if place % 7 == 0 else line)[at + len(text) :]
    return line


def read_or_refuse(reader, content):
    """Return what a reader makes of something, or None where it says in one line that it cannot."""
    try:
        return reader(content)
    except FaithkitError as error:
        text = str(error)
    assert len(text.splitlines()) == 1
    assert len(text) < 2000
    return None
