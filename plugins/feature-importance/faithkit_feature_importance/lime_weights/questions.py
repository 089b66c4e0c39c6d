"""The model as LIME asks it: about the perturbations of many rows in one call."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Questions:
    """Questions about encoded rows, put to the model in the form in which it was trained.

    Some models' answer about a row depends on the rows beside it in the last bits. No explanation does: the
    kernel rounds vectors far above them.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0], [1.0]])
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "yes"])
    >>> values = np.array([[[0.0, 1.0], [1.0, 1.0]]])  # one column of two rows, two perturbations each
    >>> questions = Questions(faithkit.Predictor(tree), faithkit.plugin.Encoder(X))
    >>> questions.scores(values, X)[0]  # of "no", and of "yes", for the first row's perturbations
    array([[1., 0.],
           [0., 1.]])
    """

    predictor: faithkit.Predictor
    encoder: faithkit.plugin.Encoder

    def scores(self, values: Floats, X: Any) -> Floats:
        """Return the scores of perturbations, (rows, classes, samples).

        Parameters
        ----------
        values : (columns, rows, samples)
            Their codes. The first perturbation of each row is the row itself.
        X : the rows
            A category that the encoder does not know has no code to ask about: then the row itself is asked.
        """
        unseen = self._unseen(values[:, :, 0])
        if not unseen.any():
            return self._ask(values)
        known = values.copy()
        known[:, unseen, 0] = known[:, unseen, 1]
        scores = self._ask(known)
        scores[unseen, :, 0] = self.predictor.scores(faithkit.plugin.take_rows(X, unseen))
        return scores

    def _unseen(self, codes: Floats) -> NDArray[np.bool_]:
        found = np.zeros(codes.shape[1], dtype=bool)
        for j, known in self.encoder.categories.items():
            found |= codes[j] > len(known)
        return found

    def _ask(self, values: Floats) -> Floats:
        columns, rows, samples = values.shape
        X = self.encoder.decode(values.reshape(columns, -1).T)
        return self.predictor.scores(X).reshape(rows, samples, -1).transpose(0, 2, 1)
