"""The store: stored rows are not explained again, and what it stores cannot mislead."""

import functools
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from faithkit_executors.processes import Processes
from faithkit_executors.store import VERSION_FILE, Store, Stored, load_result
from pages import json_of
from slow_runs import Slow, X, evaluated, parity

import faithkit
from faithkit.extension.registry import registry
from faithkit.run import provenance


def test_a_second_run_explains_nothing_and_gives_the_same_bytes(tmp_path, log):
    first = json_of(evaluated(executor=Stored(tmp_path / "store")))
    assert sorted(log()) == list(range(40))
    assert json_of(evaluated(executor=Stored(tmp_path / "store"))) == first
    assert json_of(evaluated(executor=Stored(tmp_path / "store", Processes(2)))) == first
    assert len(log()) == 40


def test_only_new_rows_are_explained(tmp_path, log):
    evaluated(X[:20], executor=Stored(tmp_path / "store"))
    evaluated(X, executor=Stored(tmp_path / "store"))
    assert sorted(log()) == list(range(40))


def test_recorded_failures_are_not_tried_again_unless_a_run_raises(tmp_path, log):
    first = json_of(evaluated(explainer=Slow(trouble="raise"), on_error="record", executor=Stored(tmp_path)))
    before = len(log())
    assert (
        json_of(evaluated(explainer=Slow(trouble="raise"), on_error="record", executor=Stored(tmp_path)))
        == first
    )
    assert len(log()) == before
    with pytest.raises(faithkit.errors.ExplainerError, match="row 3"):
        evaluated(explainer=Slow(trouble="raise"), executor=Stored(tmp_path))


def test_the_store_holds_no_pickle(tmp_path):
    evaluated(executor=Stored(tmp_path / "store"))
    for file in (tmp_path / "store").glob("*/*.npz"):
        assert b"\x80\x04\x95" not in file.read_bytes()  # how a pickle of protocol 4 or 5 begins


def test_what_cannot_be_stored_is_refused_with_a_way_out(tmp_path):
    with pytest.raises(faithkit.errors.InputError, match=r"cannot be stored.*Run without a store"):
        faithkit.evaluate(parity, X, explainer=explain_by_objects, executor=Stored(tmp_path))


def explain_by_objects(X):
    return [frozenset([object])] * len(X)


def test_a_model_that_cannot_be_pickled_is_refused_with_a_way_out(tmp_path):
    with pytest.raises(
        faithkit.errors.InputError, match=r"^pickling the model failed with SystemExit: 0\. The store"
    ):
        faithkit.evaluate(Unpicklable(), X, explainer=Slow(), executor=Stored(tmp_path))


class Unpicklable:
    def predict(self, X):
        return parity(X)

    def __reduce__(self):
        sys.exit(0)


# --- another question -------------------------------------------------------------------------------------


def test_a_changed_question_is_asked_anew(tmp_path, log):
    evaluated(executor=Stored(tmp_path))
    changes = {
        "explainer": {"explainer": Slow(seconds=0.0001)},
        "seed": {"seed": 1},
        "rows": {"X": X[:, ::-1].copy()},
        "container": {"X": pd.DataFrame(X, columns=["a", "b"])},
    }
    for number, (name, options) in enumerate(changes.items(), start=2):
        evaluated(executor=Stored(tmp_path), **options)
        assert len(log()) == 40 * number, name


def test_edited_code_is_another_question(tmp_path, log, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for body in ("X[:, 0] > 5", "X[:, 0] > 5.0"):
        (tmp_path / "edited.py").write_text(f"def model(X):\n    return {body}\n")
        sys.modules.pop("edited", None)
        importlib.invalidate_caches()
        model = importlib.import_module("edited").model
        faithkit.evaluate(model, X, explainer=Slow(), executor=Stored(tmp_path / "store"))
    assert len(log()) == 80


class Learner(Slow):
    learns = True


def test_another_background_is_another_question_for_an_explainer_that_learns(tmp_path, log):
    for explainer, rows in ((Slow(), 40), (Learner(), 40 + 80)):
        for background in (X[:5], X[5:9]):
            evaluated(explainer=explainer, background=background, executor=Stored(tmp_path / "store"))
        assert len(log()) == rows


def test_another_model_is_another_question(tmp_path, log):
    from sklearn.tree import DecisionTreeClassifier

    for depth in (1, 2, 1):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, parity(X))
        faithkit.evaluate(model, X, explainer=Slow(), executor=Stored(tmp_path / "store"))
    assert len(log()) == 80


