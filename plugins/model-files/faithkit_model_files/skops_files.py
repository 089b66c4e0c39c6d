"""A model in a skops file: what it would make is judged before anything that it names is imported.

The file is a zip whose `schema.json` is a tree of nodes. Each names a type, and the loader of skops that is
to make something of it: one looks the name up, another calls it with what the file says. A name that skops
is told to trust is trusted under all of them. So names are trusted here under one loader each
(`trusted_types.txt`), and skops is told no name that also stands elsewhere.
"""

import contextlib
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import faithkit
from faithkit_model_files.skops_schema import Pair, read_pairs
from faithkit_model_files.soundness import check_sound

_OLDEST = (0, 12)  # before, a forged file could hide what it calls
_LISTED = 10  # names in a message
_SHOWN = 20  # names that a person may be asked to repeat
# skops trusts few names under these, says which others there are, and looks none up before
_JUDGED_BY_SKOPS = {
    "BytearrayNode",
    "BytesNode",
    "DefaultDictNode",
    "DictNode",
    "FunctionNode",
    "JsonNode",
    "ListNode",
    "MaskedArrayNode",
    "NdArrayNode",
    "ObjectNode",
    "RandomStateNode",
    "SetNode",
    "SliceNode",
    "TupleNode",
    "TypeNode",
}


def load_skops(path: str, trust_types: Iterable[str] = ()) -> Any:
    """Return the model in a skops file, if everything that it is made of is trusted.

    Parameters
    ----------
    path : str
        An existing file.
    trust_types : iterable of str
        Full names of types and functions that are trusted besides, wherever they stand in the file.
    """
    named = frozenset(trust_types)
    skops_io = _skops_io(path)
    content = Path(path).read_bytes()
    pairs = read_pairs(content)
    known = {pair for pair in pairs if _is_known(pair)}
    unknown = pairs - known
    _refuse({name for loader, name in unknown if loader not in _JUDGED_BY_SKOPS} - named, path, named)
    reported = set(skops_io.get_untrusted_types(data=content))
    safe = {name for _, name in known} - {name for _, name in unknown}
    _refuse(reported - safe - named, path, named)
    with _one_warning(path):
        model = skops_io.loads(content, trusted=sorted(reported))
    check_sound(model)
    return model


@cache
def trusted_types() -> frozenset[Pair]:
    """Return what is trusted besides what skops trusts: pairs of a loader and a full name.

    Examples
    --------
    >>> ("TreeNode", "sklearn.tree._tree.Tree") in trusted_types()
    True
    """
    lines = Path(__file__).with_name("trusted_types.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return frozenset((loader, name) for loader, name in pairs)


def _is_known(pair: Pair) -> bool:
    # A package that was not imported yet may turn out to be a file beside the model that has its name.
    return pair in trusted_types() and pair[1].partition(".")[0] in sys.modules


def _skops_io(path: str) -> Any:
    import skops
    import skops.io

    if tuple(map(int, re.findall(r"\d+", skops.__version__)[:2])) < _OLDEST:
        raise faithkit.errors.InputError(
            f"{path} needs skops 0.12 or newer: with {skops.__version__}, which is installed, a forged file "
            "can run code. Update it: pip install --upgrade skops."
        )
    return skops.io


def _refuse(names: set[str], path: str, named: frozenset[str]) -> None:
    if names:
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        listed = ", ".join(sorted(names)[:_LISTED]) + more
        all_names = sorted(names | named)
        repeated = ",".join(all_names) if len(all_names) <= _SHOWN else "NAME,NAME,…"
        raise faithkit.errors.InputError(
            f"{path} holds types that are not trusted: {listed}. If you know them and trust the "
            f"file's origin, say so with trust_types in Python, or name them: --trust-types {repeated}"
        )


@contextlib.contextmanager
def _one_warning(path: str) -> Iterator[None]:
    """Say once that a model is of another scikit-learn: each part of it would, with text from the file."""
    from sklearn import __version__
    from sklearn.exceptions import InconsistentVersionWarning

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", InconsistentVersionWarning)
        yield
    ours = [each.message for each in told if isinstance(each.message, InconsistentVersionWarning)]
    for each in told:
        if each.message not in ours:
            warnings.warn(each.message, stacklevel=2)
    if ours:
        version = str(ours[0].original_sklearn_version)
        origin = version if re.fullmatch(r"[\w.+-]{1,30}", version) else "of another version"
        told_once = f"{path} was made with scikit-learn {origin}, and {__version__} is installed"
        warnings.warn(f"{told_once}: it may answer otherwise.", faithkit.FaithkitWarning, stacklevel=2)
