"""Rows of several axes, such as images: seeds, fingerprints, names, and NumPy's own files."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test

from faithkit.arrays.containers import concat_rows
from faithkit.errors import InputError
from faithkit.inputs.files.table_files import read_array
from faithkit.inputs.rows import check_columns, check_row, check_X, has_input_kind
from faithkit.inputs.seeds import fingerprint
from faithkit.plugin import row_seeds

IMAGES = np.random.default_rng(0).integers(0, 17, size=(20, 4, 3, 2)).astype(np.float64)


def test_an_image_is_taken_as_it_is():
    assert check_X(IMAGES) is IMAGES


@one_test
@pytest.mark.parametrize("inputs", [("image",), ("series",), ("table", "image"), ("series", "image")])
def test_an_array_is_what_a_component_asks_for(inputs):
    assert has_input_kind(IMAGES, inputs)


@one_test
@pytest.mark.parametrize("inputs", [("table",), ("text", "sparse"), ("table", "text", "sparse")])
def test_an_array_of_more_axes_is_no_table(inputs):
    assert not has_input_kind(IMAGES, inputs)


def test_a_table_is_no_image():
    assert not has_input_kind(IMAGES[:, :, 0, 0], ("image", "series"))


def test_images_with_equal_cells_have_equal_seeds_and_others_do_not():
    images = IMAGES.copy()
    images[7] = images[2]
    images[9, 3, 2, 1] += 1  # the last cell counts, too
    seeds, before = row_seeds(images, 0), row_seeds(IMAGES, 0)
    assert seeds[7] == seeds[2]
    assert len({*seeds.tolist()}) == 19
    assert np.flatnonzero(seeds != before).tolist() == [7, 9]


@one_test
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float32, np.float16, ">f8"])
def test_a_dtype_that_holds_the_same_numbers_changes_no_seed(dtype):
    assert row_seeds(IMAGES.astype(dtype), 0).tolist() == row_seeds(IMAGES, 0).tolist()


@one_test
@pytest.mark.parametrize(
    "laid", [np.asfortranarray, lambda X: X[:, ::-1][:, ::-1], lambda X: np.repeat(X, 2, 0)[::2]]
)
def test_how_an_array_lies_in_memory_changes_neither_seeds_nor_the_fingerprint(laid):
    assert row_seeds(laid(IMAGES), 0).tolist() == row_seeds(IMAGES, 0).tolist()
    assert fingerprint(laid(IMAGES)) == fingerprint(IMAGES)


def test_a_row_has_its_seed_in_every_batch_and_order():
    seeds = row_seeds(IMAGES, 3)
    assert row_seeds(IMAGES[::-1], 3).tolist() == seeds[::-1].tolist()
    assert [int(row_seeds(IMAGES[[i]], 3)[0]) for i in range(20)] == seeds.tolist()


@one_test
@pytest.mark.parametrize("cells", [1, 30, 100])
def test_how_many_cells_are_hashed_at_once_changes_neither_seeds_nor_the_fingerprint(cells, monkeypatch):
    seeds, name = row_seeds(IMAGES, 3).tolist(), fingerprint(IMAGES)
    monkeypatch.setattr("faithkit.inputs.seeds._VALUES_PER_BATCH", cells)
    assert (row_seeds(IMAGES, 3).tolist(), fingerprint(IMAGES)) == (seeds, name)
    assert len(row_seeds(IMAGES[:0], 3)) == 0


def test_missing_cells_and_negative_zeros_are_one_each():
    images = np.zeros((2, 2, 2))
    images[1] = -0.0
    images[:, 0, 0] = np.array([0x7FF8000000000001, 0xFFF8000000000002], dtype=np.uint64).view(np.float64)
    seeds = row_seeds(images, 0)
    assert seeds[0] == seeds[1]


def test_a_fingerprint_tells_cells_order_and_shape():
    changed = IMAGES.copy()
    changed[3, 1, 1, 1] += 1
    known = [fingerprint(X) for X in (IMAGES, changed, IMAGES[::-1], IMAGES.reshape(20, 3, 4, 2))]
    assert len({*known}) == 4


@one_test
@pytest.mark.parametrize(
    ("row", "message"),
    [
        (IMAGES[0], r"one row at a time, got 4: of an array, X\[\[0\]\] is one row"),
        (IMAGES[:2], r"one row at a time, got 2"),
        (IMAGES[0, 0, 0], r"expected a sample of one row: .* X\[\[0\]\] of an array"),
    ],
)
def test_one_image_is_a_sample_of_one_row(row, message):
    assert check_row(IMAGES[[5]]).shape == (1, 4, 3, 2)
    with pytest.raises(InputError, match=message):
        check_row(row)


@one_test
@pytest.mark.parametrize("rows", [IMAGES[:, :3], IMAGES[..., 0], IMAGES.reshape(20, -1)])
def test_rows_of_another_shape_are_refused(rows):
    with pytest.raises(InputError, match=r"expected rows of shape \(4, 3, 2\), as in the background"):
        check_columns(rows, IMAGES)


def test_a_table_beside_a_background_of_images_is_refused():
    with pytest.raises(InputError, match=r"shape \(2, 1\); expected rows of shape \(4, 3, 2\)"):
        check_columns(pd.DataFrame({"age": [31, 40]}), IMAGES)


def test_parts_of_another_shape_are_not_joined():
    assert np.array_equal(concat_rows([IMAGES[:3], IMAGES[3:]]), IMAGES)
    with pytest.raises(InputError, match=r"different columns: rows of shape \(4, 3, 2\); and rows of shape"):
        concat_rows([IMAGES[:3], IMAGES[3:, :2]])


def test_an_array_is_read_as_it_was_saved(tmp_path):
    np.save(tmp_path / "images.npy", IMAGES)
    result = read_array(tmp_path / "images.npy")
    assert type(result) is np.ndarray
    assert np.array_equal(result, IMAGES)


def save(content):
    return lambda path: np.save(path, content, allow_pickle=True)


def forge_header(path):
    """Write a header of a thousand billion images, and the cells of none."""
    np.save(path, IMAGES)
    path.write_bytes(path.read_bytes()[:128].replace(b"(20, 4, 3, 2)", b"(10**9, 9999)"[:13]))


def save_archive(path):
    """Call an archive of arrays an array."""
    np.savez(path.with_suffix(".npz"), IMAGES)
    path.with_suffix(".npz").rename(path)


def save_two_arrays(path):
    with path.open("wb") as file:
        np.save(file, IMAGES)
        np.save(file, IMAGES)


BAD_FILES = {
    "nothing": (lambda path: None, r"there is no file '.*X\.npy'; expected one .npy file"),
    "a folder": (lambda path: path.mkdir(), "expected one .npy file, not a folder or a pattern"),
    "no array": (
        lambda path: path.write_bytes(b"age,job\n31,clerk\n"),
        "reading .* failed with .* Save one array of numbers",
    ),
    "an archive": (save_archive, "reading .* failed with .* Save one array of numbers"),
    "an empty file": (
        lambda path: path.write_bytes(b""),
        "reading .* failed with .* Save one array of numbers",
    ),
    "objects": (
        save(np.array([{}, {}])),
        "reading .* failed with .* Python objects",
    ),
    "words": (save(np.full((2, 2, 2), "a")), "holds <U1: save numbers"),
    "one number": (save(np.float64(1.5)), r"shape \(\); expected one row per instance"),
    "no rows": (save(IMAGES[:0]), "X.npy is empty"),
    "half of it": (
        lambda path: (np.save(path, IMAGES), path.write_bytes(path.read_bytes()[:200])),
        "reading .* failed with .* Save one array of numbers",
    ),
    "two arrays": (save_two_arrays, "holds more than one array: save each in a file of its own"),
    "a forged header": (forge_header, "reading .* failed with .* Save one array of numbers"),
}


@one_test
@pytest.mark.parametrize(("write", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_holds_no_array_of_numbers_is_refused_in_one_line(write, message, tmp_path):
    write(tmp_path / "X.npy")
    with pytest.raises(InputError, match=message) as error:
        read_array(tmp_path / "X.npy")
    assert "\n" not in str(error.value)
