"""Links in docstrings: known words in the types of parameters, and names in single backquotes.

Our docstrings say "array, DataFrame or list of str". Not every word of it is a class: the rest stays prose.
"""

import re
from typing import Any

from local_inventories import names
from sphinx.application import Sphinx

import faithkit

WORDS = {
    **{name: name for name in ("str", "int", "float", "bool", "bytes", "dict", "list", "tuple", "object")},
    "callable": "collections.abc.Callable",
    "iterable": "collections.abc.Iterable",
    "mapping": "collections.abc.Mapping",
    "sequence": "collections.abc.Sequence",
    "path": "pathlib.Path",
    "EntryPoint": "importlib.metadata.EntryPoint",
    "BaseException": "BaseException",
    "AssertionError": "AssertionError",
    "array": "numpy.ndarray",
    "ndarray": "numpy.ndarray",
    "DataFrame": "pandas.DataFrame",
    "sparse matrix": "scipy.sparse.csr_array",
    "Registry": "faithkit.extension.registry.Registry",
    "Entry": "faithkit.extension.entries.Entry",
    "Broken": "faithkit.extension.entries.Broken",
    "Check": "faithkit.testing.Check",
    "Report": "faithkit.testing.Report",
    "EvaluationInputs": "faithkit.testing.EvaluationInputs",
    **{name: f"faithkit.{name}" for name in faithkit.__all__ if name[0].isupper()},
    **{name: f"faithkit.plugin.{name}" for name in faithkit.plugin.__all__ if name[0].isupper()},
    **{name: f"faithkit.results.{name}" for name in faithkit.results.__all__ if name[0].isupper()},
}

# what a docstring means by `evaluate` or `click.Command`; `relation`, say, is nearly always a parameter
MENTIONED = {
    **{name: name for name in names() if "." in name},
    **{name: WORDS[name] for name in WORDS if name[0].isupper()},
    **{name: f"faithkit.{name}" for name in ("evaluate", "score", "compare")},
}

# a parameter's type stands in a field of its own; in lists of attributes and results it follows the name
_FIELD = re.compile(r"(\s*:r?type(?: [^:]+)?: )(.+)")
_LISTED = re.compile(r"(\*\*[^*]+\*\* \()\*([^*]+)\*(\))")
_MENTION = re.compile(r"(?<![`:\w])`([A-Za-z][\w.]*)`(?!`)")
_WORD = re.compile(r"(?<![\w.`:])(?:faithkit\.)?(" + "|".join(map(re.escape, WORDS)) + r")(?![\w.`])")


def linked(text: str) -> str:
    """Write the type of a parameter as reStructuredText.

    >>> linked("list of str, default=[]")
    ':py:obj:`list <list>` of :py:obj:`str <str>`, default=[]'
    >>> linked("(m, words)")
    '*(m, words)*'
    """
    marked = _WORD.sub(lambda found: f":py:obj:`{found[0]} <{WORDS[found[1]]}>`", text)
    # Sphinx takes a type without any markup for a list of classes
    return marked if marked != text or "`" in text else f"*{text}*"


def link(app: Sphinx | None, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Rewrite what napoleon has made of a docstring."""
    for i, line in enumerate(lines):
        if field := _FIELD.fullmatch(line):
            lines[i] = f"{field[1]}{linked(field[2])}"
        else:
            listed = _LISTED.sub(lambda found: f"{found[1]}{linked(found[2])}{found[3]}", line)
            lines[i] = _MENTION.sub(_mention, listed)


def _mention(found: re.Match[str]) -> str:
    target = MENTIONED.get(found[1])
    return found[0] if target is None else f":py:obj:`{found[1]} <{target}>`"


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after napoleon, which listens at the usual priority of 500."""
    app.connect("autodoc-process-docstring", link, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
