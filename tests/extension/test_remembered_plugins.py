"""What is known of plugins: when it is believed, when they are asked again, and that nobody can misuse the file."""

import json
import os
import shutil
import sys
import threading
import time

import pytest
from attrs import asdict
from on_path import faithkit_with, install

from faithkit.extension import conversation, installed
from faithkit.extension.answers import DAY, ENDS, HANGS, LOADS, Answer, stamps
from faithkit.extension.builtins import VERBS
from faithkit.extension.registry import Registry
from faithkit.extension.remembered import cache_folder, forget_failures, recall, remember

PLUGIN = """
import faithkit
FAITHKIT_API = 1
@faithkit.hookimpl
def faithkit_commands():
    yield faithkit.Component(name="audit", factory="collections:Counter", summary="Audit a log.")
"""
QUITS = "import os; os._exit(0)"


@pytest.fixture
def asked(site, monkeypatch):
    """The distributions that were asked since this was last emptied; acme is installed, and known."""
    found = []
    real = conversation.ask

    def spy(sources, patience):
        found.extend(source.distribution for source in sources)
        return real(sources, patience)

    monkeypatch.setattr(conversation, "ask", spy)
    install(site, "acme", "from acme_parts import *\n", acme_parts=PLUGIN)
    Registry()
    found.clear()
    return found


def again():
    """Build the registry as a new process would."""
    for name in ("acme", "acme_parts"):
        sys.modules.pop(name, None)
    return Registry()


def verbs_of_plugins(registry):
    return [name for name in registry.names("command") if name not in VERBS]


def edit(file, text):
    before = file.stat().st_mtime_ns
    file.write_text(text)
    os.utime(file, ns=(before + 10**9, before + 10**9))  # two edits within a tick of the clock


def test_who_is_known_is_not_asked(site, asked):
    assert verbs_of_plugins(again()) == ["attacks", "audit", "reproduce"]
    assert installed.verbs.__wrapped__()["audit"] == "Audit a log."
    assert asked == []


def newer(site):
    shutil.rmtree(site / "acme-1.0.dist-info")
    install(site, "acme", (site / "acme.py").read_text(), version="1.1")


