"""The explainer `shap`: choose an algorithm that fits the model, and check that values add up."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import faithkit
from faithkit_feature_importance.shap_values.errors import NoSumError, UnreadableError
from faithkit_feature_importance.shap_values.explained_output import (
    OUTPUTS,
    CodedModel,
    Output,
    candidate_outputs,
    raw_method,
)
from faithkit_feature_importance.shap_values.leaf_by_leaf.column_origins import split_pipeline
from faithkit_feature_importance.shap_values.leaf_by_leaf.leaf_shap import LeafShap
from faithkit_feature_importance.shap_values.leaf_by_leaf.readers import is_made_of_trees
from faithkit_feature_importance.shap_values.linear import LinearShap
from faithkit_feature_importance.shap_values.reference_rows import Reference
from faithkit_feature_importance.shap_values.sampling import (
    MAX_ENUMERATED_COLUMNS,
    KernelShap,
    PermutationShap,
)
from faithkit_feature_importance.shap_values.trees import TreeShap
from faithkit_feature_importance.targets import Target, check_target

Floats = NDArray[np.float64]
# algorithms that read the model itself, in the order in which they are tried
MODEL_READERS: dict[str, tuple[Any, ...]] = {
    "auto": (LinearShap, LeafShap, TreeShap),
    "tree": (LeafShap, TreeShap),
    "linear": (LinearShap,),
    "kernel": (),
    "permutation": (),
}
ModelReader = LeafShap | TreeShap | LinearShap
DEFAULT_REFERENCE = "sample:100"  # if the cost grows with the number of reference rows
FASTER_ROWS = 20  # the number of reference rows that a warning about speed suggests
MIXED_ROWS = 256  # mixtures of background rows on which a model is compared with its trees
# fewer with auto, where some trees turn out to be unreadable
ROWS_PER_CHUNK_READING = {"tree": 4096, "linear": 4096, "auto": 1024}
ROWS_PER_CHUNK_SAMPLING = 16


class ShapExplainer:
    """SHAP values: how much each column moves the model's output away from its mean over reference rows.

    For a regressor, the prediction is explained.

    Parameters
    ----------
    algorithm : str
        "tree" and "linear" read the model and are fast. "kernel" and "permutation" only use its scores and
        explain any model. "auto" takes the first that fits: see the notes.
    output : str, optional
        The output that the values add up to: "probability", or "raw" (the scale on which the model adds up,
        such as log-odds; for decision trees and forests, the probability). By default raw if "tree" or
        "linear" can read it, as in shap, else the probability. For a regressor, the output is the prediction;
        "raw" is for regressors of XGBoost, LightGBM and CatBoost that predict a function of a sum, such as
        counts.
    target : str, optional
        The explained class: "positive" (the second of two), "predicted", or "all" side by side.
        By default positive for two classes, predicted for more. Not for regressors.
    background : str, optional
        The reference rows: "rows" (all of the background), "median" (one row: the middle number, the most
        frequent category), "kmeans:k" (the real rows nearest to k centres), or "sample:n". By default all
        rows if trees are explained leaf by leaf, where many rows cost little more; else "sample:100".
    offset : bool
        Whether the base value, the mean output over the reference rows, is part of the explanation. Equal
        values with equal base values mean equal outputs; with target=predicted, possibly of different
        classes.

    Notes
    -----
    With algorithm=auto, tree models of scikit-learn, XGBoost, LightGBM and CatBoost are explained by "tree",
    alone or at the end of a Pipeline whose transformers make each column from one column (encoders, scalers,
    imputers, binning), and raw scores of linear models by "linear". All other models (probabilities of
    boosted trees with three classes or more, trees behind transformers that mix columns) are explained by
    "kernel" up to 9 columns, where it evaluates all coalitions and is exact. Beyond that they are explained
    by "permutation": an estimate with the seed of the row, from 20 orders of the columns forwards and
    backwards, at about a quarter of the cost of "kernel". If trees are explained by an estimate, a warning
    gives the reason.

    "tree" explains leaf by leaf if possible (`shared["algorithm"]` is then "leaves"): each leaf is a game of
    the raw columns on its path, and the reference rows are counted once for it. If trees have more than 12
    columns on a path, or too many leaves, shap's TreeSHAP is used ("tree"), for models without a Pipeline.

    Every batch is checked: values and base value must add up to the model's own output, up to 1e-6 (1e-4 for
    models in float32); for a regressor, up to that share of the deviation of its predictions. With auto, rows
    for which "tree" or "linear" fails the check are explained by "kernel" or "permutation", with a warning.
    With a named algorithm, this is an error.

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
        if algorithm not in MODEL_READERS:
            raise faithkit.errors.ParameterError(
                f"shap: algorithm must be one of {', '.join(MODEL_READERS)}, got {algorithm!r}."
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
        """Return how many rows to explain together: many if the model itself can be read."""
        _, estimator = split_pipeline(predictor.model)
        is_readable = is_made_of_trees(estimator) or hasattr(estimator, "coef_")
        return (
            ROWS_PER_CHUNK_READING.get(self.algorithm, ROWS_PER_CHUNK_SAMPLING)
            if is_readable
            else ROWS_PER_CHUNK_SAMPLING
        )

    def fit(self, predictor: faithkit.Predictor, background: Any) -> "ShapExplainer":
        """Choose the output, the reference rows and the algorithm, by trying algorithms on the background."""
        _check_table(background)
        self.encoder_ = faithkit.plugin.Encoder(background)
        self.target_ = Target.choose("shap", self.target, predictor, background)
        *preferred, last = candidate_outputs(
            self.output, predictor, reads_model=bool(MODEL_READERS[self.algorithm])
        )
        for name in preferred:
            self.reader_ = self._find_reader(name, predictor, background, must_explain=False)
            if self.reader_ is not None:
                return self
        self.reader_ = self._find_reader(last, predictor, background)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one vector per row, in column order, with the offset last."""
        _check_table(X)
        codes = self.encoder_.encode(X, unseen="keep")
        values = (
            self._checked_values(X, codes, seeds) if len(codes) else np.empty((*codes.shape, len(self.base_)))
        )
        return self.target_.explanations(
            X,
            self.output_.scale.round(values),
            np.tile(self.base_, (len(codes), 1)),
            self.encoder_.names,
            offset=self.offset,
            base_value=self.base_.tolist(),
            adds_up_to=self.output_.title,
            algorithm=(self.reader_ or self.sampler_).name,
        )

    def _find_reader(
        self, output: str, predictor: faithkit.Predictor, background: Any, must_explain: bool = True
    ) -> ModelReader | None:
        """Return the first algorithm that reads this output of the model correctly, or None."""
        self.output_ = Output.choose(output, predictor, background)
        self.model_ = CodedModel(self.output_, self.encoder_)
        model = predictor.model
        codes = self.encoder_.encode(background)
        errors, faults = [], []
        for algorithm in MODEL_READERS[self.algorithm]:
            reference = self._reference_rows(codes, algorithm.background)
            try:
                candidate = algorithm(model, self.output_.name, reference, self.encoder_)
            except faithkit.errors.InputError as error:
                errors.append(error)
                if isinstance(error.__cause__, NoSumError):
                    break  # other readers of the same trees would fail in the same way
                continue
            self._set_reference(reference)
            fault = self._find_fault(candidate, background, codes)
            if not fault:
                return candidate
            faults.append((candidate, fault))
        if must_explain:
            self._set_reference(self._reference_rows(codes, DEFAULT_REFERENCE))
            self._report_no_reader(model, errors, faults)
        return None

    def _reference_rows(self, codes: Floats, default: str) -> Floats:
        reference = self._reference or Reference.parse(default)
        return reference.rows(codes, self.encoder_.categorical)

    def _set_reference(self, reference: Floats) -> None:
        """Use these reference rows for the base value and for the sampling algorithm."""
        self.base_ = self.model_.scores(reference).mean(axis=0)
        has_few_columns = reference.shape[1] <= MAX_ENUMERATED_COLUMNS
        is_kernel = self.algorithm == "kernel" or (self.algorithm != "permutation" and has_few_columns)
        self.sampler_ = (KernelShap if is_kernel else PermutationShap)(self.model_, reference)

    def _find_fault(self, reader: ModelReader, background: Any, codes: Floats) -> str:
        """Return where an algorithm's sums differ from the model's output; empty if they agree."""
        sums = reader.sums(codes if reader.takes_codes else background)
        errors = self._errors_of_sums(sums, self.output_.scores(background))
        if not (errors <= self.output_.tolerance).all():
            return f"by {_format_largest(errors)} on the background"
        if isinstance(reader, LeafShap):
            # its values add up even if a preprocessed column is assigned to the wrong raw column
            source_rows = np.random.default_rng(0).integers(len(codes), size=(MIXED_ROWS, codes.shape[1]))
            scores = self.model_.scores(np.take_along_axis(codes, source_rows, axis=0))
            errors = self._errors_of_sums(reader.sums_of_mixtures(background, source_rows), scores)
            if not (errors <= self.output_.tolerance).all():
                return f"by {_format_largest(errors)} on mixtures of the background's rows"
        return ""

    def _report_no_reader(self, model: Any, errors: list[Any], faults: list[Any]) -> None:
        """Raise an error or warn if no algorithm can read a model that should be readable."""
        if faults:
            self._report_fault(*faults[-1])
            return
        if errors and self.algorithm != "auto":
            raise errors[0]
        for cause in (error.__cause__ for error in errors):
            if isinstance(cause, NoSumError) and raw_method(model) is not None:
                self._warn(f"shap cannot read the model's trees ({cause})", "output=raw is exact and fast.")
            elif isinstance(cause, UnreadableError) and isinstance(self.sampler_, PermutationShap):
                self._warn(f"shap cannot read the model's trees ({cause})")

    def _checked_values(self, X: Any, codes: Floats, seeds: Any) -> Floats:
        """Return values (rows, columns, classes), checked to add up to the model's own output."""
        scores = self.output_.scores(X)
        if self.reader_ is None:
            return self._sample_values(X, codes, scores, seeds)
        values = self.output_.expand_two_classes(
            self.reader_.values(codes if self.reader_.takes_codes else X)
        )
        is_wrong = ~(self._errors_of_sums(values.sum(axis=1), scores) <= self.output_.tolerance)
        if is_wrong.any():
            # only these rows, so that an explanation does not depend on the other rows of its batch
            self._report_fault(self.reader_, "on some rows")
            rows = faithkit.plugin.take_rows(X, is_wrong)
            values[is_wrong] = self._sample_values(
                rows, codes[is_wrong], scores[is_wrong], np.asarray(seeds)[is_wrong]
            )
        return values

    def _sample_values(self, X: Any, codes: Floats, scores: Floats, seeds: Any) -> Floats:
        values = self.sampler_.values(codes, seeds, self.model_.unseen_values(X, codes))
        errors = self._errors_of_sums(values.sum(axis=1), scores)
        if not (errors <= self.output_.tolerance).all():
            raise faithkit.errors.InputError(
                f"{self.sampler_.title} misses the model's own output by {_format_largest(errors)}: the "
                "model's score of a row depends on the other rows. Give a model that scores each row "
                "independently."
            )
        return values

    def _errors_of_sums(self, sums: Floats, scores: Floats) -> Floats:
        return self.output_.scale.relative_errors(self.output_.expand_two_classes(sums) + self.base_, scores)

    def _report_fault(self, reader: ModelReader, where: str) -> None:
        """Report that values do not add up: warn if another algorithm replaces it, else raise an error."""
        fault = f"{reader.title} misses the model's own output {where}"
        if self.algorithm != "auto":
            raise faithkit.errors.InputError(f"{fault}: its values would be wrong. Use algorithm=auto.")
        self._warn(fault)

    def _warn(self, fault: str, advice: str = "") -> None:
        message = (
            f"{fault}, so {self.sampler_.title} steps in: it calls the model many times, which takes longer."
        )
        if not advice and len(self.sampler_.reference) > FASTER_ROWS:
            advice = f"background=sample:{FASTER_ROWS} is faster: it compares with fewer rows."
        faithkit.errors.warn(f"{message} {advice}".rstrip())


def _format_largest(errors: NDArray[np.float64]) -> str:
    return f"{np.nan_to_num(errors, nan=np.inf).max():.2g}"


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
