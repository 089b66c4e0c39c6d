"""The model as LIME asks it: about perturbations of many rows at once, where that changes no answer."""

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

import faithkit

Floats = NDArray[np.float64]


@attrs.frozen(eq=False)
class Questions:
    """Questions about encoded rows, put to the model in the form in which it was trained.

    Some models' answer about a row depends on the rows beside it in the last bit: products of matrices are
    rounded as their shape has it. An explanation must not depend on other rows, so these models are asked
    about the perturbations of one row at a time. Others answer faster about many.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0], [1.0]])
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "yes"])
    >>> values = np.array([[[0.0, 1.0], [1.0, 1.0]]])  # one column of two rows, two perturbations each
    >>> questions = Questions.tried(faithkit.Predictor(tree), faithkit.Encoder(X), values)
    >>> questions.together
    True
    >>> questions.scores(values, X)[0]  # of "no", and of "yes", for the first row's perturbations
    array([[1., 0.],
           [0., 1.]])
    """

    predictor: faithkit.Predictor
    encoder: faithkit.Encoder
    together: bool

    @classmethod
    def tried(cls, predictor: faithkit.Predictor, encoder: faithkit.Encoder, values: Floats) -> "Questions":
        """Try out whether the model answers about these rows together as it does one by one."""
        one_by_one, together = cls(predictor, encoder, False), cls(predictor, encoder, True)
        is_same = np.array_equal(one_by_one._ask(values), together._ask(values))
        return together if is_same else one_by_one

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
        for row in np.flatnonzero(unseen):
            scores[row, :, 0] = self.predictor.scores(faithkit.take_rows(X, [row]))[0]
        return scores

    def _unseen(self, codes: Floats) -> NDArray[np.bool_]:
        found = np.zeros(codes.shape[1], dtype=bool)
        for j, known in self.encoder.categories.items():
            found |= codes[j] > len(known)
        return found

    def _ask(self, values: Floats) -> Floats:
        columns, rows, samples = values.shape
        if not self.together and rows > 1:
            return np.concatenate([self._ask(values[:, [row]]) for row in range(rows)])
        X = self.encoder.decode(values.reshape(columns, -1).T)
        return self.predictor.scores(X).reshape(rows, samples, -1).transpose(0, 2, 1)