CHANGES = {
    "the module is edited": lambda site: edit(site / "acme.py", PLUGIN),
    "a module that it imports is edited": lambda site: edit(site / "acme_parts.py", PLUGIN + "\n"),
    "a module that it imports is touched": lambda site: edit(site / "acme_parts.py", PLUGIN),
    "another version is installed": newer,
    "it is installed elsewhere": lambda site: (
        (site / "acme.py").unlink(),
        (site / "acme").mkdir(),
        (site / "acme" / "__init__.py").write_text(PLUGIN),
    ),
    "the entry point leads elsewhere": lambda site: install(site, "acme", PLUGIN, value="acme_parts"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_asked_again_when(change, site, asked):
    CHANGES[change](site)
    sys.path_importer_cache.clear()
    assert verbs_of_plugins(again()) == ["attacks", "audit", "reproduce"]
    assert asked == ["acme"]
    asked.clear()
    again()
    assert asked == []


def test_one_that_ends_the_process_is_not_asked_again_before_it_changes_a_day_passes_or_somebody_lists(
    site, asked, monkeypatch
):
    edit(site / "acme.py", QUITS)
    for expected in (["acme"], []):
        assert [line.distribution for line in again().broken] == ["acme"]
        assert asked == expected
        asked.clear()
    now = time.time()
    for later, expected in ((DAY - 60, []), (DAY + 60, ["acme"]), (-60, ["acme"])):
        monkeypatch.setattr(time, "time", lambda later=later: now + later)
        again()
        assert asked == expected
        asked.clear()
    forget_failures()
    again()
    assert asked == ["acme"]
    edit(site / "acme.py", PLUGIN)
    assert again().broken == []


@pytest.mark.parametrize(
    ("waited", "patience", "believed"), [(1, 1, True), (1, 5, False), (5, 1, True), (5, 5, True)]
)
def test_who_hangs_is_believed_to_by_those_who_would_wait_no_longer(waited, patience, believed):
    assert Answer(HANGS, waited=waited).holds(patience) is believed


def test_verbs_that_depend_on_more_than_files_are_corrected(site, asked, monkeypatch):
    edit(site / "acme_parts.py", PLUGIN.replace("yield", "if 'ACME' in __import__('os').environ: yield"))
    again()
    assert "audit" not in dict(installed.verbs.__wrapped__())
    monkeypatch.setenv("ACME", "1")
    again()
    assert "audit" in dict(installed.verbs.__wrapped__())


def test_what_is_gone_is_forgotten(site, asked):
    assert sum("acme" in key for key in recall()) == 1
    newer(site)
    edit(site / "acme.py", PLUGIN)
    again()
    assert sum("acme" in key for key in recall()) == 1


def file():
    return cache_folder() / "plugins.json"


KNOWN = Answer(LOADS, [("audit", "Audit a log.")], stamps([__file__]))


def record(**changes):
    """What the file says of a plugin, but for some of it."""
    return json.dumps({"acme": {**asdict(KNOWN), **changes}}).encode()


DAMAGED = {
    "empty": b"",
    "cut off": record()[:-20],
    "no text": b"\xff\xfe\x00",
    "a list": b"[]",
    "a number": b"1e999",
    "deep": b"[" * 100_000,
    "long": b" " * (11 * 2**20) + record(),
    "other values": b'{"acme": 3}',
    "another outcome": record(outcome="excellent"),
    "another field": record(factory="os:system"),
    "no verbs": record(verbs=None),
    "verbs without a summary": record(verbs=[["audit"]]),
    "a name that no plugin may have": record(verbs=[["../audit", "Audit."]]),
    "a summary that steers the terminal": record(verbs=[["audit", "\x1b[2J"]]),
    "stamps that are none": record(files={"acme.py": "changed"}),
    "no time": record(when="yesterday"),
    "less than no time": record(outcome="hangs", waited=-1),
    "not a number": record(waited=float("nan")),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_ignored_and_written_anew(damage, site):
    cache_folder().mkdir(parents=True)
    file().write_bytes(record())
    assert recall() == {"acme": KNOWN}
    file().write_bytes(DAMAGED[damage])
    assert recall() == {}
    remember({"acme": KNOWN})
    assert recall() == {"acme": KNOWN}


@pytest.mark.parametrize("path", ["", "\0", "/no/such/file", "/"])
def test_a_stamp_of_what_is_no_such_file_is_not_believed(path):
    assert not Answer(LOADS, files={path: (1, 1)}).holds()


def pipe():
    os.mkfifo(file())  # to open it would wait for a writer


PLACES = {
    "a pipe": pipe,
    "a folder": lambda: file().mkdir(),
    "a link to itself": lambda: file().symlink_to(file()),
    "in no folder": lambda: (cache_folder().rmdir(), cache_folder().write_text("")),
    "in a folder without rights": lambda: cache_folder().chmod(0),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_cannot_be_read_or_written_is_no_problem(place, site):
    cache_folder().mkdir(parents=True)
    PLACES[place]()
    for _ in range(2):
        assert recall().keys() <= {"acme"}
        remember({"acme": KNOWN})
        forget_failures()


def test_plugins_are_found_where_nothing_can_be_remembered(site, asked):
    file().unlink()
    file().mkdir()
    for _ in range(2):
        assert verbs_of_plugins(again()) == ["attacks", "audit", "reproduce"]
        assert "acme" in asked
        asked.clear()


def test_without_a_home_there_is_no_memory(site, asked, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("pwd.getpwuid", lambda _: (_ for _ in ()).throw(KeyError("nobody")))
    assert verbs_of_plugins(again()) == ["attacks", "audit", "reproduce"]


def forge(**changes):
    known = json.loads(file().read_text())
    forged = {key: {**value, **(changes if "acme" in key else {})} for key, value in known.items()}
    file().write_text(json.dumps(forged))


def test_a_forged_verb_leads_nowhere(site, asked):
    forge(verbs=[["rob", "Steal."], ["plugins", "Mine."]])
    told = faithkit_with(site, "--help").stdout
    assert "  rob " in told
    assert "acme/plugins" in told  # the kernel's names stay the kernel's
    refused = faithkit_with(site, "rob")
    assert refused.returncode == 2
    assert "no such command 'rob'" in refused.stderr
    assert "  rob " not in faithkit_with(site, "--help").stdout  # who loads plugins finds out


def test_a_plugin_that_is_said_to_hang_by_a_forged_file_is_named_as_such(site, asked):
    forge(outcome="hangs", waited=5)
    assert [line.problem for line in again().broken] == ["did not finish loading within 5 s"]


def test_many_who_write_at_once_leave_a_whole_file(site):
    def write(number):
        for turn in range(10):
            remember({f"plugin {number} {turn}": Answer(ENDS)})
            recall()

    writers = [threading.Thread(target=write, args=[number]) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    known = recall()
    assert known
    assert {answer.outcome for answer in known.values()} == {ENDS}
    assert [path.name for path in cache_folder().iterdir()] == ["plugins.json"]


def test_what_is_written_is_read_back(site):
    answer = Answer(LOADS, [("audit", "Audit a log.")], {__file__: (1, 2)}, 0.5)
    remember({"one": answer})
    assert recall() == {"one": answer}