class Weighted:
    """A model that reads its weights when it is asked: neither its code nor its state tells of them."""

    classes_ = np.array([0, 1])

    def __init__(self, file):
        self.file = str(file)

    def share(self, X):
        weight, shift = map(float, Path(self.file).read_text().split())
        return np.clip(weight * (X[:, 0] - 20) / 40 + 0.5 + shift, 0, 1)

    def predict(self, X):
        return (self.share(X) > 0.5).astype(int)


class Scoring(Weighted):
    def predict_proba(self, X):
        return np.column_stack([1 - self.share(X), self.share(X)])


class Failing(Weighted):
    def predict_proba(self, X):
        sys.exit(0)


@pytest.mark.parametrize(
    ("model", "weights", "anew"),
    [
        (Weighted, "1 0.1", 8),  # the rows 17 to 20, which have another label, lie in two chunks
        (Weighted, "-1 0", 40),
        (Weighted, "0.5 0", 0),  # every label is the same, and this model gives nothing else
        (Failing, "-1 0", 40),
        (Failing, "0.5 0", 0),
        (Scoring, "0.5 0", 40),
        (Scoring, "1.000000001 0", 0),  # as another machine may round it
    ],
)
def test_new_weights_are_another_model(tmp_path, log, model, weights, anew):
    file = tmp_path / "weights"
    for text in ("1 0", weights):
        file.write_text(text)
        evaluated(model=model(file), executor=Stored(tmp_path / "store"))
    assert len(log()) - 40 == anew


def test_numbers_as_labels_are_compared_as_machines_may_round_them(tmp_path, log):
    for factor in (1.0, 1.0 + 1e-12, 1.01, 2.0):
        evaluated(
            model=Numbers(factor), explainer=Slow(), executor=Stored(tmp_path / "store"), outcome="labels"
        )
    assert len(log()) == 120


class Numbers:
    factor = 1.0

    def __init__(self, factor):
        type(self).factor = factor  # where no pickle of it tells

    def predict(self, X):
        return self.factor * (0.1 + X[:, 0])


# --- another version of a library -------------------------------------------------------------------------

PLUGIN = """
import faithkit
FAITHKIT_API = 1

@faithkit.plugin.hookimpl
def faithkit_explainers():
    yield faithkit.plugin.Component(
        name="upgraded", factory="upgraded_explainer:Upgraded", summary="Asks a library.", requires={requires}
    )
"""
EXPLAINER = """
import faithkit, numpy as np

class Upgraded:
    learns = False

    def fit(self, predictor, background):
        return self

    def explain(self, X, seeds):
        import parting_numbers
        return faithkit.Explanations.of(parting_numbers.parts(np.asarray(X)[:, 0]))
"""


def install_plugin(site, metadata=(), requires=()):
    modules = {"upgraded_plugin": PLUGIN.format(requires=requires), "upgraded_explainer": EXPLAINER}
    install(site, "upgraded_plugin", "1.0", metadata, "[faithkit]\nupgraded = upgraded_plugin\n", **modules)


def install(site, name, version, requires=(), entry_points="", **modules):
    """Install a distribution as pip would: modules, and what it is called, asks for and offers."""
    for old in site.glob(f"{name}-*.dist-info"):
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    for module, code in modules.items():
        (site / f"{module}.py").write_text(code)
    text = "".join(f"Requires-Dist: {line}\n" for line in requires)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{text}")
    (info / "RECORD").write_text("".join(f"{module}.py,,\n" for module in modules))
    (info / "entry_points.txt").write_text(entry_points)


