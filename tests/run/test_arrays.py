"""Images and series, from the model to the result: by name, by function, in files, with workers and pools."""

import numpy as np
import pytest
from looping import one_test
from pages import page_of

import faithkit

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 2, size=(120, 4, 4)).astype(np.float64)


def predict_daylight(X):
    """Predict by the upper half."""
    return np.where(X[:, :2].mean(axis=(1, 2)) > 0.5, "day", "night")


def score_daylight(X):
    """Return the score of daylight."""
    return X[:, :2].mean(axis=(1, 2))


BRIGHT = faithkit.Predictor(scores=score_daylight, classes=["night", "day"])


def explain_by_corner(X):
    """Explain by four cells."""
    return [tuple(map(int, image[:2, :2].ravel())) for image in X]


def measure_by_hand(explanations, predictions):
    """Return the paper's measure: the mean over rows of the share of the others with their explanation."""
    shares = []
    for i, own in enumerate(explanations):
        same = [p == predictions[i] for j, p in enumerate(predictions) if j != i and explanations[j] == own]
        shares.append(sum(same) / len(same) if same else 0.0)
    return sum(shares) / len(shares)


def test_consistency_of_images_is_that_of_a_double_loop():
    result = faithkit.evaluate(predict_daylight, IMAGES, explainer=explain_by_corner)
    assert result.consistency.value == pytest.approx(
        measure_by_hand(explain_by_corner(IMAGES), predict_daylight(IMAGES))
    )


def test_an_explainer_that_declares_images_is_found_by_name():
    result = faithkit.evaluate(BRIGHT, IMAGES, explainer="patches:size=2", background=IMAGES)
    assert result.setup.explainer.text == "patches:size=2"
    assert result.n == 120


def test_an_explainer_of_tables_says_who_takes_images_and_how_it_would():
    with pytest.raises(
        faithkit.errors.InputError,
        match=r"shap explains the rows of a table, and X has rows of shape \(4, 4\): use .*patches.*; shap "
        r"takes X\.reshape\(len\(X\), -1\), where the model does\.",
    ):
        faithkit.evaluate(predict_daylight, IMAGES, explainer="shap")


def test_an_explainer_of_images_takes_no_table():
    with pytest.raises(
        faithkit.errors.InputError, match="explains images and series, and X has the rows of a table"
    ):
        faithkit.evaluate(lambda X: X[:, 0] > 0, IMAGES[:, 0], explainer="patches")


@pytest.mark.parametrize(
    "inside", [pytest.param("processes:workers=2", marks=pytest.mark.slow), "processes:workers=1,timeout=60"]
)
def test_workers_and_stores_change_nothing(inside, tmp_path):
    system = {"explainer": "patches:size=2,target=predicted", "discretizer": "2fp", "background": IMAGES[:10]}
    alone = faithkit.evaluate(BRIGHT, IMAGES[:20], **system)
    executor = f"stored:folder={tmp_path},inside='{inside}'"
    for _ in range(2):  # the second time from the store
        again = faithkit.evaluate(BRIGHT, IMAGES[:20], **system, executor=executor, progress=False)
        assert again.to_dict() == alone.to_dict()


def test_one_row_of_the_sample_or_a_new_one():
    result = faithkit.evaluate(predict_daylight, IMAGES[:100], explainer=explain_by_corner)
    explanations, predictions = explain_by_corner(IMAGES[:100]), predict_daylight(IMAGES[:100])
    new = IMAGES[[110]]
    same = [p for e, p in zip(explanations, predictions, strict=True) if e == explain_by_corner(new)[0]]
    local_result = result.local(new)
    assert local_result.consistency.value == pytest.approx(
        np.mean([p == predict_daylight(new)[0] for p in same])
    )
    with pytest.raises(faithkit.errors.InputError, match=r"X\[\[0\]\] is one row"):
        result.local(IMAGES[110])


