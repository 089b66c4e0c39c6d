"""What a skops file would make: its description is read as a whole, and judged before skops sees it.

Here stands what makes a description impossible whatever it names: parts that are not what they are judged as,
that unfold or unpack without an end, and states that compiled types would take without a look.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from numpy.lib import format as npy

_FORMATS = (1, 2)  # 0 wrote the names of functions elsewhere
_RATIO, _SPARE = 100, 16 * 2**20  # what a file may unpack to, per byte and besides: more is a zip bomb
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(\.<lambda>)?")
_LONGEST = 200  # characters of a name
_MARKS = {"__loader__", "__module__", "__class__", "__id__"}
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_POOL = 64  # words of a seed: NumPy takes 4, and the time to mix them grows with their square
# The states of compiled types, by the first letters of the loaders of their parts: Json, NdArray, Object.
# Such types believe what they are given, and None in place of an array ends the process.
_STATES = (
    (r"TreeNode sklearn\.tree\._tree\.Tree", "JJNN"),
    (r"LossNode .*|ObjectNode (sklearn\._loss\.)?_loss\.Cy\w+", ""),
    (r"ObjectNode sklearn\.neighbors\._(kd|ball)_tree\.\w+", "N{4}J{7}O[NJ]"),
    (r"ObjectNode sklearn\.metrics\._dist_metrics\.(?!PyFunc)\w+", "JNN"),
)

Pair = tuple[str, str]  # a loader, and the full name of what it is to make


def read_pairs(content: bytes) -> set[Pair]:
    """Return what the file would make, and by which loaders, or raise if no honest file is like this."""
    limit = _RATIO * len(content) + _SPARE
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        nodes = _nodes(_schema(archive, limit))
        pairs = [_pair(node) for node in nodes]
        _check_sizes(_sizes(nodes, archive), limit)
        for node, pair in zip(nodes, pairs, strict=True):
            if pair[0] == "RandomGeneratorNode":
                _check_generator(node["content"])
            _check_state(pair, node, archive)
    return set(pairs)


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
            same = _hash([(key, digest(part)) for key, part in value.items() if not _is_new(key, part)])
            if not _MARKS.isdisjoint(value):
                found.append(value)
                if first.setdefault(_identity(value), same) != same:
                    raise ValueError("different parts of it have one id")
            return same
        return _hash(list(map(digest, value))) if isinstance(value, list) else value

    digest(schema)
    return found


def _is_new(key: str, part: Any) -> bool:
    """Whether an entry of a node is new whenever the same object is written again."""
    return key in ("__id__", "file") and not isinstance(part, dict | list)


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
        raise ValueError(
            f"it would unpack to more than {limit:,} bytes; honest files are larger, or not compressed"
        )


@cache
def _kinds(pair: Pair) -> str | None:
    """Return of what kinds the parts of a compiled type's state are; None for all other types."""
    return next((kinds for pattern, kinds in _STATES if re.fullmatch(pattern, " ".join(pair))), None)


def _check_state(pair: Pair, node: dict[str, Any], archive: zipfile.ZipFile) -> None:
    kinds = _kinds(pair)
    if kinds is None:
        return
    states = [(node["content"], kinds)]
    if pair[0] == "TreeNode":
        states.append((node["__reduce__"]["args"], "JNJ"))
    for state, expected in states:
        parts = _parts(state)
        if not re.fullmatch(expected, "".join(part["__loader__"][0] for part in parts)):
            raise ValueError(f"{pair[1].rpartition('.')[2]} has a state that none has")
        for part in parts:
            if part["__loader__"] == "NdArrayNode":
                _check_array(part, archive)


def _parts(state: dict[str, Any]) -> list[dict[str, Any]]:
    content = state["content"]
    if isinstance(content, dict):
        return [content[name] for name in sorted(content)]
    return content if isinstance(content, list) else [] if content == "null" else [state]


def _check_array(node: dict[str, Any], archive: zipfile.ZipFile) -> None:
    """Refuse what is no array, or has no first axis to ask for its length."""
    with archive.open(node["file"]) as file:
        read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}[npy.read_magic(file)]
        shape, *_ = read(file)
    if (node["__class__"], node["type"], shape == ()) != ("ndarray", "numpy", False):
        raise ValueError("an array of it is none")
