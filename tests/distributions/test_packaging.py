"""What is published: every distribution builds, says what it should, and the kernel stands on its own."""

import subprocess
import sys
import tarfile
import zipfile

import pytest
from environments import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributions")]

PROJECTS = [ROOT, *sorted((ROOT / "plugins").iterdir())]
LOG = "label,phi_age,phi_sex\nyes,0.5,0.1\nyes,0.5,0.1\nno,0.5,0.1\nno,0.2,0.1\n"


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Build source distributions, and from each the wheel, as for a release."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS:
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(project)]
        process = subprocess.run(command, capture_output=True, text=True)
        assert process.returncode == 0, process.stdout + process.stderr
    return sorted(folder.iterdir())


def test_every_distribution_builds_and_twine_has_nothing_to_say(archives):
    names = {path.name.split("-")[0] for path in archives}
    assert names == {
        "faithkit",
        "faithkit_scoped_rules",
        "faithkit_feature_importance",
        "faithkit_example_based",
        "faithkit_diagnostics",
        "faithkit_glass_box",
        "faithkit_model_files",
        "faithkit_monitor",
        "faithkit_paper",
        "faithkit_integrations",
        "faithkit_attacks",
        "faithkit_conformance",
        "faithkit_executors",
        "faithkit_html",
        "faithkit_logged_reasons",
    }
    assert len(archives) == 2 * len(PROJECTS)
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout
    assert process.stdout.count("PASSED") == len(archives)


def test_a_wheel_holds_its_package_with_all_that_is_no_code_and_nothing_else(archives):
    for wheel in (path for path in archives if path.suffix == ".whl"):
        package, version, *_ = wheel.name.split("-")
        names = zipfile.ZipFile(wheel).namelist()
        assert {name.split("/")[0] for name in names} == {package, f"{package}-{version}.dist-info"}
        assert f"{package}/py.typed" in names
        assert f"{package}-{version}.dist-info/licenses/LICENSE" in names
        source = next(project / package for project in PROJECTS if (project / package).is_dir())
        files = [path.relative_to(source.parent) for path in source.rglob("*") if path.is_file()]
        files = [path for path in files if "__pycache__" not in path.parts]  # of Python, and of Numba
        assert {str(path) for path in files if "/." not in str(path)} <= set(names)


def test_the_kernels_archive_holds_readme_changes_and_licence(archives):
    archive = next(path for path in archives if path.name.startswith("faithkit-") and path.suffix == ".gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    assert {"README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "faithkit/__init__.py"} <= names
    assert not any(name.startswith(("tests", "plugins", ".")) and name != ".gitignore" for name in names)


def test_the_kernel_alone_scores_a_log(kernel_only, tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    command = "faithkit score log.csv --prediction label --explanation 'phi_*' --out - --format json"
    output = kernel_only.run(command, cwd=tmp_path).stdout
    # three rows share an explanation, two of them a label: (1/2 + 1/2 + 0 + 0) / 4
    assert '"value": 0.25,' in output
    assert '"verified": 0.75,' in output


def test_the_kernel_alone_says_what_reads_rules_in_words(kernel_only, tmp_path):
    (tmp_path / "log.csv").write_text("label,age,rule\nyes,30,age <= 37\nno,41,age > 37\n")
    options = "--prediction label --explanation rule --features age --out - --format json"
    process = kernel_only.run(f"faithkit score log.csv {options}", cwd=tmp_path)
    assert "python -m pip install faithkit-logged-reasons reads them, for sufficiency." in process.stderr
    assert '"sufficiency": null' in process.stdout


def test_the_kernel_alone_says_how_to_get_an_explainer(kernel_only):
    process = kernel_only.run("faithkit evaluate --explainer shap", code=1)
    assert process.stdout == ""
    assert process.stderr.rstrip().endswith(": python -m pip install faithkit-feature-importance")
    (line,) = process.stderr.splitlines()
    assert line.startswith("error: no explainer 'shap' is installed.")


def test_the_kernel_alone_says_how_to_get_a_dataset(kernel_only):
    code = "import faithkit; faithkit.load_dataset('adult')"
    *_, last = kernel_only.run(["python", "-c", code], code=1).stderr.splitlines()
    assert last.endswith("adult is provided by faithkit-paper: python -m pip install faithkit-paper")


@pytest.mark.parametrize(
    ("verb", "plugin"),
    [("reproduce", "paper"), ("monitor", "monitor"), ("check", "conformance"), ("new", "conformance")],
)
def test_the_kernel_alone_says_how_to_get_a_verb(kernel_only, verb, plugin):
    assert f"pip install faithkit-{plugin}" in kernel_only.run(f"faithkit {verb}", code=2).stderr


def test_the_kernel_alone_says_how_to_get_a_loader(kernel_only):
    code = "import faithkit; faithkit.load_model('model.skops')"
    *_, last = kernel_only.run(["python", "-c", code], code=1).stderr.splitlines()
    assert last.endswith("pip install faithkit-model-files")


def test_the_kernel_beside_the_kit_passes_its_own_checks(with_kit):
    assert "checks, all passed" in with_kit().run("faithkit check faithkit").stdout