def test_another_sample_with_the_same_system():
    first = faithkit.evaluate(predict_daylight, IMAGES[:60], explainer=explain_by_corner)
    assert first.on(IMAGES[60:]).consistency.value == pytest.approx(
        measure_by_hand(explain_by_corner(IMAGES[60:]), predict_daylight(IMAGES[60:]))
    )
    with pytest.raises(faithkit.errors.InputError, match=r"expected rows of shape \(4, 4\)"):
        first.on(IMAGES[60:, :3])


class SameCorner(faithkit.plugin.Relation):
    """A relation that reads images: their upper left cells are those of the explanation."""

    name = "same-corner"
    instance_only = True

    def key(self, explanations):
        return explanations.values

    def holds(self, sample, explanations):
        corners = explain_by_corner(sample.instances(self.name))
        return np.array([[corner == cells for corner in corners] for cells in self.key(explanations)])


def test_sufficiency_of_images_with_a_pool_is_that_of_a_double_loop():
    sample, pool = IMAGES[:50], IMAGES[50:]
    result = faithkit.evaluate(
        predict_daylight, sample, explainer=explain_by_corner, relation=SameCorner(), pool=pool
    )
    corners, labels = explain_by_corner(IMAGES), predict_daylight(IMAGES)
    shares = []
    for i in range(50):
        same = [labels[j] == labels[i] for j in range(120) if j != i and corners[j] == corners[i]]
        shares.append(np.mean(same) if same else 0.0)
    assert result.sufficiency.value == pytest.approx(np.mean(shares))
    with pytest.raises(
        faithkit.errors.InputError, match=r"the pool has shape .*expected rows of shape \(4, 4\)"
    ):
        faithkit.evaluate(
            predict_daylight, sample, explainer=explain_by_corner, relation=SameCorner(), pool=pool[:, :2]
        )


def test_pairs_are_told_by_their_rows_and_a_result_fits_into_json():
    result = faithkit.evaluate(
        predict_daylight, IMAGES, explainer=lambda X: ["same"] * len(X), ids=range(1000, 1120)
    )
    payload = result.to_dict()
    assert payload["data"]["rows"] == 120
    first, second = result.contradictions()[0].pair
    assert {first.prediction, second.prediction} == {"day", "night"}
    assert (first.values, first.place) == (None, f"row {first.row} (id {1000 + first.row})")
    page = page_of(result)
    assert "<mark>" not in page  # no cells of images are shown
    assert first.place in page


def test_maps_of_the_shape_of_the_images_are_vectors_of_their_cells():
    maps = np.round(IMAGES * 0.5, 1)
    result = faithkit.score(predict_daylight(IMAGES), maps, X=IMAGES)
    flat = faithkit.score(predict_daylight(IMAGES), maps.reshape(120, -1))
    assert result.consistency.value == flat.consistency.value
    assert result.rows.explanations.shared["names"][:5] == ["[0, 0]", "[0, 1]", "[0, 2]", "[0, 3]", "[1, 0]"]
    shown = faithkit.evaluate(predict_daylight, IMAGES, explainer=lambda X: np.round(X * 0.5, 1))
    assert shown.consistency.value == flat.consistency.value


def test_maps_without_their_images_are_not_guessed_at():
    with pytest.raises(faithkit.errors.InputError, match="explanations in a 3-D array are not understood"):
        faithkit.score(predict_daylight(IMAGES), IMAGES)


def test_a_rule_about_columns_is_not_read_off_images():
    rule = faithkit.Rule([faithkit.plugin.Interval(0, low=0.5)])
    with pytest.raises(
        faithkit.errors.InputError, match=r"reads the column 0 of a table, and .* rows of shape \(4, 4\)"
    ):
        rule.covers(IMAGES)


