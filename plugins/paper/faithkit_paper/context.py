"""The context of experiments: sizes by profile, random numbers, data, workers and a store."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np

import faithkit
from faithkit_paper.files import write_atomically
from faithkit_paper.findings import Findings

PROFILES = ("tiny", "quick", "full")
DISTRIBUTIONS = (
    "faithkit",
    "faithkit-scoped-rules",
    "faithkit-feature-importance",
    "faithkit-example-based",
    "numpy",
    "scikit-learn",
)
"""The distributions that results depend on: another version makes stored findings invalid."""

T = TypeVar("T")


def _ignore(text: str) -> None:
    """Log nothing."""


@attrs.frozen(eq=False)
class Context:
    """Settings for experiments. The same context gives the same numbers.

    Parameters
    ----------
    profile : str
        "quick" (minutes), "full" (larger samples, hours), or "tiny" (seconds: a smoke test, whose numbers
        mean little).
    seed : int
        The seed of all random numbers.
    n_jobs : int
        The number of workers that explain.
    store : Path, optional
        A folder for finished findings, so that the same command continues after an interruption.
    search : bool
        Whether to repeat the paper's search for hyper-parameters.
    load : callable
        Returns a dataset by its name: an object with `X` and `y`.
    log : callable
        Receives a line about each step.
    progress : bool
        Whether to show a bar while rows are explained.

    Examples
    --------
    >>> context = Context("quick")
    >>> context.pick(tiny=10, quick=100, full=1000)
    100
    >>> context.rng("sample", 0).integers(100) == context.rng("sample", 0).integers(100)
    np.True_
    """

    profile: str = "quick"
    seed: int = 0
    n_jobs: int = 1
    store: Path | None = None
    search: bool = False
    load: Callable[[str], Any] = faithkit.load_dataset
    log: Callable[[str], None] = _ignore
    progress: bool = False
    _cache: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    def pick(self, *, tiny: T, quick: T, full: T) -> T:
        """Return the value of this profile."""
        return {"tiny": tiny, "quick": quick, "full": full}[self.profile]

    def compute_once(self, key: Any, compute: Callable[[], T]) -> T:
        """Return a cached value that experiments share, such as a fitted model, or compute it."""
        if key not in self._cache:
            self._cache[key] = compute()
        value: T = self._cache[key]
        return value

    def dataset(self, name: str) -> Any:
        """Return a dataset. Each is loaded once."""
        return self.compute_once(("dataset", name), lambda: self.load(name))

    def seed_of(self, *names: Any) -> int:
        """Derive a seed from names and from the seed of the context."""
        content = json.dumps([self.seed, *names]).encode()
        return int.from_bytes(hashlib.blake2b(content, digest_size=4).digest(), "little") // 2

    def rng(self, *names: Any) -> np.random.Generator:
        """Return a random generator with the seed of these names."""
        return np.random.default_rng(self.seed_of(*names))

    def sample(self, X: Any, n: int | None, *names: Any) -> Any:
        """Draw n rows without replacement, in random order; all rows if n is None or too large."""
        total = faithkit.plugin.n_rows(X)
        return faithkit.plugin.take_rows(X, self.rng(*names).permutation(total)[: total if n is None else n])

    def evaluate(self, model: Any, X: Any, explainer: Any, **options: Any) -> Any:
        """Call `faithkit.evaluate` with this context's seed, workers and store.

        A row with a category that the sampled background lacks stays unexplained. It does not stop the run.
        """
        chunks = None if self.store is None else self.store / "chunks"
        defaults: dict[str, Any] = {
            "seed": self.seed,
            "n_jobs": self.n_jobs,
            "store": chunks,
            "progress": self.progress,
            "on_error": "record",
        }
        return faithkit.evaluate(model, X, explainer=explainer, **{**defaults, **options})

    def measure_each(
        self,
        experiment: str,
        datasets: Iterable[str],
        measure: Callable[["Context", str], Findings],
    ) -> Findings:
        """Measure datasets and join their findings. Findings in the store are not measured again."""
        return Findings.concatenate(
            self.load_or_compute(experiment, name, partial(measure, self, name)) for name in datasets
        )

    def load_or_compute(self, experiment: str, dataset: str, compute: Callable[[], Findings]) -> Findings:
        """Return the findings on a dataset from the store, or compute and store them."""
        description = " on ".join(filter(None, (experiment, dataset)))
        path = (
            None if self.store is None else self.store / "findings" / f"{self._key(experiment, dataset)}.json"
        )
        stored = None if path is None else _read(path)
        self.log(description if stored is None else f"{description}: from the store")
        findings = compute() if stored is None else stored
        if path is not None and stored is None:
            write_atomically(path, json.dumps(findings.to_dict()))
        return findings

    def _key(self, experiment: str, dataset: str) -> str:
        """Return a digest of all that findings depend on, such as settings, data, code and versions."""
        import joblib

        data = self.dataset(dataset) if dataset else None
        content = None if data is None else joblib.hash((data.X, data.y))
        dependencies = [
            experiment,
            dataset,
            self.profile,
            self.seed,
            self.search,
            content,
            _source(),
            _versions(),
        ]
        return hashlib.blake2b(json.dumps(dependencies).encode(), digest_size=16).hexdigest()


def _read(path: Path) -> Findings | None:
    """Load findings from the store; return None if the file is missing or damaged."""
    try:
        return Findings.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _source() -> str:
    """Return a digest of the source files of this package."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.blake2b(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _versions() -> Sequence[str]:
    return [f"{name} {_version(name)}" for name in DISTRIBUTIONS]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
