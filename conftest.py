"""Settings for all tests: Hypothesis without time limits, reproducible everywhere."""

import gc
import os
import sys
import tempfile
from itertools import takewhile

if "PYTEST_XDIST_WORKER" in os.environ:
    # workers share the cores: threads of theirs would wait for each other
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")

# to compile what shap calls a few times takes longer than all the calls, but not at the paper's full size
if "FAITHKIT_PAPER_STORE" not in os.environ:
    os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

import pytest
from hypothesis import Phase, settings
from hypothesis.internal.conjecture import providers

pytest_plugins = ["last_bits", "doctests"]

# hundreds of processes import what is tested: compiled once, not by each of them
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Hypothesis also tries constants that stand in imported modules. To read hundreds of files takes a second or two, and the
# examples of a test would depend on which other tests are collected.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = providers.Constants

settings.register_profile("faithkit", max_examples=20, deadline=None, derandomize=True, print_blob=True)
settings.register_profile("ci", settings.get_profile("faithkit"), max_examples=80)
# python tests/mutants asks whether a test fails, and not for its smallest example
settings.register_profile(
    "mutants", settings.get_profile("faithkit"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("ci" if os.environ.get("FAITHKIT_FUZZ") == "1" else "faithkit")

if "PYTEST_XDIST_WORKER" not in os.environ:  # its workers inherit it
    # Matplotlib keeps its list of fonts where it was: to make it anew takes a second, for every process
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    os.environ.setdefault("MPLCONFIGDIR", os.path.join(cache, "matplotlib"))
    # no test reads or writes what is known of plugins on this machine
    _CACHE = tempfile.TemporaryDirectory(prefix="faithkit-tests-")
    os.environ["XDG_CACHE_HOME"] = _CACHE.name


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Never look through what collecting makes for garbage: a million things that stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    simulations = {}
    for item in items:
        if item.get_closest_marker("simulation"):
            simulations.setdefault(item.nodeid.partition("[")[0], item)
    for first_case in simulations.values():
        first_case.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _modules_of_a_test_are_its_own(tmp_path_factory):
    """Forget what a test imported from its own folder: the next one may well call a module the same."""
    last = next(reversed(sys.modules))
    yield
    folder = str(tmp_path_factory.getbasetemp())
    for name in list(takewhile(lambda name: name != last, reversed(sys.modules))):
        if str(getattr(sys.modules[name], "__file__", None)).startswith(folder):
            del sys.modules[name]


@pytest.fixture
def no_next_steps(monkeypatch):
    """Give no advice: to try what else is installed takes longer than most of what is tested beside it."""
    monkeypatch.setattr(
        "faithkit.run.result.suggest_next_steps", lambda result, measure: ["advice is tested elsewhere"]
    )


@pytest.fixture
def few_control_draws(monkeypatch):
    """Draw the control of sufficiency twice where nobody says how often: ten draws take longer than all else."""
    monkeypatch.setattr("faithkit.run.comparisons.controls.MIN_DRAWS", 2)


@pytest.fixture
def first_pairs(monkeypatch):
    """Show the first rows that contradict each other, as a log in pieces does, and not the nearest.

    Of each explanation and prediction, show the first row alone.
    """
    monkeypatch.setattr("faithkit.run.instances.contradictions.MAX_CANDIDATES", 1)
    monkeypatch.setattr("faithkit.run.instances.explanation_table.MAX_ROWS", 1)


@pytest.fixture
def few_trees(monkeypatch):
    """Let default models have five trees: to grow a hundred shows nothing else."""
    from faithkit.inputs.models import default_models

    def with_few_trees(build):
        def build_small(*arguments, **options):
            models = build(*arguments, **options)
            for name in ("gradient-boosting", "random-forest"):
                models[name].set_params(n_estimators=5)
            return models

        return build_small

    for name in ("_classifiers", "_regressors"):
        monkeypatch.setattr(default_models, name, with_few_trees(getattr(default_models, name)))


@pytest.fixture
def no_pictures(monkeypatch):
    """Leave out the pictures of pages: to draw them takes longer than all else, and adds none of the words.

    The fixture is the function that draws them.
    """
    from faithkit_html import figures

    render_svg = figures.render_svg
    monkeypatch.setattr(figures, "render_svg", lambda *picture: "")
    return render_svg


@pytest.fixture
def pictures(no_pictures, monkeypatch):
    """Draw the pictures of pages in a folder whose tests leave them out: here they could fail."""
    monkeypatch.setattr("faithkit_html.figures.render_svg", no_pictures)


@pytest.fixture
def draw_only(no_pictures, monkeypatch):
    """Return a function after which pages draw only the pictures whose label begins with a text."""

    def choose(beginning):
        def draw_chosen(draw, new_axes, label, *names, **options):
            is_chosen = label.startswith(beginning)
            return no_pictures(draw, new_axes, label, *names, **options) if is_chosen else ""

        monkeypatch.setattr("faithkit_html.figures.render_svg", draw_chosen)

    return choose
