"""A model in a skops file: what it would make is judged before anything that it names is imported.

The file is a zip whose `schema.json` is a tree of nodes. Each names a type, and the loader of skops that is
to make something of it: one looks the name up, another calls it with what the file says. A name that skops
is told to trust is trusted under all of them. So names are trusted here under one loader each
(`trusted_types.txt`), and skops is told no name that also stands elsewhere.
"""

import contextlib
import hashlib
import io
import json
import re
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from faithkit.errors import FaithkitWarning, InputError
from faithkit.foreign import foreign
from faithkit.inputs.soundness import check_sound
from faithkit.wording import few

_OLDEST = (0, 12)  # before, a forged file could hide what it calls
_FORMATS = (1, 2)  # 0 wrote the names of functions elsewhere
_RATIO, _SPARE = 100, 16 * 2**20  # what a file may unpack to, per byte and besides: more is a zip bomb
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(\.<lambda>)?")
_LONGEST = 200  # characters of a name
_SHOWN = 20  # names that a person may be asked to repeat
_MARKS = {"__loader__", "__module__", "__class__", "__id__"}
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
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_POOL = 64  # words of a seed: NumPy takes 4, and the time to mix them grows with their square

Pair = tuple[str, str]  # a loader, and the full name of what it is to make


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
    with foreign(f"loading {path}", "It may be damaged, or made with other versions."):
        skops_io = _skops_io(path)
        content = Path(path).read_bytes()
        pairs = _pairs(content)
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
        raise InputError(
            f"{path} needs skops 0.12 or newer: with {skops.__version__}, which is installed, a forged file "
            "can run code. Update it: pip install --upgrade 'faithkit[skops]'."
        )
    return skops.io


def _refuse(names: set[str], path: str, named: frozenset[str]) -> None:
    if names:
        all_names = sorted(names | named)
        repeated = ",".join(all_names) if len(all_names) <= _SHOWN else "NAME,NAME,…"
        raise InputError(
            f"{path} holds types that are not trusted: {few(sorted(names))}. If you know them and trust the "
            f"file's origin, name them: --trust-types {repeated}"
        )


def _pairs(content: bytes) -> set[Pair]:
    """Return what the file would make, and by which loaders, or raise if it can be no honest file."""
    limit = _RATIO * len(content) + _SPARE
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        nodes = _nodes(_schema(archive, limit))
        pairs = {_pair(node) for node in nodes}
        _check_sizes(_sizes(nodes, archive), limit)
    return pairs


def _schema(archive: zipfile.ZipFile, limit: int) -> Any:
    _check_sizes([archive.getinfo("schema.json").file_size], limit)
    schema = json.loads(archive.read("schema.json"))
    if schema["protocol"] not in _FORMATS:
        raise ValueError(f"it has the format {schema['protocol']!r:.20}, and {_FORMATS} are known")
    return schema


def _nodes(schema: Any) -> list[dict[str, Any]]:
    """Return all nodes. Those with one id must be alike, since skops makes the first and takes it for all.

    Otherwise what is judged would not be what is made, and a small file could unfold without an end. Ids and
    files inside of a node may differ: they are new whenever an object is written.
    """
    found, first = list[dict[str, Any]](), dict[Any, bytes]()

    def digest(value: Any) -> Any:
        if isinstance(value, dict):
            parts = [(key, digest(part)) for key, part in value.items()]
            same = _hash([part for part in parts if part[0] not in ("__id__", "file")])
            if not _MARKS.isdisjoint(value):
                found.append(value)
                if first.setdefault(_identity(value), same) != same:
                    raise ValueError("different parts of it have one id")
            return same
        return _hash(list(map(digest, value))) if isinstance(value, list) else value

    digest(schema)
    return found


def _identity(node: dict[str, Any]) -> Any:
    return node.get("__id__") or (id(node),)  # without an id, it is made for itself


def _hash(value: Any) -> bytes:
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()


def _pair(node: dict[str, Any]) -> Pair:
    marks = [node.get(mark, "") for mark in ("__loader__", "__module__", "__class__")]
    loader, *words = (mark if isinstance(mark, str) else "" for mark in marks)
    name = ".".join(words)
    if not loader or len(name) > _LONGEST or not _NAME.fullmatch(name):
        raise ValueError("a part of it has no type or no loader")
    if loader == "RandomGeneratorNode":
        _check_generator(node["content"])
    return loader, name


def _check_generator(content: dict[str, Any]) -> None:
    """Refuse a random generator of a kind that NumPy does not have: older versions of skops call any name."""
    state, seed = content["bit_generator"], content.get("seed_seq")
    kind = json.loads(state["content"]["bit_generator"]["content"])
    pool = 0 if seed is None else json.loads(seed["content"]["pool_size"]["content"])
    if state["__loader__"] != "DictNode" or kind not in _BIT_GENERATORS or pool > _POOL:
        raise ValueError("its random generator is none of NumPy's")


def _sizes(nodes: Iterable[dict[str, Any]], archive: zipfile.ZipFile) -> Iterator[int]:
    """Yield how many bytes are unpacked for each object; a sparse matrix is a zip of its own."""
    objects = {(_identity(node), node["file"]): node for node in nodes if "file" in node}
    for (_, file), node in objects.items():
        yield archive.getinfo(file).file_size
        if node["__loader__"] == "SparseMatrixNode":
            with zipfile.ZipFile(io.BytesIO(archive.read(file))) as inner:
                yield sum(part.file_size for part in inner.infolist())


def _check_sizes(sizes: Iterable[int], limit: int) -> None:
    if any(total > limit for total in accumulate(sizes)):
        raise ValueError(f"it would unpack to more than {limit:,} bytes")


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
        warnings.warn(f"{told_once}: it may answer otherwise.", FaithkitWarning, stacklevel=2)
