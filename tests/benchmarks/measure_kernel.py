"""How large the kernel is: code lines, private names that plugins use, what it installs, and how it starts.

    python tests/benchmarks/measure_kernel.py [--install]

Code lines have no docstrings, comments and blank lines. With --install, the kernel alone is installed into a new
environment, with the packages that it requires, and scores 60 rows there.
"""

import argparse
import ast
import io
import subprocess
import sys
import tempfile
import time
import tokenize
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCORE = """
import time
start = time.process_time()
import faithkit
faithkit.score(["yes", "no", "no"] * 20, ["a", "b", "b"] * 20).to_dict()
print(f"{time.process_time() - start:.2f}")
"""
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
}


def count_code_lines(text: str) -> int:
    """Return the lines of code in a module.

    >>> count_code_lines('"text"\\n\\nx = 1  # one\\n')
    1
    """
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            if _is_text(statement):
                lines -= set(range(statement.lineno, statement.end_lineno + 1))
    return len(lines)


def _is_text(statement: ast.stmt) -> bool:
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant and isinstance(statement.value.value, str)


def measure_folder(folder: Path) -> tuple[int, int]:
    """Return the number of modules under a folder, and their code lines."""
    files = [file for file in folder.rglob("*.py") if "tests" not in file.relative_to(folder).parts]
    return len(files), sum(count_code_lines(file.read_text("utf-8")) for file in files)


def count_private_names() -> int:
    """Return how many modules of the kernel plugins use that are not public."""
    sys.path.insert(0, str(ROOT / "tests"))
    from test_layers import DEBT

    return sum(map(len, DEBT.values()))


def install_alone(folder: Path) -> dict[str, str]:
    """Install the kernel alone, and score with it."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    packages = next((folder / "lib").iterdir()) / "site-packages"
    before, start = measure_bytes(packages), time.monotonic()
    subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True)
    seconds, megabytes = time.monotonic() - start, (measure_bytes(packages) - before) / 1e6
    scored = [
        subprocess.run([python, "-c", SCORE], check=True, capture_output=True, text=True) for _ in range(2)
    ]
    return {
        "pip install of the kernel alone": f"{seconds:.0f} s, {megabytes:.0f} MB",
        "import and score of 60 rows, CPU time": f"{scored[-1].stdout.strip()} s",
    }


def measure_bytes(folder: Path) -> int:
    """Return the size of all files in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install", action="store_true")
    is_installing = parser.parse_args().install
    n_files, lines = measure_folder(ROOT / "faithkit")
    facts = {
        "kernel": f"{lines:,} code lines in {n_files} files",
        "private modules that plugins use": f"{count_private_names()}",
    }
    for folder in sorted((ROOT / "plugins").iterdir()):
        n_files, lines = measure_folder(folder)
        facts[folder.name] = f"{lines:,} code lines in {n_files} files"
    if is_installing:
        with tempfile.TemporaryDirectory() as place:
            facts |= install_alone(Path(place))
    for name, value in facts.items():
        print(f"{name:<40} {value}")


if __name__ == "__main__":
    main()