@one_test
@pytest.mark.parametrize(
    ("relation", "explanations"),
    [
        (
            "in-scope",
            faithkit.Explanations.of(
                [faithkit.Rule([faithkit.plugin.Interval(0, low=0.5)])] * 120, kind="rule"
            ),
        ),
        ("same-top-features", faithkit.Explanations.vectors([[0.5]] * 120)),
    ],
    ids=["in-scope", "same-top-features"],
)
def test_a_relation_that_does_not_declare_images_is_named(relation, explanations):
    with pytest.raises(
        faithkit.errors.InputError, match=rf"the relation {relation} does not read rows of shape \(4, 4\)"
    ):
        faithkit.score(predict_daylight(IMAGES), explanations, X=IMAGES, relation=relation)


@one_test
@pytest.mark.parametrize(
    ("maps", "X"),
    [
        (IMAGES, np.stack([IMAGES] * 3, axis=-1)),  # gray maps of colored images
        (IMAGES[:, :2], IMAGES),
        (np.stack([IMAGES] * 2, axis=-1), IMAGES),  # of two classes
    ],
)
def test_maps_that_do_not_fit_the_images_are_refused_with_both_shapes(maps, X):
    message = (
        r"explanations of shape .* for an X of shape .*maps\.reshape\(len\(maps\), -1\); of several classes"
    )
    with pytest.raises(faithkit.errors.InputError, match=message):
        faithkit.score(predict_daylight(IMAGES), maps, X=X)


def test_a_list_of_maps_is_an_array_of_them():
    whole = faithkit.score(predict_daylight(IMAGES), IMAGES, X=IMAGES)
    assert faithkit.score(predict_daylight(IMAGES), list(IMAGES), X=IMAGES).to_dict() == whole.to_dict()


def test_a_list_of_images_is_told_to_be_stacked():
    lone = np.empty(120, dtype=object)
    lone[:] = list(IMAGES)
    for images in (list(IMAGES), lone, [IMAGES[0], IMAGES[1, :2]]):
        with pytest.raises(
            faithkit.errors.InputError, match=r"[Uu]se numpy\.stack\(X\) for images of one size, or series"
        ):
            faithkit.evaluate(predict_daylight, images, explainer=explain_by_corner)
    with pytest.raises(faithkit.errors.InputError, match="3-D array are not understood"):
        faithkit.score(predict_daylight(IMAGES), IMAGES, X=list(IMAGES))


def test_one_image_that_is_no_sample_is_told_how_to_be_one():
    with pytest.raises(
        faithkit.errors.InputError, match=r"as in the background of shape .*: one row alone is X\[None\]"
    ):
        faithkit.evaluate(predict_daylight, IMAGES[0], explainer=explain_by_corner, background=IMAGES)


def test_a_flat_pool_is_told_by_its_shape():
    with pytest.raises(
        faithkit.errors.InputError, match=r"the pool has shape \(120, 16\); expected rows of shape \(4, 4\)"
    ):
        faithkit.evaluate(predict_daylight, IMAGES, explainer=explain_by_corner, pool=IMAGES.reshape(120, -1))


def test_words_about_images_stay_words():
    result = faithkit.evaluate(
        predict_daylight, IMAGES, explainer=lambda X: [f"x0 = {int(x[0, 0])}" for x in X]
    )
    assert result.rows.explanations.kind == "value"


def test_a_table_and_images_of_the_same_rows_are_a_pair_by_their_predictions():
    flat = IMAGES.reshape(120, -1)
    by_image = faithkit.evaluate(predict_daylight, IMAGES, explainer=explain_by_corner)
    by_table = faithkit.evaluate(
        lambda X: predict_daylight(X.reshape(-1, 4, 4)), flat, explainer=lambda X: X[:, 0].tolist()
    )
    expected = by_image.consistency.value - by_table.consistency.value
    assert by_image.difference(by_table).value == pytest.approx(expected)
    with pytest.raises(faithkit.errors.InputError, match="no pair by their predictions"):
        by_image.difference(by_table.on(flat[::-1]))


def test_one_axis_of_numbers_is_no_table():
    with pytest.raises(faithkit.errors.InputError, match=r"X has shape \(4,\)"):
        faithkit.score([0, 0, 1, 1], ["a", "a", "a", "b"], X=np.arange(4.0))
