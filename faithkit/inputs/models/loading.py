"""Models by name or from a file: a sensible one where nobody gave any, and the user's own, loaded with care.

A pickle runs code when it is loaded, so it is never loaded unasked; files of skops and ONNX run none.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from faithkit.errors import InputError
from faithkit.foreign import foreign
from faithkit.inputs.models.files import (
    import_object,
    is_mlflow,
    load_mlflow,
    load_onnx,
    load_pickle,
    load_skops_file,
)
from faithkit.inputs.models.given import check_model, says_regressor
from faithkit.inputs.models.naming import called
from faithkit.inputs.models.predictor import Predictor
from faithkit.inputs.objects.adapters import adapter_for
from faithkit.inputs.predictions.outcome import LABELS, NUMBERS, SCORES, Outcome
from faithkit.inputs.preparation import is_plain, prepared
from faithkit.inputs.rows import Rows, check_X
from faithkit.measure.containers import n_rows, take_rows
from faithkit.wording import describe, did_you_mean, listing, suggest

DEFAULTS = ("gradient-boosting", "random-forest", "logistic", "linear", "tree", "knn")
_OTHERWISE = {"logistic": "linear", "linear": "logistic"}  # what one of them is called for numbers, or labels
_PICKLES = (".joblib", ".pkl", ".pickle")
_SERVED = ("models:/", "runs:/", "mlflow-artifacts:/")  # where MLflow keeps models, besides folders
_TRAIN_SHARE = 0.66  # as in the paper


def default_model(
    name: str = "gradient-boosting", X: Rows = None, seed: int = 0, outcome: str = LABELS
) -> Any:
    """Return an unfitted scikit-learn classifier, or regressor, that takes rows like those of X.

    For numbers without missing values that is the bare estimator, so that explainers which look
    inside a model find it. For tables with categories or missing values it is a Pipeline which
    encodes and imputes them, for texts one which counts their words.

    Parameters
    ----------
    name : {"gradient-boosting", "random-forest", "logistic", "linear", "tree", "knn"}
        Which model; logistic is for labels, and linear for numbers.
    X : array, DataFrame, sparse matrix or list of str, optional
        The rows that decide what preparation the model needs; by default none.
    seed : int
        The model's random state.
    outcome : str
        What it predicts: "labels" (and their scores) or "numbers".

    Examples
    --------
    >>> default_model("tree")
    DecisionTreeClassifier(max_depth=5, random_state=0)
    >>> default_model("tree", outcome="numbers")
    DecisionTreeRegressor(max_depth=5, random_state=0)
    >>> default_model("tree", pd.DataFrame({"job": ["clerk", None]})).steps[-1]
    ('model', DecisionTreeClassifier(max_depth=5, random_state=0))
    """
    if name not in DEFAULTS:
        raise InputError(f"there is no default model {name!r}. {suggest(name, DEFAULTS)}")
    known = (
        _regressors(seed % 2**32)
        if outcome == NUMBERS
        else _classifiers(seed % 2**32, plain=X is None or is_plain(X))
    )
    if name not in known:
        raise InputError(
            f"the default model {name!r} does not predict {outcome}, which the target asks for: take "
            f"{_OTHERWISE[name]!r}, or say what the target is (--outcome)."
        )
    return known[name] if X is None else prepared(known[name], X, name in ("logistic", "linear", "knn"))


def train_default(
    name: str, X: Rows, y: Any, seed: int = 0, outcome: str | None = None
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Train a default model on 66 % of the rows and return it, which rows these are, and the other 34 %.

    It is a regressor where the `outcome` is "numbers", or nobody says and y has fractions. The split is
    stratified by y when every class has rows enough for it. Both parts keep X's order.

    Examples
    --------
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> model, train, test = train_default("tree", X, ["a", "a", "a", "b", "b", "b"])
    >>> len(train), len(test), model.predict([[0.0, 1.0]]).tolist()
    (4, 2, ['a'])
    """
    X = check_X(X)
    kind = Outcome.of(outcome, None, y).kind
    if kind == SCORES and Outcome.of(None, None, y).kind != LABELS:
        raise InputError(
            "the target is a number, and models give scores of labels only: leave the outcome out."
        )
    target = _checked_target(y, n_rows(X), kind)
    train, test = _split(target, seed % 2**32)
    model = default_model(name, X, seed, kind)
    try:
        model.fit(take_rows(X, train), target[train])
    except Exception as error:
        raise InputError(
            f"the default model {name!r} cannot be trained on this table ({describe(error)}). "
            "Check the target and the columns, or give a model of your own."
        ) from error
    return model, train, test


