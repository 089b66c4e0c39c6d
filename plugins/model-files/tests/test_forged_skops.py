"""Forged skops files: none runs code, opens a file or imports a module; each is refused by the name of its type."""

import json
import sys
import zipfile
from itertools import product

import pytest
from faithkit_model_files.skops_files import trusted_types
from lazy_modules import import_when_used
from model_files.forging import (
    CANARY,
    TOUCH,
    array,
    constructor_node,
    function,
    items,
    list_node,
    mapping,
    method,
    model,
    node,
    npy,
    object_node,
    operator_node,
    partial,
    plain,
    type_node,
    write_skops,
)
from sklearn.linear_model import LogisticRegression

from faithkit import load_model

skops_io = import_when_used("skops.io")

EVALUATED = f"__import__('os').system('{TOUCH}')"
SHAPES = f"x: open('{CANARY}', 'w').write('dead')); (lambda x"  # scipy.stats compiles its shapes
TRANSFORMER = "sklearn.preprocessing._function_transformer.FunctionTransformer"
KERNEL = "sklearn.gaussian_process.kernels.RBF"


def loss(name, *arguments, loader="LossNode"):
    return node(loader, name, __reduce__={"args": items(*arguments)}, content=mapping({}))


def default(name, factory):
    return node("DefaultDictNode", name, content={"main": mapping({}), "default_factory": function(factory)})


# What a file holds; what is refused is the type of its outermost node
TYPES = {
    "a shell by methodcaller": operator_node("methodcaller", plain("system"), plain(TOUCH)),
    "a shell by attrgetter": operator_node("attrgetter", plain("system")),
    "attrgetter as sklearn has it": constructor_node(
        "sklearn.feature_selection._base.attrgetter", plain("os.system")
    ),
    "islice as sklearn has it": constructor_node("sklearn.utils._chunking.islice", plain([1]), plain(10**18)),
    "itemgetter as numpy has it": constructor_node("numpy.lib._npyio_impl.itemgetter", plain(0)),
    "partial as sklearn has it": constructor_node("sklearn.pipeline.partial", type_node("builtins.map")),
    "partial by a constructor": constructor_node("functools.partial", type_node("builtins.map")),
    "a process": constructor_node("subprocess.Popen", plain(["touch", CANARY])),
    "a process as numpy had it": constructor_node(
        "numpy.distutils.fcompiler.gnu.Popen", plain(["touch", CANARY])
    ),
    "a mapped file": constructor_node(
        "numpy.memmap", plain(CANARY), plain("uint8"), plain("w+"), plain(0), plain([4])
    ),
    "an array that is a mapped file": array(of="numpy.memmap"),
    "f2py's main program": type_node("numpy.f2py.__main__.main"),
    "a library in C": constructor_node("numpy.ctypeslib._ctypeslib.load_library", plain(CANARY), plain(".")),
    "a dictionary of another class": mapping({}, of="os._Environ"),
    "a list that is a call": list_node(plain(TOUCH), of="subprocess.getoutput"),
    "a set that is a call": node("SetNode", "os.system", content=[plain(TOUCH)]),
    "a tuple that is a call": node("TupleNode", "os.system", content=[plain(TOUCH)]),
    "a random state that is a call": node("RandomStateNode", "os.abort", content=mapping({})),
    "a loss that is a module": loss("evil.Loss"),
    "a loss that is a call": loss("os.system", plain(TOUCH)),
    "a tree that is a call": loss("os.system", plain(TOUCH), loader="TreeNode"),
    "a distribution that compiles a text": object_node(
        "scipy.stats._continuous_distns.gamma_gen", shapes=plain(SHAPES)
    ),
    "a cache of joblib": object_node("joblib.memory.Memory", location=plain(".")),
    "a distance by a function": object_node("sklearn.metrics._dist_metrics.PyFuncDistance64"),
    "a method of an estimator": method(object_node(TRANSFORMER, func=plain(None)), "fit"),
    "a method of a list": method(list_node(), "__init__"),
    "skops in skops": constructor_node("skops.io._persist.load", plain("other.skops")),
    "a pickle in skops": constructor_node("joblib.numpy_pickle.load", plain("other.pkl")),
    "a kernel, called": constructor_node(KERNEL, plain(1.0)),
    "a kernel, looked up": type_node(KERNEL),
    "a kernel from elsewhere": object_node("sklearn.gaussian_process._gpc.CompoundKernel"),
    "a kernel in place of an array": array(of=KERNEL),
    "a Bunch in place of an array": array(of="sklearn.utils._bunch.Bunch"),
    "a function of sklearn, called": constructor_node("sklearn.utils.validation.check_array", plain([[1]])),
    "a function of faithkit, called": constructor_node(
        "faithkit.inputs.models.preparation.as_floats", plain([[1]])
    ),
    "an estimator, called": constructor_node(
        "sklearn.feature_extraction.text.CountVectorizer", plain("filename")
    ),
    "a loader that nobody knows": node("MagicNode", "builtins.dict"),
    "a cached node": node("CachedNode", "builtins.dict"),
}