def restart():
    """Forget what a new process would not know."""
    registry.cache_clear()
    provenance._providers.cache_clear()
    importlib.invalidate_caches()
    for module in ("upgraded_plugin", "upgraded_explainer", "parting_numbers"):
        sys.modules.pop(module, None)


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # modules are written twice within a second
    monkeypatch.setattr(provenance, "_providers", functools.cache(provenance._providers.__wrapped__))
    yield tmp_path / "site"
    monkeypatch.undo()
    restart()


def by_instance():
    return importlib.import_module("upgraded_explainer").Upgraded()


@pytest.mark.parametrize(
    ("requires", "metadata", "explainer"),
    [
        (("parting_numbers",), (), lambda: "upgraded"),
        ((), ("Library.Of-numbers>=1",), lambda: "upgraded"),
        ((), ("library-of-numbers; python_version >= '3'",), by_instance),
    ],
    ids=["import name", "asked for", "asked for in some environments, by an instance"],
)
def test_an_upgraded_library_is_another_question(site, tmp_path, requires, metadata, explainer):
    def evaluate():
        restart()
        return faithkit.evaluate(parity, X, explainer=explainer(), executor=Stored(tmp_path / "store"))

    install_plugin(site, metadata, requires)
    install(site, "library_of_numbers", "1.0", parting_numbers="def parts(x): return (x % 2).tolist()")
    assert evaluate().consistency.value == 1.0
    install(site, "library_of_numbers", "2.0", parting_numbers="def parts(x): return (x % 5).tolist()")
    upgraded = evaluate()
    # of the seven others with the same remainder by 5, three are of the same parity
    assert upgraded.consistency.value == pytest.approx(3 / 7)
    versions = upgraded.to_dict()["versions"]
    assert "unknown" not in versions.values()
    if requires:
        assert versions["library_of_numbers"] == "2.0"


def test_extras_are_not_asked_for(site):
    install(site, "library_of_numbers", "1.0")
    install_plugin(site, ["library-of-numbers; extra == 'more'", "not-there"])
    restart()
    component = faithkit.run.components.resolution.resolve_component("explainer", "upgraded")
    assert provenance.library_versions(component) == {"upgraded-plugin": "1.0"}


# --- another version of faithkit --------------------------------------------------------------------------


def forget_the_version(folder):
    (folder / VERSION_FILE).unlink()  # as stores were before versions had their file


def write_another_version(folder):
    (folder / VERSION_FILE).write_text("0.2.9\n")


@pytest.mark.parametrize(
    ("change", "writer"), [(forget_the_version, "0.2.0 or older"), (write_another_version, "0.2.9")]
)
def test_a_store_of_another_version_is_refused_before_anything_is_explained(tmp_path, log, change, writer):
    evaluated(executor=Stored(tmp_path / "store"))
    change(tmp_path / "store")
    files = sorted(tmp_path.rglob("*"))
    message = rf"store was written by faithkit {writer}, and this is .*: delete it or name a new folder"
    with pytest.raises(faithkit.errors.StoreError, match=message):
        evaluated(X[::-1], executor=Stored(tmp_path / "store"))
    assert len(log()) == 40
    assert sorted(tmp_path.rglob("*")) == files


def test_a_folder_with_other_files_may_become_a_store(tmp_path, log):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "array.npz").write_bytes(b"not a chunk")
    evaluated(executor=Stored(tmp_path))
    evaluated(executor=Stored(tmp_path))
    assert len(log()) == 40


# --- damage -----------------------------------------------------------------------------------------------


