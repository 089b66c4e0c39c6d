"""SHAP values: choose the algorithm that the model allows, and check on every batch that values add up."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.coded_model import CodedModel
from faithkit_feature_importance.shap_values.leaf_by_leaf.ensembles import NoSumError, UnreadableError
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaf_shap import LeafShap
from faithkit_feature_importance.shap_values.leaf_by_leaf.owners import split
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import is_made_of_trees
from faithkit_feature_importance.shap_values.linear import LinearShap
from faithkit_feature_importance.shap_values.outputs import OUTPUTS, Output, candidates, raw_method
from faithkit_feature_importance.shap_values.reference import Reference
from faithkit_feature_importance.shap_values.sampling import ENUMERATED, KernelShap, PermutationShap
from faithkit_feature_importance.shap_values.trees import TreeShap
from faithkit_feature_importance.targets import Target, check_target

Floats = NDArray[np.float64]
READERS: dict[str, tuple[Any, ...]] = {  # algorithms that read the model itself, in the order of trial
    "auto": (LinearShap, LeafShap, TreeShap),
    "tree": (LeafShap, TreeShap),
    "linear": (LinearShap,),
    "kernel": (),
    "permutation": (),
}
LogReading = LeafShap | TreeShap | LinearShap
FEW_ROWS = "sample:100"  # to compare with, where each of them costs
FASTER_ROWS = 20  # the number that a warning about time names
MIXTURES = 256  # rows of the background, mixed, on which a model is compared with its trees
ROWS_READ = {"tree": 4096, "linear": 4096, "auto": 1024}  # at a time; a few trees cannot be read after all
ROWS_ASKED = 16


class ShapExplainer:
    """SHAP values: how much each column moves the model's output away from its mean over reference rows.

    Of a regressor it is the prediction itself that is explained.

    Parameters
    ----------
    algorithm : str
        "tree" and "linear" read the model and are fast; "kernel" and "permutation" only ask it for scores and
        explain any model. "auto" takes the first that fits: see the notes.
    output : str, optional
        What the values add up to: "probability", or "raw" (the scale on which the model adds up, such as
        log-odds; for decision trees and forests that is the probability). By default raw where "tree" or
        "linear" reads it, as in shap, else the probability. A regressor's is what it predicts; "raw" is for
        those of XGBoost, LightGBM and CatBoost that predict a function of a sum, as for counts.
    target : str, optional
        Which class is explained: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more. A regressor has none to choose.
    background : str, optional
        The reference rows: "rows" (all of the background), "median" (one row: the middle number, the most
        frequent category), "kmeans:k" (the real rows nearest to k centres), or "sample:n". By default all
        where trees are explained leaf by leaf, which takes hardly longer with many; else "sample:100".
    offset : bool
        Whether the base value, the mean output over the reference rows, is part of the explanation. Equal
        values with equal base values mean equal outputs; with target=predicted they may be of two classes.

    Notes
    -----
    With algorithm=auto, tree models of scikit-learn, XGBoost, LightGBM and CatBoost are explained by "tree",
    alone or at the end of a Pipeline whose transformers make each column from one column (encoders, scalers,
    imputers, binning), and raw scores of linear models by "linear". All other models (probabilities of
    boosted trees with three classes or more, trees behind transformers that mix columns) are explained by
    "kernel" up to 9 columns, where it tries all coalitions and is exact, and by "permutation" beyond: an
    estimate with the row's own seed, from 20 orders of the columns forwards and backwards, at about a quarter
    of the cost of "kernel". A warning says why trees are explained by an estimate.

    "tree" explains leaf by leaf where it can (`shared["algorithm"]` is then "leaves"): each leaf is a game of
    the raw columns on its path, and the reference rows are counted once for it. Where trees have more than 12
    columns on a path, or too many leaves, it is shap's TreeSHAP ("tree"), for models without a Pipeline.

    Every batch is checked: values and base value add up to the model's own output, to 1e-6 (1e-4 for models
    that work in float32); of a regressor, to that share of the deviation of its predictions. With auto, a row
    where "tree" or "linear" misses it is explained by "kernel" or "permutation", with a warning; with a named
    algorithm it is an error.

    On the probability scale "tree" explains boosted trees as shap does: the exact values of the log-odds,
    scaled for each reference row so that they add up to the difference in probability. "kernel" gives the
    Shapley values of the probability itself, at many times the cost.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = np.array([[0.0, 5.0], [1.0, 5.0]]), [0, 1]
    >>> tree = DecisionTreeClassifier().fit(X, y)
    >>> shap = ShapExplainer(offset=True).fit(faithkit.Predictor(tree), X)
    >>> shap.explain(X, seeds=[1, 2]).values.round(3)
    array([[-0.5,  0. ,  0.5],
           [ 0.5,  0. ,  0.5]])
    """

    outcomes = ("labels", "numbers")

    def __init__(
        self,
        algorithm: str = "auto",
        output: str | None = None,
        target: str | None = None,
        background: str | None = None,
        offset: bool = False,
    ) -> None:
        if algorithm not in READERS:
            raise faithkit.errors.ParameterError(
                f"shap: algorithm must be one of {', '.join(READERS)}, got {algorithm!r}."
            )
        if output not in (None, *OUTPUTS):
            raise faithkit.errors.ParameterError(
                f"shap: output must be 'probability' or 'raw', got {output!r}."
            )
        if not isinstance(offset, bool):
            raise faithkit.errors.ParameterError(f"shap: offset must be true or false, got {offset!r}.")
        self.algorithm = algorithm
        self.output = output
        self.target = check_target("shap", target)
        self.background = background
        self.offset = offset
        self._reference = None if background is None else Reference.parse(background)

    def rows_per_chunk(self, predictor: faithkit.Predictor) -> int:
        """Return how many rows to explain at a time: many where the model itself is read."""
        _, final = split(predictor.model)
        is_read = is_made_of_trees(final) or hasattr(final, "coef_")
        return ROWS_READ.get(self.algorithm, ROWS_ASKED) if is_read else ROWS_ASKED

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "ShapExplainer":
        """Choose the reference rows, and the algorithm by trying it on the background."""
        _check_table(background)
        self.encoder_ = faithkit.plugin.Encoder(background)
        self.target_ = Target.choose("shap", self.target, predictor, background)
        *preferred, last = candidates(self.output, predictor, reads=bool(READERS[self.algorithm]))
        for name in preferred:
            self.reading_ = self._reading(name, predictor, background, must_explain=False)
            if self.reading_ is not None:
                return self
        self.reading_ = self._reading(last, predictor, background)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one vector per row, in column order, with the offset last."""
        _check_table(X)
        codes = self.encoder_.encode(X, unseen="keep")
        values = self._values(X, codes, seeds) if len(codes) else np.empty((*codes.shape, len(self.base_)))
        return self.target_.explanations(
            X,
            self.output_.unit.rounded(values),
            np.tile(self.base_, (len(codes), 1)),
            self.encoder_.names,
            offset=self.offset,
            base_value=self.base_.tolist(),
            adds_up_to=self.output_.title,
            algorithm=(self.reading_ or self.asking_).name,
        )

    def _reading(
        self, output: str, predictor: faithkit.Predictor, background: Any, must_explain: bool = True
    ) -> LogReading | None:
        """Return the algorithm that reads an output of the model, if there is one that reads it rightly."""
        self.output_ = Output.choose(output, predictor, background)
        self.model_ = CodedModel(self.output_, self.encoder_)
        model = predictor.model
        codes = self.encoder_.encode(background)
        refused, faults = [], []
        for reader in READERS[self.algorithm]:
            reference = self._references(codes, reader.background)
            try:
                found = reader(model, self.output_.name, reference, self.encoder_)
            except faithkit.errors.InputError as error:
                refused.append(error)
                if isinstance(error.__cause__, NoSumError):
                    break  # nor does another reader of the same trees find one
                continue
            self._compare_with(reference)
            fault = self._fault(found, background, codes)
            if not fault:
                return found
            faults.append((found, fault))
        if must_explain:
            self._compare_with(self._references(codes, FEW_ROWS))
            self._explain_absence(model, refused, faults)
        return None

    def _references(self, codes: Floats, default: str) -> Floats:
        chosen = self._reference or Reference.parse(default)
        return chosen.rows(codes, self.encoder_.categorical)

    def _compare_with(self, reference: Floats) -> None:
        """Take these reference rows, for the algorithm that asks the model, too."""
        self.base_ = self.model_.scores(reference).mean(axis=0)
        few = reference.shape[1] <= ENUMERATED
        is_kernel = self.algorithm == "kernel" or (self.algorithm != "permutation" and few)
        self.asking_ = (KernelShap if is_kernel else PermutationShap)(self.model_, reference)

    def _fault(self, found: LogReading, background: Any, codes: Floats) -> str:
        """Return where an algorithm misses the model's own output, if anywhere."""
        sums = found.sums(codes if found.takes_codes else background)
        missed = self._missed(sums, self.output_.scores(background))
        if not (missed <= self.output_.tolerance).all():
            return f"by {_worst(missed)} on the background"
        if isinstance(found, LeafShap):
            # whose values add up even where a prepared column is taken for that of another column
            picked = np.random.default_rng(0).integers(len(codes), size=(MIXTURES, codes.shape[1]))
            mixed = self.model_.scores(np.take_along_axis(codes, picked, axis=0))
            missed = self._missed(found.mixed_sums(background, picked), mixed)
            if not (missed <= self.output_.tolerance).all():
                return f"by {_worst(missed)} on mixtures of the background's rows"
        return ""

    def _explain_absence(self, model: Any, refused: list[Any], faults: list[Any]) -> None:
        """Say why no algorithm reads the model, where one was asked for or is missed."""
        if faults:
            self._complain(*faults[-1])
            return
        if refused and self.algorithm != "auto":
            raise refused[0]
        for cause in (error.__cause__ for error in refused):
            if isinstance(cause, NoSumError) and raw_method(model) is not None:
                self._warn(f"shap cannot read the model's trees ({cause})", "output=raw is exact and fast.")
            elif isinstance(cause, UnreadableError) and isinstance(self.asking_, PermutationShap):
                self._warn(f"shap cannot read the model's trees ({cause})")

    def _values(self, X: Any, codes: Floats, seeds: Any) -> Floats:
        """Return values (rows, columns, classes) that add up to the model's own output."""
        scores = self.output_.scores(X)
        if self.reading_ is None:
            return self._asked(X, codes, scores, seeds)
        values = self.output_.sided(self.reading_.values(codes if self.reading_.takes_codes else X))
        wrong = ~(self._missed(values.sum(axis=1), scores) <= self.output_.tolerance)
        if wrong.any():
            # row by row, so that a row's explanation does not depend on those beside it
            self._complain(self.reading_, "on some rows")
            rows = faithkit.plugin.take_rows(X, wrong)
            values[wrong] = self._asked(rows, codes[wrong], scores[wrong], np.asarray(seeds)[wrong])
        return values

    def _asked(self, X: Any, codes: Floats, scores: Floats, seeds: Any) -> Floats:
        values = self.asking_.values(codes, seeds, self.model_.unseen(X, codes))
        missed = self._missed(values.sum(axis=1), scores)
        if not (missed <= self.output_.tolerance).all():
            raise faithkit.errors.InputError(
                f"{self.asking_.title} misses the model's own output by {_worst(missed)}: asked again, among "
                "other rows, the model scores a row otherwise. Give a model that looks at each row by itself."
            )
        return values

    def _missed(self, sums: Floats, scores: Floats) -> Floats:
        return self.output_.unit.missed(self.output_.sided(sums) + self.base_, scores)

    def _complain(self, reading: LogReading, where: str) -> None:
        """Say that values do not add up: a warning where another algorithm steps in, else an error."""
        fault = f"{reading.title} misses the model's own output {where}"
        if self.algorithm != "auto":
            raise faithkit.errors.InputError(f"{fault}: its values would be wrong. Use algorithm=auto.")
        self._warn(fault)

    def _warn(self, fault: str, faster: str = "") -> None:
        steps_in = f"{fault}, so {self.asking_.title} steps in: it asks the model itself, which takes longer."
        if not faster and len(self.asking_.reference) > FASTER_ROWS:
            faster = f"background=sample:{FASTER_ROWS} is faster: it compares with fewer rows."
        warnings.warn(f"{steps_in} {faster}".rstrip(), faithkit.FaithkitWarning, stacklevel=2)


def _worst(missed: NDArray[np.float64]) -> str:
    return f"{np.nan_to_num(missed, nan=np.inf).max():.2g}"


def _check_table(X: Any) -> None:
    if isinstance(X, list):
        raise faithkit.errors.InputError(
            "shap explains the rows of a table, and was given a list of texts: use lime-text."
        )
    if hasattr(X, "toarray"):
        raise faithkit.errors.InputError(
            "shap explains the rows of a table, and was given a sparse matrix: give X.toarray(), and a model "
            "that takes it."
        )
