"""A measure as a scorer of scikit-learn's: it gives the number that `evaluate` gives, or none."""

import copy
import pickle

import faithkit_integrations
import numpy as np
import pandas as pd
import pytest
from looping import one_test
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.tree import DecisionTreeClassifier

import faithkit

RNG = np.random.default_rng(0)
X = pd.DataFrame({"debt": RNG.uniform(size=240), "age": RNG.integers(18, 80, 240)})
Y = np.where((X["debt"] > 0.4) | (X["age"] > 60), "refused", "granted")
FOLDS = KFold(3)


def explain_by_debt(X):
    return (X["debt"] * 5).astype(int).tolist()  # 0 and 1 are at most 0.4


def explain_each_row(X):
    return X["debt"].map(str).tolist()


def make_stump():
    return DecisionTreeClassifier(max_leaf_nodes=2, random_state=0)


def test_the_score_is_the_estimate_of_the_measure():
    model = make_stump().fit(X, Y)
    score = faithkit_integrations.scorer("consistency", explainer=explain_by_debt)(model, X, Y)
    assert score == faithkit.evaluate(model, X, explainer=explain_by_debt).consistency.estimate


def test_the_labels_may_be_left_out_and_change_nothing():
    model, scorer = make_stump().fit(X, Y), faithkit_integrations.scorer(explainer=explain_by_debt)
    assert scorer(model, X) == scorer(model, X, Y) == scorer(model, X, Y[::-1])


@one_test
@pytest.mark.parametrize(
    ("labels", "explainer", "reason"),
    [
        (["granted"] * 240, explain_by_debt, "all explained predictions are the same, so nothing was tested"),
        (Y, lambda X: (X["debt"] > 0.4).tolist(), "sufficiency would test this"),
    ],
)
def test_a_model_that_could_pass_no_gate_gets_no_score(labels, explainer, reason):
    with pytest.raises(faithkit.errors.InputError, match=f"consistency cannot be scored: .*{reason}"):
        faithkit_integrations.scorer("consistency", explainer=explainer)(make_stump().fit(X, labels), X)


def test_sufficiency_is_scored_by_the_explanations_own_relation():
    model, options = make_stump().fit(X, Y), {"explainer": "tree:max_depth=2", "background": X[:60]}
    score = faithkit_integrations.scorer("sufficiency", **options)(model, X[60:])
    assert score == faithkit.evaluate(model, X[60:], **options).sufficiency.estimate


def test_numbers_are_scored_too():
    model = LinearRegression().fit(X, X["debt"] * 2)
    options = {"explainer": lambda X: (X["debt"] * 4).astype(int).tolist()}
    score = faithkit_integrations.scorer(**options)(model, X)
    assert score == faithkit.evaluate(model, X, **options).consistency.estimate
    assert 0.5 < score < 1


def test_cross_validation_scores_every_fold_beside_other_scorers():
    scoring = {"accuracy": "accuracy", "consistency": faithkit_integrations.scorer(explainer=explain_by_debt)}
    outcome = cross_validate(make_stump(), X, Y, scoring=scoring, cv=FOLDS)
    by_hand = [
        faithkit.evaluate(make_stump().fit(X.iloc[train], Y[train]), X.iloc[test], explainer=explain_by_debt)
        for train, test in FOLDS.split(X)
    ]
    assert outcome["test_consistency"].tolist() == [result.consistency.estimate for result in by_hand]


def test_a_search_finds_the_model_that_is_explained_best():
    scorer = faithkit_integrations.scorer(explainer=explain_by_debt)
    search = GridSearchCV(make_stump(), {"max_leaf_nodes": [2, 4, 8]}, scoring=scorer, cv=FOLDS).fit(X, Y)
    assert search.best_params_ == {"max_leaf_nodes": 2}  # the larger ones look at the age, too
    assert (
        repr(clone(search).scoring)
        == repr(scorer)
        == "faithkit_integrations.scorer('consistency', explainer=…)"
    )


@one_test
@pytest.mark.parametrize("copy_scorer", [copy.deepcopy, lambda scorer: pickle.loads(pickle.dumps(scorer))])
def test_a_copy_scores_alike(copy_scorer):
    scorer = faithkit_integrations.scorer("sufficiency", explainer="tree:max_depth=2", background=X[:60])
    model = make_stump().fit(X, Y)
    assert copy_scorer(scorer)(model, X[60:]) == scorer(model, X[60:])


@pytest.mark.slow
def test_workers_give_the_same_scores():
    scorer = faithkit_integrations.scorer("sufficiency", explainer="tree:max_depth=2", background=X[:60])
    scores = [
        cross_validate(make_stump(), X[60:], Y[60:], scoring=scorer, cv=FOLDS, n_jobs=n_jobs)["test_score"]
        for n_jobs in (1, 2)
    ]
    assert scores[0].tolist() == scores[1].tolist()


# --- no number where nothing is known --------------------------------------------------------------------

UNKNOWN = {
    "nothing checked": ("consistency", explain_each_row, "no explanation holds for any other instance"),
    "not measured": ("sufficiency", explain_by_debt, "need a relation that says where they apply"),
}


@one_test
@pytest.mark.parametrize(("measure", "explainer", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_measure_without_a_value_is_no_score(measure, explainer, reason):
    scorer = faithkit_integrations.scorer(measure, explainer=explainer)
    with pytest.raises(faithkit.errors.InputError, match=f"{measure} cannot be scored: .*{reason}"):
        scorer(make_stump().fit(X, Y), X)
    with pytest.warns(UserWarning, match=reason):
        result = cross_validate(make_stump(), X, Y, scoring=scorer, cv=FOLDS)
    assert np.isnan(result["test_score"]).all()


WRONG = [
    (
        {"measure": "consistancy"},
        faithkit.errors.InputError,
        "no measure 'consistancy': give consistency or sufficiency",
    ),
    ({"measure": None}, faithkit.errors.InputError, "no measure None"),
    ({"explainer": "tre"}, faithkit.errors.UnknownComponentError, "Did you mean 'tree'"),
    ({"explainer": "tree:depth=3"}, faithkit.errors.ParameterError, "depth"),
    ({"explaner": "tree"}, TypeError, "unexpected keyword argument 'explaner'"),
    ({"X": X}, TypeError, "multiple values for argument 'X'"),
    ({"estimator": "plug-in"}, faithkit.errors.InputError, "does not depend on estimator: leave it out"),
]


@one_test
@pytest.mark.parametrize(
    ("options", "error", "message"), WRONG, ids=[str(list(options)) for options, *_ in WRONG]
)
def test_wrong_arguments_are_refused_when_the_scorer_is_made(options, error, message):
    with pytest.raises(error, match=message):
        faithkit_integrations.scorer(**options)
