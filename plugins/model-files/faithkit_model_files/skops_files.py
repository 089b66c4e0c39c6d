"""Load a model from a skops file, after a check of its types before anything is imported.

The file is a zip. Its `schema.json` is a tree of nodes. Each node names a type, and the skops loader that
builds an object from it: one loader looks the name up, another calls it with arguments from the file. If
skops trusts a name, it trusts the name under all loaders. So this module trusts each name under one loader
only (`trusted_types.txt`), and passes no name to skops that the file also uses under another loader.
"""

import re
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import faithkit
from faithkit_model_files.skops_schema import Pair, read_pairs
from faithkit_model_files.soundness import check_sound

_MIN_VERSION = (0, 12)  # in older versions a forged file can hide what it calls
_MAX_LISTED = 10  # names in a message
_MAX_REPEATED = 20  # names in the suggested --trust-types
# for these loaders skops trusts few names, reports the others, and imports none before that
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
    """Return the model in a skops file, if all its types are trusted.

    Parameters
    ----------
    path : str
        An existing file.
    trust_types : iterable of str
        Full names of additional trusted types and functions, under any loader.
    """
    user_trusted = frozenset(trust_types)
    skops_io = _import_skops_io(path)
    content = Path(path).read_bytes()
    pairs = read_pairs(content)
    trusted = {pair for pair in pairs if _is_trusted(pair)}
    untrusted = pairs - trusted
    _check_untrusted(
        {name for loader, name in untrusted if loader not in _JUDGED_BY_SKOPS} - user_trusted,
        path,
        user_trusted,
    )
    reported = set(skops_io.get_untrusted_types(data=content))
    safe = {name for _, name in trusted} - {name for _, name in untrusted}
    _check_untrusted(reported - safe - user_trusted, path, user_trusted)
    model = _load_with_one_warning(lambda: skops_io.loads(content, trusted=sorted(reported)), path)
    check_sound(model)
    return model


@cache
def trusted_types() -> frozenset[Pair]:
    """Return the pairs of loader and full name that are trusted in addition to those of skops.

    Examples
    --------
    >>> ("TreeNode", "sklearn.tree._tree.Tree") in trusted_types()
    True
    """
    lines = Path(__file__).with_name("trusted_types.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split() for line in lines if line and not line.startswith("#"))
    return frozenset((loader, name) for loader, name in pairs)


def _is_trusted(pair: Pair) -> bool:
    # The name of a package that is not yet imported may belong to a file next to the model.
    return pair in trusted_types() and pair[1].partition(".")[0] in sys.modules


def _import_skops_io(path: str) -> Any:
    import skops
    import skops.io

    if tuple(map(int, re.findall(r"\d+", skops.__version__)[:2])) < _MIN_VERSION:
        raise faithkit.errors.InputError(
            f"{path} needs skops 0.12 or newer: with {skops.__version__}, which is installed, a forged file "
            "can run code. Update it: pip install --upgrade skops."
        )
    return skops.io


def _check_untrusted(names: set[str], path: str, user_trusted: frozenset[str]) -> None:
    if names:
        further_names = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
        listed = ", ".join(sorted(names)[:_MAX_LISTED]) + further_names
        all_names = sorted(names | user_trusted)
        repeated = ",".join(all_names) if len(all_names) <= _MAX_REPEATED else "NAME,NAME,…"
        raise faithkit.errors.InputError(
            f"{path} holds types that are not trusted: {listed}. If you know them and trust the "
            f"file's origin, say so with trust_types in Python, or name them: --trust-types {repeated}"
        )


def _load_with_one_warning(load: Callable[[], Any], path: str) -> Any:
    """Load a model, and replace the version warnings of all estimators, which quote the file, with one."""
    from sklearn import __version__
    from sklearn.exceptions import InconsistentVersionWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InconsistentVersionWarning)
        model = load()
    version_warnings = [
        warning.message for warning in caught if isinstance(warning.message, InconsistentVersionWarning)
    ]
    for warning in caught:
        if warning.message not in version_warnings:
            warnings.warn(warning.message, stacklevel=2)
    if version_warnings:
        version = str(version_warnings[0].original_sklearn_version)
        origin = version if re.fullmatch(r"[\w.+-]{1,30}", version) else "of another version"
        message = f"{path} was made with scikit-learn {origin}, and {__version__} is installed"
        faithkit.errors.warn(f"{message}: it may answer otherwise.")
    return model
