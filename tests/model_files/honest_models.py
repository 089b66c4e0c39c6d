"""Fitted models as people have them, one line each: what a skops file must hold to be loaded without asking."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import (
    calibration,
    cluster,
    compose,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    impute,
    multiclass,
    naive_bayes,
    neighbors,
    neural_network,
    svm,
    tree,
)
from sklearn import feature_selection as selection
from sklearn import gaussian_process as gp
from sklearn import linear_model as linear
from sklearn import model_selection as search
from sklearn import preprocessing as prep
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.gaussian_process import kernels
from sklearn.pipeline import make_pipeline, make_union

from faithkit.inputs.models.default_models import default_model

N = 60


@cache
def numbers():
    return np.random.default_rng(0).normal(size=(N, 4))


@cache
def table():
    rng = np.random.default_rng(1)
    job = pd.Series(rng.choice(["cook", "smith", "clerk"], N)).where(rng.random(N) > 0.1)
    debt = pd.Series(rng.random(N)).where(rng.random(N) > 0.1)
    return pd.DataFrame({"age": rng.integers(20, 60, N), "debt": debt, "job": job})


@cache
def sentences():
    rng = np.random.default_rng(2)
    words = ["a", "fine", "film", "dull", "book", "the", "of", "and"]
    return [" ".join(rng.choice(words, 6)) for _ in range(N)]


def two():
    return np.where(numbers()[:, 0] + numbers()[:, 1] > 0, "yes", "no")


def three():
    return np.array(["low", "mid", "high"])[np.digitize(numbers()[:, 0], [-0.5, 0.5])]


def _logistic():
    return linear.LogisticRegression()


def _by_column(*more):
    number = make_pipeline(impute.SimpleImputer(), prep.StandardScaler())
    return compose.make_column_transformer((number, ["age", "debt"]), *more)


def _selected():
    words = compose.make_column_selector(dtype_include=["object", "str", "category"])
    numeric = compose.make_column_selector(dtype_include=np.number)
    floats = make_pipeline(impute.SimpleImputer(), prep.MinMaxScaler())
    return compose.ColumnTransformer([("n", floats, numeric), ("w", prep.OneHotEncoder(), words)])


def _neighbours(metric, algorithm="ball_tree", **params):
    return neighbors.KNeighborsClassifier(metric=metric, algorithm=algorithm, metric_params=params or None)


def _kernel(kernel):
    return gp.GaussianProcessClassifier(kernel, optimizer=None)


def _grid(**more):
    return search.GridSearchCV(_logistic(), {"C": [0.5, 1.0]}, **{"cv": 3, **more})


def _small(kind, **more):
    return kind(n_estimators=5, random_state=0, **more)


_BOTH = [("a", _logistic()), ("b", tree.DecisionTreeClassifier(max_depth=2))]
_HIST = {"max_iter": 3, "min_samples_leaf": 5, "random_state": 0}
_KERNELS = [
    kernels.ConstantKernel() * kernels.RBF(np.ones(4)) + kernels.WhiteKernel(),
    kernels.Matern() ** 2,
    kernels.RationalQuadratic() + kernels.DotProduct(),
    kernels.ExpSineSquared() + kernels.WhiteKernel(),
    kernels.PairwiseKernel(metric="rbf"),
]
_METRICS = ["euclidean", "manhattan", "chebyshev", "canberra", "braycurtis", "hamming"]
_LOSSES = ["hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber"]

# what the model is called in the tests: the unfitted model, and what it is fitted on
ON_NUMBERS = {
    "logistic": _logistic(),
    "logistic by cross-validation": linear.LogisticRegressionCV(Cs=2, cv=3),
    "ridge": linear.RidgeClassifier(),
    **{f"SGD of {loss}": linear.SGDClassifier(loss=loss, random_state=0) for loss in _LOSSES},
    "perceptron": linear.Perceptron(random_state=0),
    "tree": tree.DecisionTreeClassifier(random_state=0),
    "pruned tree": tree.DecisionTreeClassifier(ccp_alpha=0.02, random_state=0),
    "tree of few leaves": tree.DecisionTreeClassifier(max_leaf_nodes=4, random_state=0),
    "stump": tree.DecisionTreeClassifier(max_depth=1),
    "extra tree": tree.ExtraTreeClassifier(random_state=0),
    "forest": _small(ensemble.RandomForestClassifier),
    "balanced forest": _small(ensemble.RandomForestClassifier, class_weight={"no": 1, "yes": 2}),
    "extra forest": _small(ensemble.ExtraTreesClassifier, bootstrap=True, oob_score=True),
    "gradient boosting": _small(ensemble.GradientBoostingClassifier),
    "gradient boosting by exponential loss": _small(ensemble.GradientBoostingClassifier, loss="exponential"),
    "gradient boosting from zero": _small(ensemble.GradientBoostingClassifier, init="zero"),
    "gradient boosting of a model": _small(ensemble.GradientBoostingClassifier, init=_logistic()),
    "histogram boosting": ensemble.HistGradientBoostingClassifier(**_HIST),
    "histogram boosting of categories": ensemble.HistGradientBoostingClassifier(
        categorical_features=[3], max_bins=64, **_HIST
    ),
    "AdaBoost": _small(ensemble.AdaBoostClassifier),
    "bagging": _small(ensemble.BaggingClassifier, max_features=0.5),
    "isolation forest": _small(ensemble.IsolationForest),
    "voting": ensemble.VotingClassifier(_BOTH, voting="soft"),
    "stacking": ensemble.StackingClassifier(_BOTH, cv=3),
    "calibrated": calibration.CalibratedClassifierCV(_logistic(), cv=3),
    "calibrated by steps": calibration.CalibratedClassifierCV(
        naive_bayes.GaussianNB(), method="isotonic", cv=3
    ),
    "SVM": svm.SVC(),
    "linear SVM": svm.LinearSVC(),
    "nu SVM": svm.NuSVC(kernel="poly"),
    "one-class SVM": svm.OneClassSVM(),
    "nearest neighbours": neighbors.KNeighborsClassifier(),
    "neighbours by brute force": neighbors.KNeighborsClassifier(algorithm="brute", weights="distance"),
    "neighbours in a radius": neighbors.RadiusNeighborsClassifier(5.0),
    "nearest centroid": neighbors.NearestCentroid(),
    "local outliers": neighbors.LocalOutlierFactor(novelty=True),
    **{f"neighbours by {metric}": _neighbours(metric) for metric in _METRICS},
    "neighbours by Minkowski": _neighbours("minkowski", "kd_tree", p=3),
    "neighbours by Mahalanobis": _neighbours("mahalanobis", VI=np.eye(4)),
    "neighbours by variance": _neighbours("seuclidean", V=np.ones(4)),
    "network": neural_network.MLPClassifier((5,), max_iter=20, random_state=0),
    "network by SGD": neural_network.MLPClassifier((5,), solver="sgd", max_iter=20, random_state=0),
    **{f"Gaussian process {i}": _kernel(kernel) for i, kernel in enumerate(_KERNELS)},
    "Bayes": naive_bayes.GaussianNB(),
    "Bernoulli": naive_bayes.BernoulliNB(),
    "linear discriminant": discriminant_analysis.LinearDiscriminantAnalysis(),
    "quadratic discriminant": discriminant_analysis.QuadraticDiscriminantAnalysis(),
    "one against the rest": multiclass.OneVsRestClassifier(_logistic()),
    "one against one": multiclass.OneVsOneClassifier(svm.SVC()),
    "dummy": dummy.DummyClassifier(),
    "clusters": cluster.KMeans(2, n_init=1, random_state=0),
    "grid": _grid(),
    "grid by AUC": _grid(scoring="roc_auc", cv=search.RepeatedStratifiedKFold(n_splits=2, n_repeats=2)),
    "grid by several scores": _grid(scoring=["f1_macro", "accuracy"], refit="accuracy"),
    "random search": search.RandomizedSearchCV(_logistic(), {"C": [0.1, 1.0]}, n_iter=2, cv=3),
    "tuned threshold": search.TunedThresholdClassifierCV(_logistic(), cv=3),
    "components": make_pipeline(prep.RobustScaler(), decomposition.PCA(2), svm.SVC()),
    "selection": make_pipeline(selection.SelectKBest(k=2), _logistic()),
    "selection by information": make_pipeline(
        selection.SelectPercentile(selection.mutual_info_classif), _logistic()
    ),
    "selection by a model": make_pipeline(selection.SelectFromModel(_logistic()), _logistic()),
    "power": make_pipeline(prep.PowerTransformer(), prep.PolynomialFeatures(2), _logistic()),
    "quantiles": make_pipeline(prep.QuantileTransformer(n_quantiles=10), _logistic()),
    "bins": make_pipeline(prep.KBinsDiscretizer(3), _logistic()),
    "logarithms": make_pipeline(
        prep.FunctionTransformer(np.absolute), prep.FunctionTransformer(np.log1p), _logistic()
    ),
    "union": make_pipeline(make_union(decomposition.PCA(2), prep.MaxAbsScaler()), _logistic()),
    "imputed by neighbours": make_pipeline(impute.KNNImputer(add_indicator=True), _logistic()),
}
ON_A_TABLE = {
    **{f"default {name}": name for name in ("gradient-boosting", "random-forest", "logistic", "tree", "knn")},
    "columns": make_pipeline(_by_column((prep.OneHotEncoder(), ["job"])), _logistic()),
    "first dropped": make_pipeline(_by_column((prep.OneHotEncoder(drop="first"), ["job"])), svm.SVC()),
    "rare merged": make_pipeline(
        _by_column((prep.OneHotEncoder(max_categories=2, handle_unknown="infrequent_if_exist"), ["job"])),
        tree.DecisionTreeClassifier(),
    ),
    "targets": make_pipeline(_by_column((prep.TargetEncoder(cv=2), ["job"])), _logistic()),
    "the rest dropped": make_pipeline(_by_column(("drop", ["job"])), _logistic()),
    "the rest passed": make_pipeline(
        compose.make_column_transformer((prep.OneHotEncoder(), ["job"]), remainder="passthrough"),
        ensemble.HistGradientBoostingClassifier(**_HIST),
    ),
    "histogram boosting": ensemble.HistGradientBoostingClassifier(categorical_features=["job"], **_HIST),
    "columns by type": make_pipeline(_selected(), _logistic()),
}
ON_TEXT = {
    "default logistic": "logistic",
    "counts": make_pipeline(CountVectorizer(stop_words="english"), naive_bayes.MultinomialNB()),
    "counts without some words": make_pipeline(
        CountVectorizer(stop_words=["the", "of"]), naive_bayes.ComplementNB()
    ),
    "weights": make_pipeline(TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True), svm.LinearSVC()),
    "letters": make_pipeline(TfidfVectorizer(analyzer="char_wb"), linear.SGDClassifier(random_state=0)),
    "hashes": make_pipeline(HashingVectorizer(n_features=64), _logistic()),
    "sparse neighbours": make_pipeline(TfidfVectorizer(), neighbors.KNeighborsClassifier()),
    "sparse SVM": make_pipeline(TfidfVectorizer(), svm.SVC()),
    "sparse forest": make_pipeline(CountVectorizer(), _small(ensemble.RandomForestClassifier)),
    "sparse components": make_pipeline(TfidfVectorizer(), decomposition.TruncatedSVD(2), _logistic()),
}

SAMPLES = {"numbers": (numbers, ON_NUMBERS), "table": (table, ON_A_TABLE), "text": (sentences, ON_TEXT)}
NAMES = [(kind, name) for kind, (_, models) in SAMPLES.items() for name in models]
# those that have another form inside for more than two classes
NAMES += [
    ("three classes", name) for name in ("logistic", "forest", "gradient boosting", "histogram boosting")
]
NAMES += [
    ("three classes", name)
    for name in ("SVM", "network", "Gaussian process 0", "one against one", "AdaBoost")
]


def honest(kind, name):
    """Return a fitted model, and the rows that it was fitted on."""
    rows, models = SAMPLES["numbers" if kind == "three classes" else kind]
    X, y = rows(), three() if kind == "three classes" else two()
    if name == "histogram boosting of categories":
        X = np.column_stack([X[:, :3], np.arange(N) % 3])
    model = default_model(models[name], X) if isinstance(models[name], str) else models[name]
    with warnings.catch_warnings(action="ignore"):  # of convergence
        return clone(model).fit(X, y), X


def sparse_svm():
    """Return a machine that was fitted on a sparse matrix, as one behind a vectorizer is."""
    return svm.SVC().fit(sparse.csr_matrix(numbers()), two())


def dictionaries():
    """Return a model of dictionaries, and such rows."""
    rows = [{"a": row[0], "b": row[1]} for row in numbers()]
    return make_pipeline(DictVectorizer(), _logistic()).fit(rows, two()), rows


def double(X):
    return 2 * X


class Contrary(ClassifierMixin, BaseEstimator):
    """An estimator of one's own, which holds one of scikit-learn's."""

    def __init__(self, model=None):
        self.model = model

    def predict(self, X):
        return 1 - self.model.predict(X)


class Strange:
    """A model of a type that skops has never heard of."""

    def predict(self, X):
        return ["yes"] * len(X)
