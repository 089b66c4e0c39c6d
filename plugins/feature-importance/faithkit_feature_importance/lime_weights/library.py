"""The lime package itself, called row by row: `lime:engine=library`."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]


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
            self._set_seed(int(seeds[i]))
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

    def _set_seed(self, seed: int) -> None:
        """Seed the random generator of lime, which its explainer keeps in three places."""
        generator = np.random.RandomState(seed % 2**32)
        for holder in (self.explainer, self.explainer.base, self.explainer.discretizer):
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
