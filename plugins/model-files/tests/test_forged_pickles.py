"""Pickles that run code, under all names that a model file may have: none is opened unless a person says so."""

import os
import pickle

import pytest
from looping import one_test
from model_files.forging import CANARY, TOUCH

from faithkit import load_model
from faithkit.errors import InputError


class Trap:
    def __reduce__(self):
        return (os.system, (TOUCH,))


@one_test
@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("suffix", ["pkl", "pickle", "joblib", "PKL", "Joblib"])
def test_a_pickle_that_nobody_trusts_is_never_opened(refusal, here, suffix, protocol):
    (here / f"model.{suffix}").write_bytes(pickle.dumps(Trap(), protocol))
    refusal("loading model.* runs code that is in it.* say --trust-pickle", f"model.{suffix}")


@one_test
@pytest.mark.parametrize("trust_pickle", [False, True])
@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("suffix", ["skops", "SKOPS", "onnx", "Onnx"])
def test_a_pickle_under_the_name_of_another_format_is_never_opened(here, suffix, protocol, trust_pickle):
    pytest.importorskip({"s": "skops", "o": "onnxruntime"}[suffix[0].lower()])
    (here / f"model.{suffix}").write_bytes(pickle.dumps(Trap(), protocol))
    with pytest.raises(InputError, match=rf"^loading model\.{suffix} failed with .*damaged"):
        load_model(f"model.{suffix}", trust_pickle=trust_pickle)
    assert (here / CANARY).read_text() == "alive"


NAMES = ["model", "model.txt", "model.pkl.gz", "model.npy", "model.pkl.txt", "x" * 300 + ".skops"]


@one_test
@pytest.mark.parametrize("name", NAMES, ids=lambda name: name[:20])
def test_a_file_of_another_kind_is_not_opened(refusal, here, name):
    if len(name) < 255:
        (here / name).write_bytes(pickle.dumps(Trap()))
    refusal("neither a file of a known kind|looking for x.* failed with OSError|no file", name)


def test_a_pickle_that_is_trusted_is_what_its_maker_says(here):
    (here / "model.pkl").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InputError, match="type int; expected an object with a predict method"):
        load_model("model.pkl", trust_pickle=True)
    assert (here / CANARY).read_text().strip() == "dead"
