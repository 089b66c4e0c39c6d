"""The datasets that come with the installation, so that a first run needs neither file nor network."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd

from faithkit.inputs.loans import loans as make_loans


@attrs.frozen
class Embedded:
    """A dataset that needs neither file nor network."""

    load: Callable[[], tuple[Any, np.ndarray]]

    def place(self) -> str:
        """Return where its rows are."""
        return "embedded"


def breast_cancer() -> Embedded:
    """Return tumours of the breast by what their cell nuclei look like (Wisconsin, 1995)."""
    return _of_scikit_learn("load_breast_cancer")


def digits() -> Embedded:
    """Return handwritten digits as 8 by 8 pixels of 17 shades (a part of UCI's digits, 1998)."""
    return _of_scikit_learn("load_digits")


def iris() -> Embedded:
    """Return Fisher's irises (1936): the length and the width of sepals and petals, and the species."""
    return _of_scikit_learn("load_iris")


def loans() -> Embedded:
    """Return made-up applications for a loan, which were granted by a known rule.

    "Yes" where there are no arrears and either the debt is at most 0.35 of the income, or the applicant owns
    a home and earns more than 40,000. Nothing else matters.
    """
    return Embedded(make_loans)


def wine() -> Embedded:
    """Return wines of one region in Italy by their chemistry (1991), and which of three growers made each."""
    return _of_scikit_learn("load_wine")


def _of_scikit_learn(name: str) -> Embedded:
    def load() -> tuple[Any, np.ndarray]:
        from sklearn import datasets

        bunch = getattr(datasets, name)()
        X = pd.DataFrame(bunch.data, columns=[str(column) for column in bunch.feature_names])
        labels = np.array([str(label) for label in bunch.target_names], dtype=object)
        return X, labels[bunch.target]

    return Embedded(load)
