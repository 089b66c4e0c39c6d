"""Ask relations as the kernel does: matrices of Booleans from `holds` or `packed`, and random controls."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from faithkit import Explanations
from faithkit.errors import ContractError
from faithkit.plugin import Relation, Sample, pack_bits

Matrix = NDArray[np.bool_]


def evaluate_relation(relation: Relation, sample: Sample, explanations: Explanations) -> Matrix:
    """Return the answer of a relation (explanations, instances) as the kernel counts it.

    A missing explanation holds for no row; a relation that groups, for no row without an explanation.

    Examples
    --------
    >>> import faithkit
    >>> words = Explanations.of(["good", "bad", "good", None])
    >>> evaluate_relation(faithkit.relation("same-explanation"), Sample(None, words), words).astype(int)
    array([[1, 0, 1, 0],
           [0, 1, 0, 0],
           [1, 0, 1, 0],
           [0, 0, 0, 0]])
    """
    m, n = len(explanations), len(sample)
    if relation.packed is None:
        matrix = check_matrix(relation.holds(sample, explanations), m, n)
    else:
        matrix = unpack(relation.packed(sample, explanations), m, n)
    matrix = matrix & ~explanations.missing[:, None]
    return matrix & ~sample.explanations.missing if relation.groups else matrix


def check_matrix(matrix: Any, m: int, n: int) -> Matrix:
    """Return what `holds` gave for m explanations and n instances; raise an error if it is no such matrix.

    >>> check_matrix(np.ones((2, 3)), 2, 3)
    Traceback (most recent call last):
    faithkit.errors.ContractError: holds returned float64 (2, 3); expected bool (2, 3)
    """
    if isinstance(matrix, np.ndarray) and matrix.dtype == bool and matrix.shape == (m, n):
        return matrix
    raise ContractError(f"holds returned {_describe(matrix)}; expected bool {(m, n)}")


def unpack(bits: Any, m: int, n: int) -> Matrix:
    """Return what `packed` gave for m explanations and n instances, as Booleans; its padding must be zeros.

    >>> unpack(pack_bits(np.array([[True, False, True]])), 1, 3)
    array([[ True, False,  True]])
    """
    shape = (m, -(-n // 64))
    if not isinstance(bits, np.ndarray) or bits.dtype != np.uint64 or bits.shape != shape:
        raise ContractError(f"packed returned {_describe(bits)}; expected uint64 {shape}")
    matrix: Matrix = np.unpackbits(np.ascontiguousarray(bits).view(np.uint8), axis=1, count=n).view(np.bool_)
    if not np.array_equal(pack_bits(matrix), bits):
        raise ContractError(f"packed has ones behind bit {n}; expected zeros")
    return matrix


def _describe(value: Any) -> str:
    return f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__


def draw_control(relation: Relation, sample: Sample, seeds: NDArray[Any]) -> Explanations | None:
    """Return one control explanation for each row of a sample; None if the relation offers none for them.

    Raises
    ------
    ContractError
        If the control is of another kind or number, or is not missing where the explanation is.
    """
    assert relation.control is not None
    explanations = sample.explanations
    control = relation.control(sample, explanations, seeds)
    if control is None:
        return None
    is_same_form = (
        isinstance(control, Explanations)
        and control.kind == explanations.kind
        and len(control) == len(explanations)
        and control.missing[explanations.missing].all()
    )
    if not is_same_form:
        raise ContractError(
            f"control returned {control!r:.80}; expected {len(explanations)} explanations of kind "
            f"{explanations.kind!r}, missing where the originals are"
        )
    return control
