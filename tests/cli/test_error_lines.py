"""Whatever goes wrong is one line and an exit code that is no success; the traceback is there for who asks."""

import os
import subprocess

import pytest
from consoles import PLAN, console, run

import faithkit

pytestmark = pytest.mark.slow  # every case is a process, or waits for one


class Base(BaseException):
    pass


Escaping = type("Bad\x1b[31mName", (Exception,), {})

ENDINGS = [
    (faithkit.errors.InputError("give\n a number."), 1, "error: give a number."),
    (
        ZeroDivisionError("by zero"),
        1,
        "error: ZeroDivisionError: by zero. This was not expected; --debug shows",
    ),
    (KeyError("x"), 1, "error: KeyError: 'x'. This was not expected"),
    (GeneratorExit(), 1, "error: GeneratorExit. This was not expected"),
    (Base("odd"), 1, "error: Base: odd. This was not expected"),
    (EOFError(), 1, "error: EOFError. This was not expected"),
    (
        BaseExceptionGroup("both", [Base(), KeyError()]),
        1,
        "error: BaseExceptionGroup: both (2 sub-exceptions).",
    ),
    (RecursionError("too deep"), 1, "error: RecursionError: too deep."),
    (UnicodeEncodeError("ascii", "≤", 0, 1, "no"), 1, "error: UnicodeEncodeError: 'ascii' codec"),
    (SystemExit(0), 1, "error: SystemExit: 0. Third-party code tried to end the program"),
    (SystemExit(), 1, "error: SystemExit. Third-party code tried to end the program"),
    (SystemExit(3), 1, "error: SystemExit: 3. Third-party code tried to end the program"),
    (MemoryError(), 1, "error: MemoryError. Memory is too small for this: take fewer rows"),
    (DeprecationWarning("old"), 1, "error: DeprecationWarning: old. Warnings are errors here"),
    (faithkit.errors.FaithkitWarning("hm"), 1, "error: FaithkitWarning: hm. Warnings are errors here"),
    (
        OSError(36, "File name too long", "x" * 9),
        1,
        "error: OSError: [Errno 36] File name too long: 'xxxxxxxxx'.",
    ),
    (
        PermissionError(13, "Permission denied", "/a"),
        1,
        "error: PermissionError: [Errno 13] Permission denied: '/a'.",
    ),
    (BrokenPipeError(32, "Broken pipe"), 1, "error: BrokenPipeError: [Errno 32] Broken pipe."),  # of a socket
    (Escaping("red\x1b[31m\r\x9b\u202e"), 1, r"error: Bad\x1b[31mName: red\x1b[31m \x9b\u202e."),
    (KeyboardInterrupt(), 130, "interrupted"),
    (KeyboardInterrupt("interrupted: 2 of 9"), 130, "interrupted: 2 of 9"),
]


@pytest.fixture
def plan_raising(monkeypatch):
    """Return a function that runs `faithkit plan` while it raises an exception."""

    def run_plan(ending, *options):
        def end(*_):
            raise ending

        monkeypatch.setattr("faithkit.measure.planning.plans.plan_samples", end)
        return run(*PLAN, *options)

    return run_plan


@pytest.mark.parametrize(("ending", "code", "line"), ENDINGS, ids=[line for *_, line in ENDINGS])
def test_an_exception_is_one_line(plan_raising, ending, code, line):
    done = plan_raising(ending)
    assert done.exit_code == code
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(line)
    assert done.stdout == ""


@pytest.mark.parametrize("ending", [ending for ending, code, _ in ENDINGS if code == 1], ids=repr)
def test_its_traceback_is_shown_when_asked_for_and_the_code_is_the_same(plan_raising, ending):
    done = plan_raising(ending, "--debug")
    assert done.exit_code == 1
    assert "Traceback (most recent call last):" in done.stderr
    assert "raise ending" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("sco\x1bre",),
        ("--\x1b[31m",),
        ("score", "--\x1b[31m"),
        ("plan", "--range", "\x1b[31m"),
        ("plan", "\x9b"),
    ],
)
def test_a_misunderstood_command_shows_no_control_characters(arguments):
    done = run(*arguments)
    assert done.exit_code == 2
    assert not set("\x1b\x9b") & set(done.stderr)