def test_a_damaged_chunk_is_told_of_and_explained_again(tmp_path, log):
    whole = json_of(evaluated(executor=Stored(tmp_path / "store")))
    files = sorted((tmp_path / "store").glob("*/*.npz"))
    cut_off, flipped, emptied, swapped, exchanged = (file.read_bytes() for file in files[:5])
    files[0].write_bytes(cut_off[:-20])
    files[1].write_bytes(flipped[:200] + bytes([flipped[200] ^ 1]) + flipped[201:])
    files[2].write_bytes(emptied[:0])
    files[3].write_bytes(exchanged)
    files[4].write_bytes(swapped)
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=r"^5 of 10 chunks must be explained again: in the store"
    ):
        assert json_of(evaluated(executor=Stored(tmp_path / "store"))) == whole
    assert len(log()) == 40 + 4 * 5
    assert json_of(evaluated(executor=Stored(tmp_path / "store"))) == whole
    assert len(log()) == 40 + 4 * 5


def explain_with_remarks(X):
    return faithkit.Explanations.of(["a"] * len(X), remarks=np.array([*range(len(X))], dtype=object))


@pytest.mark.filterwarnings("error::faithkit.errors.FaithkitWarning")
def test_remarks_that_are_no_texts_are_the_same_with_a_store_and_without(tmp_path):
    remarks = [
        faithkit.evaluate(
            parity, X[:3], explainer=explain_with_remarks, executor=executor
        ).rows.explanations.remarks.tolist()
        for executor in (None, Stored(tmp_path), Stored(tmp_path))
    ]
    assert remarks == [["0", "1", "2"]] * 3


# --- disks ------------------------------------------------------------------------------------------------


def test_a_chunk_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    steps = []

    def record(step, act):
        return lambda *arguments: (steps.append((step, kind_of(arguments[0]))), act(*arguments))[1]

    def kind_of(file):
        if isinstance(file, int):
            file = os.readlink(f"/proc/self/fd/{file}") if os.path.exists("/proc/self/fd") else ""
        return Path(file).name.split("-")[0]

    Store(tmp_path / "store").open()  # which also writes the version
    monkeypatch.setattr(os, "fsync", record("to disk", os.fsync))
    monkeypatch.setattr(os, "replace", record("rename", os.replace))
    evaluated(X[:4], executor=Stored(tmp_path / "store"))
    assert len(list((tmp_path / "store").glob("*/*.npz"))) == 1
    assert [step for step, _ in steps] == ["to disk", "rename"]
    if os.path.exists("/proc/self/fd"):
        assert [name for _, name in steps] == [".faithkit", ".faithkit"]


def mount(folder, *options):
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("needs the right to mount a file system")


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "small"
    mount(folder, "-t", "tmpfs", "-o", "size=64k", "tmpfs")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def wide(X):
    return np.random.default_rng(0).normal(size=(len(X), 50))


def test_a_full_disk_is_a_clear_error_and_what_is_kept_stays_readable(small_disk):
    rows = np.arange(400.0)[:, None]
    with pytest.raises(faithkit.errors.StoreError, match=r"No space left.*free some space.*is intact"):
        faithkit.evaluate(parity, rows, explainer=wide, executor=Stored(small_disk / "store"))
    files = list((small_disk / "store").glob("*/*"))
    assert files
    assert all(re.fullmatch(r"[0-9a-f]{32}\.npz", file.name) for file in files)
    assert all(len(load_result(file.read_bytes(), file.stem)) in (1, 16, 32) for file in files)


def test_a_read_only_store_serves_what_it_has_and_refuses_the_rest(small_disk, log):
    whole = json_of(evaluated(X[:8], executor=Stored(small_disk / "store")))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert json_of(evaluated(X[:8], executor=Stored(small_disk / "store"))) == whole
    with pytest.raises(faithkit.errors.StoreError, match=r"Read-only.*name a folder that you can write to"):
        evaluated(X, executor=Stored(small_disk / "store"))


def test_a_file_in_place_of_the_store_is_a_clear_error(tmp_path):
    (tmp_path / "store").write_text("hello")
    with pytest.raises(faithkit.errors.StoreError, match="name a folder"):
        evaluated(executor=Stored(tmp_path / "store"))
