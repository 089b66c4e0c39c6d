"""Write gates as JUnit XML for build servers: one test for the result itself, and one for each gate."""

import re
from collections.abc import Sequence
from datetime import datetime
from xml.etree import ElementTree

import attrs

PASSED, FAILURE, ERROR = "passed", "failure", "error"

# controls, line ends, marks of the writing direction and unpaired surrogates
_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NO_XML = re.compile("[\ufffe\uffff]")  # the others that XML cannot hold are not printable, either


@attrs.frozen
class Case:
    """One test: its name, its outcome, and a message."""

    name: str
    state: str
    words: str


def format_junit(suite: str, cases: Sequence[Case], started: datetime, ended: datetime) -> str:
    """Return JUnit XML, with the total time at the first test.

    Examples
    --------
    >>> noon = datetime(2026, 11, 14, 12)
    >>> print(format_junit("evaluate tree", [Case("consistency", FAILURE, "0.712 < 0.8")], noon, noon))
    <?xml version='1.0' encoding='UTF-8'?>
    <testsuites>
      <testsuite name="evaluate tree" tests="1" failures="1" errors="0" time="0.000" ...>
        <testcase classname="evaluate tree" name="consistency" time="0.000">
          <failure message="0.712 &lt; 0.8" type="failure">0.712 &lt; 0.8</failure>
        </testcase>
      </testsuite>
    </testsuites>
    """
    seconds = f"{(ended - started).total_seconds():.3f}"
    counts = {f"{state}s": sum(case.state == state for case in cases) for state in (FAILURE, ERROR)}
    attributes = {"tests": len(cases), **counts, "time": seconds}
    root = ElementTree.Element("testsuites")
    when = started.isoformat(timespec="seconds")
    test_suite = _add_element(root, "testsuite", name=suite, **attributes, timestamp=when)
    for case, time in zip(cases, [seconds, *["0.000"] * (len(cases) - 1)], strict=True):
        _add(_add_element(test_suite, "testcase", classname=suite, name=case.name, time=time), case)
    ElementTree.indent(root)
    body = ElementTree.tostring(root).decode("ascii")  # with references, so that any stdout can show it
    return f"<?xml version='1.0' encoding='UTF-8'?>\n{body}\n"


def _add(test: ElementTree.Element, case: Case) -> None:
    if case.state == PASSED:
        if case.words:
            _add_element(test, "system-out").text = _replace_control_characters(case.words)
    else:
        element = _add_element(test, case.state, message=case.words, type=case.state)
        element.text = _replace_control_characters(case.words)


def _add_element(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    texts = {name: _replace_control_characters(str(value)) for name, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, texts)


def _replace_control_characters(text: str) -> str:
    return _NO_XML.sub("\ufffd", escape_controls(text))


def escape_controls(text: str) -> str:
    r"""Return text in which control characters are escaped, because a terminal would obey them.

    Examples
    --------
    >>> escape_controls("age\x1b[2J\r")
    'age\\x1b[2J\\r'
    """
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)
