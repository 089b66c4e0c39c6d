"""Read and check the schema of a skops file before skops reads it.

These checks do not depend on the names in the schema. They reject nodes that share an id but differ, files
that unfold or unpack without end, and states that compiled types would accept unchecked.
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
_MAX_SCHEMA = 2**28  # bytes of schema.json: those of a hundred thousand trees
_MAX_UNPACKED = 2**31  # bytes of all arrays together in a compressed file
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(\.<lambda>)?")
_MAX_NAME_LENGTH = 200  # characters of a name
_NODE_KEYS = {"__loader__", "__module__", "__class__", "__id__"}
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_MAX_POOL_SIZE = 64  # words of a seed: NumPy takes 4, and the time to mix them grows with their square
# The states of compiled types, by the first letters of the loaders of their parts: Json, NdArray, Object.
# Such types do not check their state, and None in place of an array ends the process.
_STATES = (
    (r"TreeNode sklearn\.tree\._tree\.Tree", "JJNN"),
    (r"LossNode .*|ObjectNode (sklearn\._loss\.)?_loss\.Cy\w+", ""),
    (r"ObjectNode sklearn\.neighbors\._(kd|ball)_tree\.\w+", "N{4}J{7}O[NJ]"),
    (r"ObjectNode sklearn\.metrics\._dist_metrics\.(?!PyFunc)\w+", "JNN"),
)

Pair = tuple[str, str]  # a loader, and the full name of the type that it builds


def read_pairs(content: bytes) -> set[Pair]:
    """Return the types of a file with their loaders; raise ValueError for an invalid schema."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        nodes = _collect_nodes(_read_schema(archive))
        pairs = [_to_pair(node) for node in nodes]
        _check_sizes(_unpacked_sizes(nodes, archive), max(_MAX_UNPACKED, len(content)))
        for node, pair in zip(nodes, pairs, strict=True):
            if pair[0] == "RandomGeneratorNode":
                _check_generator(node["content"])
            _check_state(pair, node, archive)
    return set(pairs)


def _read_schema(archive: zipfile.ZipFile) -> Any:
    _check_sizes([archive.getinfo("schema.json").file_size], _MAX_SCHEMA)
    schema = json.loads(archive.read("schema.json"))
    if schema["protocol"] not in _FORMATS:
        raise ValueError(f"it has the format {schema['protocol']!r:.20}, and {_FORMATS} are known")
    return schema


def _collect_nodes(schema: Any) -> list[dict[str, Any]]:
    """Return all nodes. Nodes with the same id must be equal, because skops builds only the first.

    Otherwise the checked nodes might not be those that skops builds, and a small file could unfold without
    end. Ids and files inside a node may differ: they are new whenever an object is written.
    """
    nodes, digest_of_id = list[dict[str, Any]](), dict[Any, bytes]()

    def digest(value: Any) -> Any:
        if isinstance(value, dict):
            node_digest = _hash(
                [(key, digest(part)) for key, part in value.items() if not _changes_on_write(key, part)]
            )
            if not _NODE_KEYS.isdisjoint(value):
                nodes.append(value)
                if digest_of_id.setdefault(_identity(value), node_digest) != node_digest:
                    raise ValueError("different parts of it have one id")
            return node_digest
        return _hash(list(map(digest, value))) if isinstance(value, list) else value

    digest(schema)
    return nodes


def _changes_on_write(key: str, part: Any) -> bool:
    """Return whether an entry of a node changes whenever the same object is written again."""
    return key in ("__id__", "file") and not isinstance(part, dict | list)


def _identity(node: dict[str, Any]) -> Any:
    return node.get("__id__") or (id(node),)  # a node without an id is never shared


def _hash(value: Any) -> bytes:
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()


def _to_pair(node: dict[str, Any]) -> Pair:
    values = [node.get(key, "") for key in ("__loader__", "__module__", "__class__")]
    loader, *name_parts = (value if isinstance(value, str) else "" for value in values)
    name = ".".join(name_parts)
    if not loader or len(name) > _MAX_NAME_LENGTH or not _NAME.fullmatch(name):
        raise ValueError("a part of it has no type or no loader")
    return loader, name


def _check_generator(content: dict[str, Any]) -> None:
    """Reject random generators that NumPy does not have, because older versions of skops call any name."""
    state, seed = content["bit_generator"], content.get("seed_seq")
    kind = json.loads(state["content"]["bit_generator"]["content"])
    pool = 0 if seed is None else json.loads(seed["content"]["pool_size"]["content"])
    if state["__loader__"] != "DictNode" or kind not in _BIT_GENERATORS or pool > _MAX_POOL_SIZE:
        raise ValueError("its random generator is none of NumPy's")


def _unpacked_sizes(nodes: Iterable[dict[str, Any]], archive: zipfile.ZipFile) -> Iterator[int]:
    """Yield the unpacked size of each object; a sparse matrix is a zip inside the zip."""
    objects = {(_identity(node), node["file"]): node for node in nodes if "file" in node}
    for (_, file), node in objects.items():
        yield archive.getinfo(file).file_size
        if node["__loader__"] == "SparseMatrixNode":
            with zipfile.ZipFile(io.BytesIO(archive.read(file))) as inner:
                yield sum(part.file_size for part in inner.infolist())


def _check_sizes(sizes: Iterable[int], limit: int) -> None:
    if any(total > limit for total in accumulate(sizes)):
        raise ValueError(f"it would unpack to more than {limit:,} bytes: save the model without compression")


@cache
def _state_pattern(pair: Pair) -> str | None:
    """Return the pattern of loaders in a compiled type's state; None for all other types."""
    full_name = " ".join(pair)
    return next((pattern for types, pattern in _STATES if re.fullmatch(types, full_name)), None)


def _check_state(pair: Pair, node: dict[str, Any], archive: zipfile.ZipFile) -> None:
    pattern = _state_pattern(pair)
    if pattern is None:
        return
    states = [(node["content"], pattern)]
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
    """Reject files that hold no array, or an array without a first axis."""
    with archive.open(node["file"]) as file:
        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, *_ = readers[npy.read_magic(file)](file)
    if (node["__class__"], node["type"], shape == ()) != ("ndarray", "numpy", False):
        raise ValueError("an array of it is none")
