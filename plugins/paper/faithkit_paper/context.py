"""The context of experiments: sizes by profile, random numbers, data, workers, a store, and files."""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np

import faithkit
from faithkit_paper.findings import Findings

PROFILES = ("tiny", "quick", "full")
DISTRIBUTIONS = (
    "faithkit",
    "faithkit-scoped-rules",
    "faithkit-feature-importance",
    "faithkit-example-based",
    "numpy",
    "scikit-learn",
    "xgboost",
)
"""The distributions that results depend on: another version makes stored findings invalid."""
T = TypeVar("T")


def make_folder(folder: Path) -> Path:
    """Create a folder, and check that it is writable before hours of work begin."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        raise faithkit.errors.InputError(
            f"cannot write to {folder}: {error.strerror}. Name a folder that you can write to."
        ) from None


def write_atomically(path: Path, content: str) -> None:
    """Write to a temporary file and rename it, so that readers never see half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(content, encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise faithkit.errors.InputError(f"cannot write {path}: {error.strerror}.") from None


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
        A folder for models, explanations and finished findings, so that the same command continues after an
        interruption.
    datasets : tuple of str
        The datasets to measure; by default all of an experiment.
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
    datasets: tuple[str, ...] = ()
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
        defaults: dict[str, Any] = {
            "seed": self.seed,
            "executor": self._executor(),
            "progress": self.progress,
            "on_error": "record",
        }
        return faithkit.evaluate(model, X, explainer=explainer, **{**defaults, **options})

    def _executor(self) -> Any:
        """Return what explains rows: the workers, inside the store if there is one."""
        from faithkit_executors.processes import Processes
        from faithkit_executors.store import Stored

        workers = Processes(self.n_jobs)
        return workers if self.store is None else Stored(self.store / "chunks", inside=workers)

    def measure_each(
        self,
        experiment: str,
        datasets: Iterable[str],
        measure: Callable[["Context", str], Findings],
    ) -> Findings:
        """Measure datasets and join their findings. Findings in the store are not measured again."""
        names = list(datasets)
        dataset_names = [name for name in names if not self.datasets or name in self.datasets]
        if not dataset_names:
            raise faithkit.errors.InputError(
                f"{experiment} does not use {', '.join(self.datasets)}. It uses {', '.join(names)}."
            )
        return Findings.concatenate(
            self.load_or_compute(experiment, name, partial(measure, self, name)) for name in dataset_names
        )

    def load_or_compute(self, experiment: str, dataset: str, compute: Callable[[], Findings]) -> Findings:
        """Return the findings on a dataset from the store, or compute and store them."""
        description = " on ".join(filter(None, (experiment, dataset)))
        if self.store is None:
            self.log(description)
            return compute()
        key = self._key(experiment, dataset)
        path = self.store / "findings" / f"{key}.json"
        stored = _read(path)
        if stored is not None:
            self.log(f"{description}: from the store")
            return stored
        self.log(description)
        timer = CpuTimer(self.store / "cpu" / key)
        with timer:
            findings = compute()
        findings = attrs.evolve(findings, cpu_seconds=timer.total())
        write_atomically(path, json.dumps(findings.to_dict()))
        return findings

    def load_or_fit(self, name: str, dataset: str, module: str, fit: Callable[[], T]) -> T:
        """Return a fitted model from the store, or fit and store it.

        The result is always what the store reads back, because chunks of explanations are stored under the
        pickle of their model, and fitting and loading leave different pickles.

        Parameters
        ----------
        name, dataset : str
        module : str
            The file that fits the model. Edits of other files keep the stored model.
        fit : callable
        """
        import joblib

        if self.store is None:
            return fit()
        path = self.store / "models" / f"{self._key(name, dataset, Path(module))}.joblib"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_suffix(f".{os.getpid()}")
            joblib.dump(fit(), temporary)
            os.replace(temporary, path)
        model: T = joblib.load(path)
        return model

    def _key(self, name: str, dataset: str, *modules: Path) -> str:
        """Return a digest of settings, data, versions and code: of these modules, by default of all."""
        import joblib

        data = self.dataset(dataset) if dataset else None
        content = None if data is None else joblib.hash((data.X, data.y))
        files = modules or sorted(Path(__file__).parent.rglob("*.py"))
        source = hashlib.blake2b(b"\0".join(file.read_bytes() for file in files)).hexdigest()
        dependencies = [name, dataset, self.profile, self.seed, self.search, content, source, _versions()]
        return hashlib.blake2b(json.dumps(dependencies).encode(), digest_size=16).hexdigest()


def end_workers_and_read_cpu_time() -> float:
    """Return the seconds that this process and its workers used; theirs are known only when they end."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True)
    return sum(os.times()[:4])


@attrs.define
class CpuTimer:
    """Add the CPU time of a block to a file, also if the block is interrupted."""

    path: Path
    started: float = 0.0

    def __enter__(self) -> None:
        self.started = end_workers_and_read_cpu_time()

    def __exit__(self, *error: object) -> None:
        write_atomically(self.path, str(self.total() + end_workers_and_read_cpu_time() - self.started))

    def total(self) -> float:
        """Return the seconds of all blocks."""
        try:
            return float(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return 0.0


def _read(path: Path) -> Findings | None:
    """Load findings from the store; return None if the file is missing or damaged."""
    try:
        return Findings.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _versions() -> Sequence[str]:
    return [f"{name} {_version(name)}" for name in DISTRIBUTIONS]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
