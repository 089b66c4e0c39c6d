"""What experiments run in: sizes by profile, random numbers, data, workers and a store."""

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
from faithkit_paper.files import write_whole
from faithkit_paper.findings import Findings

PROFILES = ("tiny", "quick", "full")
MATTERS = (
    "faithkit",
    "faithkit-scoped-rules",
    "faithkit-feature-importance",
    "faithkit-example-based",
    "numpy",
    "scikit-learn",
)
"""The distributions that a number depends on."""

T = TypeVar("T")


def _silent(text: str) -> None:
    """Say nothing."""


@attrs.frozen(eq=False)
class Context:
    """How to run experiments; the same context gives the same numbers.

    Parameters
    ----------
    profile : str
        "quick" (minutes), "full" (larger samples, hours), or "tiny" (seconds: it shows that all runs,
        and its numbers mean little).
    seed : int
        Every random number comes from it.
    n_jobs : int
        Workers that explain.
    store : Path, optional
        A folder that keeps what is finished, so that the same command goes on after an interruption.
    search : bool
        Whether to repeat the paper's search for hyper-parameters.
    load : callable
        Gives a dataset by its name: an object with `X` and `y`.
    tell : callable
        Takes a line about what is being done.
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
    tell: Callable[[str], None] = _silent
    progress: bool = False
    _known: dict[Any, Any] = attrs.field(factory=dict, init=False, repr=False)

    def pick(self, *, tiny: T, quick: T, full: T) -> T:
        """Return the value of this profile."""
        return {"tiny": tiny, "quick": quick, "full": full}[self.profile]

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """Compute something that several experiments share, such as a fitted model, at most once."""
        if key not in self._known:
            self._known[key] = compute()
        found: T = self._known[key]
        return found

    def dataset(self, name: str) -> Any:
        """Return a dataset, loaded once."""
        return self.once(("dataset", name), lambda: self.load(name))

    def seed_of(self, *names: Any) -> int:
        """Return the seed of something with a name: another one for every name, and for every seed."""
        told = json.dumps([self.seed, *names]).encode()
        return int.from_bytes(hashlib.blake2b(told, digest_size=4).digest(), "little") // 2

    def rng(self, *names: Any) -> np.random.Generator:
        """Return the random generator of something with a name."""
        return np.random.default_rng(self.seed_of(*names))

    def sample(self, X: Any, n: int | None, *names: Any) -> Any:
        """Draw n rows without replacement, in random order; all of them where n is None or too large."""
        total = faithkit.plugin.n_rows(X)
        return faithkit.plugin.take_rows(X, self.rng(*names).permutation(total)[: total if n is None else n])

    def evaluate(self, model: Any, X: Any, explainer: Any, **options: Any) -> Any:
        """Call `faithkit.evaluate` with this context's seed, workers and store.

        A row with a category that a thinned background lacks is unexplained, and ends nothing.
        """
        chunks = None if self.store is None else self.store / "chunks"
        given: dict[str, Any] = {
            "seed": self.seed,
            "n_jobs": self.n_jobs,
            "store": chunks,
            "progress": self.progress,
            "on_error": "record",
        }
        return faithkit.evaluate(model, X, explainer=explainer, **{**given, **options})

    def each(
        self,
        experiment: str,
        datasets: Iterable[str],
        measure: Callable[["Context", str], Findings],
    ) -> Findings:
        """Join the findings on some datasets; those that the store has are not measured again."""
        return Findings.joined(self.kept(experiment, name, partial(measure, self, name)) for name in datasets)

    def kept(self, experiment: str, dataset: str, compute: Callable[[], Findings]) -> Findings:
        """Return the findings on a dataset from the store, or compute and store them."""
        what = " on ".join(filter(None, (experiment, dataset)))
        place = (
            None if self.store is None else self.store / "findings" / f"{self._key(experiment, dataset)}.json"
        )
        known = None if place is None else _read(place)
        self.tell(what if known is None else f"{what}: from the store")
        found = compute() if known is None else known
        if place is not None and known is None:
            write_whole(place, json.dumps(found.to_dict()))
        return found

    def _key(self, experiment: str, dataset: str) -> str:
        """Name everything that findings depend on: edited code, other data, another version ask anew."""
        import joblib

        data = self.dataset(dataset) if dataset else None
        content = None if data is None else joblib.hash((data.X, data.y))
        facts = [experiment, dataset, self.profile, self.seed, self.search, content, _source(), _versions()]
        return hashlib.blake2b(json.dumps(facts).encode(), digest_size=16).hexdigest()


def _read(place: Path) -> Findings | None:
    """Return what was kept; None where there is nothing, or nothing whole."""
    try:
        return Findings.from_dict(json.loads(place.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _source() -> str:
    """Digest this package's own files."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.blake2b(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def _versions() -> Sequence[str]:
    return [f"{name} {_version(name)}" for name in MATTERS]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
