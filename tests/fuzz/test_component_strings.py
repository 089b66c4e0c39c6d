"""Component strings of any kind: a name and parameters, or one line that says what is wrong."""

from fuzz.corpus import LINES, mutated, read
from hypothesis import given
from hypothesis import strategies as st

from faithkit.errors import FaithkitError
from faithkit.extension.spec import format_spec, parse_spec

WORDS = ["shap", "0x", "1e9", "none", "not ", "1+", "a."]
PARTS = st.sampled_from([*WORDS, *":,='\"[]{}()\\- \n\0"])
ANYTHING = st.text() | st.lists(PARTS | st.text(max_size=3), max_size=60).map("".join)
REPEATED = st.builds(lambda part, n: f"x:a={part * n}", PARTS, st.integers(0, 3000))


@given(ANYTHING | REPEATED | mutated(LINES["specs"]))
def test_a_text_is_read_or_refused_in_one_line(text):
    result = read(parse_spec, text)
    if result is not None:
        name, params = result
        assert name == name.strip() != ""
        assert parse_spec(name) == (name, {})
        assert repr(params)


@given(ANYTHING | mutated(LINES["specs"]))
def test_what_was_read_is_written_back_as_the_same(text):
    try:
        result = parse_spec(text)
        written = format_spec(*result)
    except FaithkitError:
        return
    assert parse_spec(written) == result