# --- the system around a real command --------------------------------------------------------------------

TOO_LONG = "x" * 300


@pytest.mark.parametrize(
    "options",
    [("--data", f"{TOO_LONG}.csv"), ("--data", TOO_LONG), ("--background", f"{TOO_LONG}.csv"),
     ("--out", f"{TOO_LONG}.json"), ("--executor", f"stored:folder={TOO_LONG}"), ("--model", f"{TOO_LONG}.skops")],
)  # fmt: skip
def test_a_path_that_is_too_long_is_one_line(options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("evaluate", "--explainer", "tree", "--data", "iris", *options)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert TOO_LONG[:200] in line


@pytest.mark.parametrize("arguments", [PLAN, ("--help",), ("evaluate", "--help"), ("--version",)], ids=str)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_behind_stdout_is_one_line(arguments):
    with open("/dev/full", "w") as full:
        done = console(*arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == (
        "error: cannot write to stdout: No space left on device. Send it to where there is room.\n"
    )


@pytest.mark.parametrize("arguments", [PLAN, ("--help",)], ids=str)
def test_a_closed_stdout_is_one_line(arguments):
    done = console(*arguments, preexec_fn=lambda: os.close(1))
    assert done.returncode == 1
    assert done.stderr == "error: cannot write to stdout: it is closed. Send it to where there is room.\n"


def test_a_result_needs_no_stderr():
    done = console(*PLAN, preexec_fn=lambda: os.close(2))
    assert done.returncode == 0
    assert "rows: a bias of at most 0.1" in done.stdout


@pytest.mark.parametrize("arguments", [PLAN, ("--help",), ("plugins",)], ids=str)
def test_a_reader_that_has_gone_is_nothing_to_talk_about(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = console(*arguments, capture_output=False, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_warnings_as_errors_are_one_line_at_worst():
    done = console(*PLAN, env={**os.environ, "PYTHONWARNINGS": "error"})
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or len(done.stderr.splitlines()) == 1


def test_what_cannot_even_be_imported_is_one_line(tmp_path):
    (tmp_path / "click.py").write_text("raise RuntimeError('half an installation')")
    done = console(*PLAN, env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"})
    assert done.returncode == 1
    assert done.stderr == (
        "error: faithkit cannot start (RuntimeError: half an installation): install it anew.\n"
    )


# --- encodings that lack what we write -------------------------------------------------------------------

ENCODINGS = [
    ({"PYTHONIOENCODING": "ascii"}, "ascii", ">="),
    ({"PYTHONIOENCODING": "ascii:strict"}, "ascii", ">="),
    ({"PYTHONIOENCODING": "latin-1"}, "latin-1", ">="),
    ({"PYTHONIOENCODING": "cp1252"}, "cp1252", ">="),
    ({"PYTHONIOENCODING": "utf-8"}, "utf-8", "≥"),
    ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "ascii", ">="),
]


@pytest.mark.parametrize(
    ("variables", "encoding", "sign"), ENCODINGS, ids=[str(case[0]) for case in ENCODINGS]
)
def test_output_falls_back_to_ascii_where_the_encoding_lacks_it(variables, encoding, sign):
    settings = {"env": {**os.environ, **variables}, "text": False}
    done = console(*PLAN, **settings)
    assert done.returncode == 0, done.stderr
    assert f"interval of {'+-' if encoding == 'ascii' else '±'} 0.1" in done.stdout.decode(encoding)
    if encoding != "ascii":  # click writes UTF-8 there
        helped = console("evaluate", "--help", **settings)
        assert ("..." if encoding == "latin-1" else "…") in helped.stdout.decode(encoding)
    missing = console("show", "explainer", "≥\x1b", **settings)
    assert missing.returncode == 1
    line = missing.stderr.decode(encoding)
    assert len(line.splitlines()) == 1
    assert "\x1b" not in line
    if variables.get("LC_ALL") != "C":  # where Python reads the arguments as bytes that are no text
        assert repr(f"{sign}\x1b") in line
