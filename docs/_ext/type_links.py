"""Links in docstrings: known words in the types of parameters, and names in single backquotes.

Docstrings contain types such as "array, DataFrame or list of str". Words that are not classes stay prose.
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
    "PluginProblem": "faithkit.extension.entries.PluginProblem",
    "Check": "faithkit_conformance.Check",
    "Situation": "faithkit_conformance.Situation",
    "Report": "faithkit_conformance.Report",
    **{name: f"faithkit.plugin.{name}" for name in faithkit.plugin.__all__ if name[0].isupper()},
    **{name: f"faithkit.{name}" for name in faithkit.__all__ if name[0].isupper()},
    **{name: f"faithkit.results.{name}" for name in faithkit.results.__all__ if name[0].isupper()},
}

# names in backquotes that become links; `relation` is nearly always a parameter, so it is not among them
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
    """Return the type of a parameter as reStructuredText.

    >>> linked("list of str, default=[]")
    ':py:obj:`list <list>` of :py:obj:`str <str>`, default=[]'
    >>> linked("(m, words)")
    '*(m, words)*'
    """
    marked = _WORD.sub(lambda match: f":py:obj:`{match[0]} <{WORDS[match[1]]}>`", text)
    # Sphinx reads a type without markup as a list of classes
    return marked if marked != text or "`" in text else f"*{text}*"


def link(app: Sphinx | None, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add links to the lines that napoleon made from a docstring."""
    for i, line in enumerate(lines):
        if field := _FIELD.fullmatch(line):
            lines[i] = f"{field[1]}{linked(field[2])}"
        else:
            listed = _LISTED.sub(lambda match: f"{match[1]}{linked(match[2])}{match[3]}", line)
            lines[i] = _MENTION.sub(_mention, listed)


def _mention(match: re.Match[str]) -> str:
    target = MENTIONED.get(match[1])
    return match[0] if target is None else f":py:obj:`{match[1]} <{target}>`"


def setup(app: Sphinx) -> dict[str, bool]:
    """Run after napoleon, which listens at the usual priority of 500."""
    app.connect("autodoc-process-docstring", link, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