def load_model(
    reference: str | os.PathLike[str],
    trust_pickle: bool = False,
    trust_types: str | Iterable[str] = (),
    classes: Any = None,
) -> Any:
    """Return the model that a file or a name in a module holds.

    Parameters
    ----------
    reference : str or path
        `module:attribute` (the current directory can be imported from), the path of a `.skops`, `.onnx`,
        `.joblib`, `.pkl` or `.pickle` file, or of a folder that MLflow saved. What it names is a model as
        `Predictor` takes it.
    trust_pickle : bool
        Whether a pickle or MLflow's folder may be loaded, which runs whatever code is in it.
    trust_types : iterable of str, or str
        Full names, or one text of them with commas between: types and functions that a `.skops` file may hold
        besides those of scikit-learn that are known to be harmless. The file may then call what they name.
    classes : sequence, optional
        Names for the model's classes; of a model without classes of its own, what it returns is then taken
        as their scores.

    Examples
    --------
    >>> load_model("model.pkl")
    Traceback (most recent call last):
    ...
    faithkit.errors.InputError: model.pkl is a pickle, and loading a pickle runs code that is in it. ...
    """
    reference = os.fspath(reference)
    suffix = Path(reference).suffix.lower()
    if is_mlflow(reference):
        model = load_mlflow(reference, trust_pickle)
    elif suffix in _PICKLES:
        model = load_pickle(reference, trust_pickle)
    elif suffix == ".skops":
        model = load_skops_file(reference, trust_types)
    elif suffix == ".onnx":
        model = load_onnx(reference)
    elif reference.startswith(_SERVED):
        raise InputError(
            f"the model {reference} is on a server, and none is asked. Fetch it: mlflow artifacts download "
            f"-u {reference} -d model, and give the folder."
        )
    elif ":" in reference:
        model = import_object(reference)
    else:
        raise InputError(
            f"the model {reference!r} is neither a file of a known kind nor a name in a module; expected "
            "module:attribute, a .skops, .onnx, .joblib, .pkl or .pickle file, or a folder of MLflow. On the "
            f"command line also a default model: {listing(DEFAULTS, 'or')}. "
            f"{did_you_mean(reference, DEFAULTS)}".rstrip()
        )
    with foreign(f"the model {reference}", "Give an object with a predict method, or a callable."):
        check_model(model)
        return model if classes is None else _named(model, classes)


def _named(model: Any, classes: Any) -> Predictor:
    """Give the classes of a model names; of one without classes of its own, what it returns are scores."""
    if says_regressor(model):
        raise InputError(f"{called(model)} predicts numbers, which have no classes: leave --classes out.")
    if isinstance(model, Predictor) or adapter_for(model) is not None or hasattr(model, "classes_"):
        return Predictor(model, classes=classes)
    methods = (getattr(model, name, None) for name in ("predict_proba", "decision_function", "predict"))
    return Predictor(scores=next(filter(None, methods), model), classes=classes)


def _classifiers(seed: int, plain: bool) -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    # A plain table is not scaled, so that explainers find the coefficients of its own columns: lbfgs would
    # take minutes there. A vocabulary has thousands of columns: Newton would take gigabytes there.
    solver = {"solver": "newton-cholesky"} if plain else {"max_iter": 2000}
    return {
        "gradient-boosting": GradientBoostingClassifier(random_state=seed),
        "random-forest": RandomForestClassifier(random_state=seed),
        "logistic": LogisticRegression(**solver),
        "tree": DecisionTreeClassifier(max_depth=5, random_state=seed),
        "knn": KNeighborsClassifier(),
    }


def _regressors(seed: int) -> dict[str, Any]:
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    return {
        "gradient-boosting": GradientBoostingRegressor(random_state=seed),
        "random-forest": RandomForestRegressor(random_state=seed),
        "linear": LinearRegression(),
        "tree": DecisionTreeRegressor(max_depth=5, random_state=seed),
        "knn": KNeighborsRegressor(),
    }


def _checked_target(y: Any, n: int, kind: str) -> np.ndarray:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InputError(f"the target has shape {labels.shape}; expected ({n},), one label per row of X.")
    missing = int(pd.isna(labels).sum())
    if missing:
        raise InputError(
            f"the target is missing in {missing} of {n} rows. Drop those rows, or name the label."
        )
    if len(pd.unique(labels)) < 2:
        raise InputError(f"the target is {labels.tolist()[0]!r} in every row; expected at least two classes.")
    return _as_numbers(labels) if kind == NUMBERS else labels


def _as_numbers(target: np.ndarray) -> np.ndarray:
    try:
        found = target.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"the target has other values than numbers, such as {target.tolist()[0]!r}: leave --outcome "
            "numbers out, or name another column with --target."
        ) from None
    if not np.isfinite(found).all():
        raise InputError(f"the target is infinite in row {int(np.isinf(found).argmax())}: drop such rows.")
    return found


def _split(labels: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.model_selection import train_test_split

    n = len(labels)
    n_train = round(_TRAIN_SHARE * n)
    sizes = pd.Series(labels).value_counts()
    stratify = labels if sizes.min() >= 2 and len(sizes) <= min(n_train, n - n_train) else None
    parts = train_test_split(np.arange(n), train_size=n_train, random_state=seed, stratify=stratify)
    return np.sort(parts[0]), np.sort(parts[1])
