"""Noise in the last bits of scores and matrix products, as another machine, thread or batch size makes it.

BLAS adds in another order on another processor, so the last bits of a float are nobody's promise. With
``--last-bits=N`` every answer of a model and every matrix product is off by a few units in the last place: the
same question always alike, as on one machine, but otherwise for one row than for many, and otherwise for every N,
as on another. A test that then fails would fail on somebody's machine.
"""

import functools
import sys
import zlib

import numpy as np

UNITS = 2  # in the last place, up or down


def pytest_addoption(parser):
    parser.addoption(
        "--last-bits", type=int, metavar="N", help="put noise into the last bits, as machine N has it"
    )


def pytest_configure(config):
    """Put noise into scores and products for the whole run, where the command line asks for it."""
    machine = config.getoption("--last-bits")
    if machine is not None:
        from faithkit import Predictor

        for place, name, function in (*_products(), (Predictor, "scores", Predictor.scores)):
            setattr(place, name, _add_noise(function, machine))


def _products():
    """Yield every place where a function that multiplies matrices is known by name."""
    from sklearn.utils.extmath import safe_sparse_dot

    yield from ((np, name, getattr(np, name)) for name in ("dot", "matmul", "einsum", "inner", "vdot"))
    yield from ((np.linalg, name, getattr(np.linalg, name)) for name in ("solve", "inv"))
    for module in list(sys.modules.values()):
        if vars(module).get("safe_sparse_dot") is safe_sparse_dot:
            yield module, "safe_sparse_dot", safe_sparse_dot


def _add_noise(function, machine):
    @functools.wraps(function)
    def answer_with_noise(*arguments, **options):
        result = function(*arguments, **options)
        if "out" in options or not isinstance(result, np.ndarray | np.floating) or result.dtype.kind != "f":
            return result
        rng = np.random.default_rng([machine, zlib.crc32(np.asarray(result).tobytes()), *np.shape(result)])
        units = rng.integers(-UNITS, UNITS + 1, np.shape(result))
        real = np.isfinite(result) & (result != 0)  # what adds up to nothing does so everywhere
        with np.errstate(invalid="ignore"):  # the spacing of infinity
            off = result + np.where(real, units * np.spacing(np.abs(result)), 0.0)
        return off.astype(result.dtype)

    return answer_with_noise
