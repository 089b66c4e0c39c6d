"""Forged model files: a few words to write nodes of skops, and what to put around them."""

import io
import json
import zipfile
from itertools import count

import numpy as np
from sklearn import __version__

CANARY = "canary"  # a file in the current folder, with a word in it that nobody may change
TOUCH = f"echo dead > {CANARY}"
EVIL_MODULES = ("evil", "_loss")  # the second is what scikit-learn called one of its own
_ids = count(1)


def node(loader, name, **more):
    module, _, kind = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": kind, "__id__": next(_ids), **more}


def plain(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def items(*nodes):
    return node("TupleNode", "builtins.tuple", content=list(nodes))


def list_node(*nodes, of="builtins.list"):
    return node("ListNode", of, content=list(nodes))


def type_node(name):
    return node("TypeNode", name)


def function(name):
    return node("FunctionNode", name)


def mapping(content, keys="builtins.str", of="builtins.dict"):
    return node("DictNode", of, content=content, key_types=list_node(*(type_node(keys) for _ in content)))


def object_node(name, **attributes):
    """Write an object that is made without its constructor, and then given its attributes."""
    return node("ObjectNode", name, content=mapping({**attributes, "_sklearn_version": plain(__version__)}))


def constructor_node(name, *arguments):
    """Write an object that is made by its constructor."""
    return node("ConstructorFromReduceNode", name, content=items(*arguments))


def operator_node(name, *arguments):
    """Write a function of the module operator, called."""
    return node("OperatorFuncNode", f"operator.{name}", attrs=items(*arguments))


def method(owner, name):
    full = f"{owner['__module__']}.{owner['__class__']}"
    return node("MethodNode", full, content={"func": name, "obj": owner})


def partial(target, *arguments, of="functools.partial"):
    content = {"func": target, "args": items(*arguments), "kwds": mapping({}), "namespace": plain(None)}
    return node("PartialNode", of, content=content)


def array(file="a.npy", of="numpy.ndarray"):
    return node("NdArrayNode", of, type="numpy", file=file)


def model(**attributes):
    """Write an estimator that skops trusts, with hostile attributes."""
    return object_node("sklearn.linear_model._logistic.LogisticRegression", **attributes)


def npy(values):
    out = io.BytesIO()
    np.save(out, values, allow_pickle=True)
    return out.getvalue()


def npy_of_shape(shape, dtype="<f8"):
    """Write the header of an array, and no array behind it."""
    out = io.BytesIO()
    head = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(out, head)
    return out.getvalue()


def write_skops(path, schema, files=None, protocol=2, compression=zipfile.ZIP_DEFLATED):
    if isinstance(schema, dict):
        schema = {**schema, "protocol": protocol}
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in (files or {}).items():
            archive.writestr(name, content)
        archive.writestr("schema.json", json.dumps(schema))


def read_skops(content):
    """Return the schema and the other files of an honest file, to be changed and written again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(files.pop("schema.json")), files
