"""Importances are checked by rows near in their top features unless another relation is named, and results say how to read them."""

import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression

import faithkit
from faithkit import Explanations

DRAWN = np.random.default_rng(0)
X = pd.DataFrame(DRAWN.normal(size=(600, 4)), columns=["income", "debt", "age", "hours"])
SUM = X["income"] - X["debt"] + 0.3 * X["age"] * X["hours"]
FOREST = RandomForestClassifier(8, max_depth=5, random_state=0).fit(X[:300], SUM[:300] > 0)
THREE = RandomForestClassifier(5, max_depth=5, random_state=0).fit(
    X[:300], np.digitize(SUM[:300], [-0.7, 0.7])
)


def evaluate(model, explainer, rows=X[300:], **options):
    return faithkit.evaluate(model, rows, explainer, background=X[:300], progress=False, **options)


@one_test
@pytest.mark.parametrize("explainer", ["shap", "lime:samples=50", "gradient"])
def test_importances_of_tables_apply_to_rows_that_are_near_in_their_top_features(explainer):
    rows, model = X[300:340], LogisticRegression(solver="newton-cholesky").fit(X[:300], SUM[:300] > 0)
    result = evaluate(model, explainer, rows)
    assert result.relation == "near-in-top-features:share=0.8,rows=10,most=5"
    assert result.sufficiency is not None


def test_several_outputs_of_a_regressor_are_checked_on_their_columns():
    model = LinearRegression().fit(X, np.column_stack([X["income"], X["debt"]]))
    result = faithkit.evaluate(model, X, "gradient", background=X, outcome="numbers")
    assert result.sufficiency is not None


def test_images_have_no_default_relation():
    images = DRAWN.normal(size=(40, 4, 4))

    def bright(rows):
        return rows.reshape(len(rows), -1)

    class Model:
        classes_ = np.array([0, 1])

        def predict_proba(self, rows):
            p = 1 / (1 + np.exp(-bright(rows).sum(axis=1)))
            return np.column_stack([1 - p, p])

        def predict(self, rows):
            return (bright(rows).sum(axis=1) > 0).astype(int)

    for explainer in ("patches", "gradient"):
        result = faithkit.evaluate(Model(), images, explainer, background=images)
        assert result.sufficiency is None
        assert "need a relation" in result.why_no_sufficiency


def test_a_bare_array_has_the_default_relation_if_it_has_a_column_for_each_feature():
    labels = FOREST.predict(X)
    assert faithkit.score(labels, X.to_numpy(), X=X).relation.startswith("near-in-top-features")
    unequal = faithkit.score(labels, X.to_numpy()[:, :3], X=X)
    assert unequal.sufficiency is None
    assert "3 explanation columns cannot be paired with 4 features" in unequal.why_no_sufficiency


def test_objects_of_shap_are_checked_where_the_rows_are_known():
    from shap import TreeExplainer

    values, labels = TreeExplainer(THREE)(X), THREE.predict(X)
    for target in ("predicted", "all"):
        phi = faithkit.plugin.adapt(values, predictions=labels, target=target)
        assert faithkit.score(labels, phi, X=X).relation == "near-in-top-features:share=0.8,rows=10,most=5"
    alone = faithkit.score(labels, values)
    assert alone.sufficiency is None
    assert "pass X (CLI: --features)" in alone.why_no_sufficiency


def test_a_pool_that_the_default_relation_cannot_read_is_refused_with_the_reason():
    words = Explanations.vectors([[1.0], [2.0]], relation="near-in-top-features")
    with pytest.raises(faithkit.errors.InputError, match="the instances are texts"):
        faithkit.score([0, 1], words, X=["a", "b"], pool=(["c"], [0]))


# what additive values cannot be asked


def test_sufficiency_tells_shap_values_from_the_same_values_given_to_other_features():
    """Permuted within each row, the values still add up to the score."""
    rows, labels = X[300:], FOREST.predict(X[300:])
    phi = evaluate(FOREST, "shap").rows.explanations.values
    moved = np.random.default_rng(1).permuted(phi, axis=1)
    true, false = (
        faithkit.score(labels, values, X=rows, relation="near-in-top-features") for values in (phi, moved)
    )
    assert false.sufficiency.high < true.sufficiency.low


@pytest.mark.usefixtures("no_next_steps", "few_control_draws")
def test_results_say_that_additive_values_determine_the_score():
    rows = X[300:330]
    result = evaluate(FOREST, "shap", rows)
    sentence = (
        "The values add up to the probability, so high consistency is no evidence that they name the right "
        "features. Sufficiency is."
    )
    assert result.notes[0] == sentence
    assert sentence in " ".join(result.to_text(verbose=True).split())
    assert not any("add up" in note for note in evaluate(FOREST, "lime:samples=50", X[300:310]).notes)
    assert not any("add up" in note for note in evaluate(FOREST, "shap", rows[:9], discretizer="sign").notes)


# the class that a value speaks for


@pytest.mark.usefixtures("no_pictures", "no_next_steps", "first_pairs", "few_control_draws")
def test_results_and_pairs_say_what_plus_means_where_values_speak_for_the_predicted_class(tmp_path):
    rows = X[300:330]
    result = evaluate(THREE, "shap", rows, discretizer="sign")
    sentence = "A positive value (+) speaks for the class that the model predicts for that row"
    assert sentence in " ".join(result.to_text(verbose=True).split())
    assert sentence in " ".join(str(result.contradictions(1)).split())
    assert sentence in result.contradictions(1)._repr_html_()
    result.write(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count(sentence) == 1
    assert page.index("<h2>Contradictions</h2>") < page.index(sentence)  # where values are shown
    for explainer in ("shap:target=all", "gradient:target=all"):
        assert not any("speaks for" in note for note in evaluate(THREE, explainer, rows[:9]).notes)
    assert evaluate(FOREST, "shap", rows[:9]).contradictions(1).note is None


def test_a_contradiction_says_where_its_explanation_applies():
    ages = pd.DataFrame({"age": [20, 20, 60, 60]})
    phi = Explanations.vectors([[0.5]] * 4, shared={"names": ["age"]}, relation="same-top-features")
    (worst,) = faithkit.score(["no", "yes", "no", "no"], phi, X=ages).contradictions()
    assert worst.explanation == "age = 0.5, which applies where age ≤ 20"
    assert worst.predictions == {"no": 1, "yes": 1}


# what shap explains


def test_shap_explains_raw_scores_of_boosted_trees_exactly_unless_told_otherwise():
    rows, classes = X[300:320], np.digitize(SUM[:300], [-0.7, 0.7])
    boosted = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=6).fit(X[:300], classes)
    exact = evaluate(boosted, "shap:target=all,offset=true", rows).rows.explanations
    assert (exact.shared["adds_up_to"], exact.shared["algorithm"]) == ("raw score", "leaves")
    sums = exact.values[:, :12].reshape(20, 3, 4).sum(axis=2) + exact.values[:, 12:]
    assert np.allclose(sums, boosted.decision_function(rows), atol=1e-5)
    with pytest.warns(
        faithkit.errors.FaithkitWarning, match=r"which takes longer\. output=raw is exact and fast"
    ):
        slow = evaluate(boosted, "shap:output=probability", rows[:4]).rows.explanations
    assert slow.shared["adds_up_to"] == "probability"
