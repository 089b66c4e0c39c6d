"""The lime package itself, called row by row: `engine=library` of `lime` and `lime-text`."""

import functools
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]
ENGINES = ("faithkit", "library")


@attrs.frozen(eq=False)
class LimePackage:
    """The tabular explainer of the lime package, and the model that it calls.

    Parameters
    ----------
    explainer : lime.lime_tabular.LimeTabularExplainer
    predictor : Predictor
    encoder : Encoder
        lime perturbs codes; the model receives the decoded rows.
    samples : int
    n_outputs : int
        The number of classes, or of numbers that a regressor predicts.
    """

    explainer: Any
    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder
    samples: int
    n_outputs: int

    @classmethod
    def fit(
        cls,
        predictor: faithkit.Predictor,
        encoder: faithkit.plugin.Encoder,
        codes: Floats,
        samples: int,
        n_outputs: int,
        **parameters: Any,
    ) -> "LimePackage":
        """Create the explainer of lime, with its own `parameters`."""
        from lime.lime_tabular import LimeTabularExplainer

        reject_missing(encoder.names, codes, " of the background")
        if predictor.is_regressor and n_outputs > 1:
            raise faithkit.errors.InputError(
                f"lime: engine=library explains one number, and the model predicts {n_outputs}: "
                "use engine=faithkit."
            )
        mode = "regression" if predictor.is_regressor else "classification"
        explainer = LimeTabularExplainer(codes, mode=mode, feature_selection="none", **parameters)
        return cls(explainer, predictor, encoder, samples, n_outputs)

    def weights(self, codes: Floats, seeds: Any) -> tuple[Floats, Floats]:
        """Return coefficients (rows, columns, outputs) and intercepts (rows, outputs)."""
        reject_missing(self.encoder.names, codes)
        values = np.empty((*codes.shape, self.n_outputs))
        offsets = np.empty((len(codes), self.n_outputs))
        # lime stores a regressor's weights under label 1
        labels = [1] if self.predictor.is_regressor else range(self.n_outputs)
        for i, row in enumerate(codes):
            _set_seed(int(seeds[i]), self.explainer, self.explainer.base, self.explainer.discretizer)
            explanation = self.explainer.explain_instance(
                row, self._scores, labels, num_features=len(row), num_samples=self.samples
            )
            for k, label in enumerate(labels):
                columns, coefficients = zip(*explanation.local_exp[label], strict=True)
                values[i, list(columns), k], offsets[i, k] = coefficients, explanation.intercept[label]
            faithkit.plugin.report_progress()
        return values, offsets

    def _scores(self, codes: Floats) -> Floats:
        return self.predictor.scores(self.encoder.decode(codes))


@attrs.frozen(eq=False)
class LimeTextPackage:
    """The text explainer of the lime package, and the model that it calls.

    Parameters
    ----------
    explainer : lime.lime_text.LimeTextExplainer
    predictor : Predictor
    samples : int
    """

    explainer: Any
    predictor: faithkit.Predictor
    samples: int

    @classmethod
    def create(
        cls, predictor: faithkit.Predictor, samples: int, kernel_width: float, tokenizer: str
    ) -> "LimeTextPackage":
        """Create the explainer of lime for the words of a tokenizer."""
        from lime.lime_text import LimeTextExplainer

        explainer = LimeTextExplainer(
            kernel_width=kernel_width,
            feature_selection="none",
            split_expression=functools.partial(faithkit.plugin.tokenize, tokenizer=tokenizer),
        )
        return cls(explainer, predictor, samples)

    def weights(self, text: str, shape: tuple[int, int], seed: int) -> tuple[Floats, Floats]:
        """Return the coefficients of a text, of shape (words, outputs), and the scores of its variants."""
        n_words, n_outputs = shape
        scores: list[Floats] = []

        def score(variants: list[str]) -> Floats:
            scores.append(self.predictor.scores(variants))
            return scores[-1]

        _set_seed(seed, self.explainer, self.explainer.base)
        explanation = self.explainer.explain_instance(
            text, score, range(n_outputs), num_features=n_words, num_samples=self.samples
        )
        weights = np.empty(shape)
        for k in range(n_outputs):
            words, coefficients = zip(*explanation.local_exp[k], strict=True)
            weights[list(words), k] = coefficients
        return weights, scores[0]


def check_engine(name: str, engine: str) -> str:
    """Return the engine of the explainer `name`, if there is one of that name."""
    if engine not in ENGINES:
        raise faithkit.errors.ParameterError(
            f"{name}: engine must be one of {', '.join(ENGINES)}, got {engine!r}."
        )
    return engine


def _set_seed(seed: int, *holders: Any) -> None:
    """Seed the random generator of lime, which it keeps in several places."""
    generator = np.random.RandomState(seed % 2**32)
    for holder in holders:
        if holder is not None:
            holder.random_state = generator


def reject_missing(names: list[str], codes: Floats, where: str = "") -> None:
    """Reject missing numbers: lime would compute with NaN."""
    if np.isnan(codes).any():
        row, column = np.argwhere(np.isnan(codes))[0].tolist()
        raise faithkit.errors.InputError(
            f"lime: engine=library takes no missing numbers, and column {names[column]!r} of row "
            f"{row}{where} has one: use engine=faithkit, or impute it."
        )
