"""Distributions as users get them: built into wheels once, installed in fresh environments.

Everything here is slow and shares what was built, so it is marked for one worker of pytest-xdist.
"""

import pytest
from environments import ROOT, Environment, build_wheels, read_requirements

CONFORMANCE, EXECUTORS = (ROOT / "plugins" / name for name in ("conformance", "executors"))
THIRD_PARTY = sorted(path.parent for path in (ROOT / "tests" / "third_party").glob("*/pyproject.toml"))


@pytest.fixture(scope="session")
def wheels(tmp_path_factory):
    """The wheels of the kernel, of the kit, of executors and of all third parties, by distribution."""
    return build_wheels(tmp_path_factory.mktemp("wheels"), ROOT, CONFORMANCE, EXECUTORS, *THIRD_PARTY)


@pytest.fixture(scope="session")
def fresh(tmp_path_factory, wheels):
    """Make a fresh environment with the kernel's wheel, and with more of them."""

    def make(*distributions, libraries=()):
        folder = tmp_path_factory.mktemp("environment")
        environment = Environment(folder, [*read_requirements(ROOT), *libraries])
        environment.install(*(wheels[name] for name in ("faithkit", *distributions)))
        return environment

    return make


@pytest.fixture(scope="session")
def kernel_only(fresh):
    """An environment with nothing but the kernel."""
    return fresh()


@pytest.fixture(scope="session")
def with_kit(fresh):
    """Make a fresh environment with the kernel, the kit, executors, pytest and more distributions."""

    def make(*distributions):
        libraries = ["pytest", *read_requirements(CONFORMANCE), *read_requirements(EXECUTORS)]
        return fresh("faithkit-conformance", "faithkit-executors", *distributions, libraries=libraries)

    return make


@pytest.fixture(scope="session")
def market(with_kit):
    """An environment with Acme's plugin, and with three that are broken in three ways."""
    return with_kit(*(project.name for project in THIRD_PARTY))