# The same where what is refused stands inside
PARTS = {
    "operator.call": (operator_node("call", function("os.system"), plain(TOUCH)), "operator.call"),
    "partial of a shell": (partial(function("os.system"), plain(TOUCH)), "os.system"),
    "a function that runs a shell": (object_node(TRANSFORMER, func=function("os.system")), "os.system"),
    "a function that writes files": (
        object_node(TRANSFORMER, func=function("numpy.savetxt")),
        "numpy.savetxt",
    ),
    "a function of the posix module": (
        object_node(TRANSFORMER, func=function("posix.system")),
        "posix.system",
    ),
    "a key that is evaluated": (mapping({EVALUATED: plain(1)}, keys="builtins.eval"), "builtins.eval"),
    "a key that is a kernel": (mapping({"a": plain(1)}, keys=KERNEL), KERNEL),
    "a default that is a call": (default("os.x", "os.abort"), "os.abort, os.x"),
    "many types": (list_node(*(object_node(f"evil.C{i:02}") for i in range(30))), "evil.C00, .* and 20 more"),
}
CASES = {name: (schema, f"{schema['__module__']}.{schema['__class__']}") for name, schema in TYPES.items()}
CASES |= PARTS


@pytest.fixture(autouse=True)
def _honest(here):
    skops_io.dump(LogisticRegression(), "honest.skops")
    load_model("honest.skops")  # whatever honest files import is there now


def test_a_type_that_is_not_known_is_refused_by_name(subtests, assert_refused):
    for (case, (schema, names)), is_model in product(CASES.items(), (True, False)):
        with subtests.test(case, place="the model itself" if is_model else "an attribute"):
            write_skops("model.skops", schema if is_model else model(coef_=schema), {"a.npy": npy([1.0])})
            assert_refused(
                rf"model\.skops holds types that are not trusted: {names}\. If you know them and trust the file's"
            )


def test_no_name_of_the_list_is_trusted_elsewhere(subtests, assert_refused):
    """Each is looked at under one loader; called, its methods taken, or one letter longer it is a stranger."""
    names = {name for _, name in trusted_types()}
    forgeries = {
        "called": constructor_node,
        "its method": lambda name: method(node("JsonNode", name), "fit"),
        "one letter longer": lambda name: loss(f"{name}s"),
    }
    for way, forge in forgeries.items():
        with subtests.test(way):
            write_skops("model.skops", list_node(*map(forge, sorted(names))))
            assert_refused(f"not trusted: .* and {len(names) - 10} more")


def test_an_old_name_of_scikit_learn_is_not_looked_for_beside_the_model(assert_refused, monkeypatch):
    monkeypatch.delitem(sys.modules, "_loss", raising=False)
    write_skops("model.skops", loss("_loss.CyHalfBinomialLoss"))
    assert_refused("not trusted: _loss.CyHalfBinomialLoss")


def test_of_two_schemas_in_one_zip_the_one_that_is_judged_is_the_one_that_is_used(assert_refused):
    write_skops("model.skops", model())
    with zipfile.ZipFile("model.skops", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(
            "schema.json", json.dumps({**constructor_node("os.system", plain(TOUCH)), "protocol": 2})
        )
    assert_refused(r"not trusted: os\.system")


def test_a_type_that_a_person_named_is_made_as_the_file_says(here):
    write_skops("model.skops", model(coef_=constructor_node("os.system", plain(TOUCH))))
    load_model("model.skops", trust_types="os.system")
    assert (here / CANARY).read_text().strip() == "dead"
