"""Explainers that say nothing about the model: `parrot`, `label-codes`, `same-for-all` and `flatterer`."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

import faithkit
from faithkit_attacks.explainers.named_columns import (
    check_no_sparse,
    column_labels,
    column_values,
    equality_predicate,
)

FLATTERER = "flatterer"


class _TrivialExplainer:
    """An explainer that needs the model only for its predictions, and to check the width of rows."""

    learns = False
    outcomes: tuple[str, ...] = ("labels", "numbers")
    rows_per_chunk = 4096

    def fit(self, predictor: faithkit.Predictor, background: Any) -> Self:
        """Store the model, which checks the width of rows."""
        self.predictor_ = predictor
        self._check_width(background)
        return self

    def _check_width(self, X: Any) -> None:
        """Raise the model's error for rows of another width."""
        if faithkit.plugin.n_rows(X):
            self.predictor_.predict(faithkit.plugin.take_rows(X, slice(0, 1)))


class Parrot(_TrivialExplainer):
    """The prediction as its own explanation: "refused, because the answer is no".

    It always agrees with the model, so consistency is 1 and no reader is ever wrong. There are as many
    explanations as labels. This exposes it, and results say so in a sentence.

    Notes
    -----
    An explanation that only repeats the prediction is the trivial case of label leakage: Hase,
    Zhang, Xie, Bansal: Leakage-adjusted simulatability (Findings of EMNLP 2020).

    Examples
    --------
    >>> model = faithkit.Predictor(lambda X: np.where(X[:, 0] > 0, "yes", "no"))
    >>> X = np.array([[1.0], [-1.0]])
    >>> Parrot().fit(model, X).explain(X, seeds=None).values.tolist()
    ['because the answer is yes', 'because the answer is no']
    """

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the predictions in words."""
        predictions = np.asarray(self.predictor_.predict(X)).tolist() if faithkit.plugin.n_rows(X) else []
        return faithkit.Explanations.of([f"because the answer is {prediction}" for prediction in predictions])


class LabelCodes(_TrivialExplainer):
    """A code of the prediction: "refused, for reason 7", where all odd reasons are those of refusals.

    Each label has several codes, one of which is drawn by the seed of the row, so that there are more
    explanations than predictions, and no explanation contains its prediction. A reader who knows the codes
    guesses every prediction, and learns nothing else.

    Parameters
    ----------
    codes : int
        The number of codes of each label.

    Notes
    -----
    Explanations that reveal the label and nothing about the input: Hase, Zhang, Xie, Bansal:
    Leakage-adjusted simulatability (Findings of EMNLP 2020).

    Examples
    --------
    >>> model = faithkit.Predictor(lambda X: np.where(X[:, 0] > 0, "yes", "no"))
    >>> X = np.array([[1.0], [-1.0], [2.0]])
    >>> LabelCodes().fit(model, X).explain(X, seeds=[0, 1, 2]).values.tolist()
    ['reason 8', 'reason 3', 'reason 4']
    """

    outcomes = ("labels",)

    def __init__(self, codes: int = 5) -> None:
        self.codes = faithkit.plugin.check_integer(
            codes, "label-codes: codes", minimum=1, error=faithkit.errors.ParameterError
        )

    def fit(self, predictor: faithkit.Predictor, background: Any) -> Self:
        """Give each label that the background gets its codes."""
        self.predictor_ = predictor
        self.labels_ = sorted(set(predictor.predict(background).tolist()), key=str)
        return self

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return one of the codes of each prediction; a label that the background does not get has none."""
        predictions = np.asarray(self.predictor_.predict(X)).tolist() if faithkit.plugin.n_rows(X) else []
        place = {label: i for i, label in enumerate(self.labels_)}
        draws = faithkit.plugin.row_uniforms(np.asarray(seeds, dtype=np.uint32), 1)[:, 0].tolist()
        return faithkit.Explanations.of(
            [
                f"reason {1 + place[label] + len(place) * int(draw * self.codes)}" if label in place else None
                for label, draw in zip(predictions, draws, strict=True)
            ]
        )


class SameForAll(_TrivialExplainer):
    """The same explanation for all rows: the rule that always applies.

    All rows share it, so everything can be checked, and the estimates equal the baseline (chance).

    Notes
    -----
    The constant explainer defines the baseline of the paper's measures: Dasgupta, Frost,
    Moshkovitz: Framework for evaluating faithfulness of local explanations (ICML 2022).

    Examples
    --------
    >>> model = faithkit.Predictor(lambda X: [row[0] > 0 for row in X])
    >>> print(SameForAll().fit(model, [[1.0]]).explain([[1.0]], seeds=None).values[0])
    always
    """

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return the empty rule for each row."""
        self._check_width(X)
        rules = [faithkit.Rule()] * faithkit.plugin.n_rows(X)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")


class Flatterer(_TrivialExplainer):
    """A rule that repeats all values of the row, or all words of the text: always true and useless.

    Such a rule is perfectly sufficient, because it covers only its own row. It cannot be checked against
    other rows, and results say so.

    Parameters
    ----------
    leave_out : list of str or int, optional
        Columns that rules do not name, such as a time stamp. Rules then hold for repeats of a row as well.

    Notes
    -----
    Explanations that hold at a single point cannot be audited: Bhattacharjee, von Luxburg: Auditing
    local explanations is hard (NeurIPS 2024).

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [31, 45], "sex": ["man", "woman"]})
    >>> model = faithkit.Predictor(lambda X: (X["age"] > 40).to_numpy())
    >>> print(Flatterer().fit(model, X).explain(X, seeds=None).values[0])
    age = 31 and sex = man
    """

    def __init__(self, leave_out: Sequence[str | int] = ()) -> None:
        if isinstance(leave_out, str):
            raise faithkit.errors.ParameterError(
                f"{FLATTERER}: leave_out must be a list of names or positions, such as ['time'], got "
                f"{leave_out!r}."
            )
        self.leave_out = list(leave_out)

    def fit(self, predictor: faithkit.Predictor, background: Any) -> Self:
        """Store the model, which checks the width of rows."""
        check_no_sparse(FLATTERER, background)
        return super().fit(predictor, background)

    def explain(self, X: Any, seeds: Any) -> faithkit.Explanations:
        """Return for each row the rule that repeats it."""
        check_no_sparse(FLATTERER, X)
        self._check_width(X)
        rules = [_text_rule(text) for text in X] if isinstance(X, list) else self._row_rules(X)
        return faithkit.Explanations.of(rules, kind="rule", instances=X, relation="in-scope")

    def _row_rules(self, X: Any) -> list[faithkit.Rule]:
        columns = [
            [equality_predicate(label, value) for value in column_values(X, label)]
            for label in column_labels(X)
            if label not in self.leave_out
        ]
        return [faithkit.Rule(predicates) for predicates in zip(*columns, strict=True)]


def _text_rule(text: str) -> faithkit.Rule:
    return faithkit.Rule([faithkit.plugin.Contains(word) for word in faithkit.plugin.tokenize(text)])
