"""A third party's plugin, built, installed and used as a stranger would; and some that are broken."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from environments import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("distributions")]

ACME = ROOT / "tests" / "third_party" / "acme-faithkit"
EVALUATE = (
    "faithkit evaluate --data iris --model tree --explainer deviation:clip=2 --discretize acme-faithkit/top "
    "--estimator smoothed:weight=2 --contradictions 2 --out - --format json"
)


def read_refusal(market, command):
    """Return the last line on stderr, after the warning that a plugin is left out."""
    warning, line = market.run(command, code=1).stderr.splitlines()
    assert warning.startswith("warning: a plugin is left out: lost-faithkit (lost): cannot be loaded: ")
    return line


def test_everything_that_acme_offers_is_listed_with_its_origin(market):
    listing = json.loads(market.run("faithkit plugins --json").stdout)["components"]
    components = [c for c in listing if c["distribution"] == "acme-faithkit"]
    assert {(c["kind"], c["name"]) for c in components} == {
        ("explainer", "deviation"),
        ("relation", "same-direction"),
        ("discretizer", "top"),
        ("discretizer", "top-2"),
        ("estimator", "smoothed"),
        ("command", "acme-columns"),
    }
    assert {c["version"] for c in components} == {"2.1.0"}


def test_acmes_docstrings_are_shown(market):
    page = market.run("faithkit show explainer deviation").stdout
    assert "clip = 3.0" in page
    assert "Farther than this counts as this far." in page


def test_acmes_components_work_together(market):
    result = json.loads(market.run(EVALUATE).stdout)
    assert result["n"] == 51
    assert result["relation"] == "same-direction"
    assert result["explainer"] == "deviation:clip=2"
    assert result["versions"]["acme-faithkit"] == "2.1.0"
    assert result["measures"]["sufficiency"]["verified"] > 0.5
    assert {contradiction["explanation"] for contradiction in result["contradictions"]} <= {
        *("sepal length (cm)", "sepal width (cm)", "petal length (cm)", "petal width (cm)")
    }


def test_acmes_explainer_works_in_worker_processes_and_says_the_same(market, tmp_path):
    alone, many = tmp_path / "alone", tmp_path / "many"
    command = shlex.split(EVALUATE)  # without a shell, so that the program is our own child
    output = market.run(command, ACME_PROCESSES=str(alone)).stdout
    assert market.run([*command, "--n-jobs", "2"], ACME_PROCESSES=str(many)).stdout == output
    # acme notes the parent of whoever explains, once for each of the chunks of 8 of 51 rows
    parents = alone.read_text().split()
    assert (len(parents), len(set(parents))) == (7, 1)
    assert len(many.read_text().split()) == 7


def test_acmes_verb_is_one_of_faithkits(market):
    assert "acme-columns  from acme-faithkit" in market.run("faithkit --help").stdout
    assert market.run("faithkit acme-columns iris").stdout.splitlines()[0] == "sepal length (cm)"
    message = read_refusal(market, "faithkit acme-columns irs")
    assert message.startswith("error: no dataset 'irs' is installed. Did you mean 'iris'? Available: ")


def test_acmes_parameters_are_acmes_to_refuse(market):
    evaluate = "faithkit evaluate --data iris --model tree --explainer"
    assert (
        read_refusal(market, f"{evaluate} deviation:clip=0")
        == "error: deviation: clip must be positive, got 0."
    )
    message = read_refusal(market, f"{evaluate} deviation:clop=1")
    assert "Did you mean 'clip'?" in message


def test_faithkit_check_finds_nothing_wrong_with_acme(market):
    lines = market.run("faithkit check acme-faithkit").stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[:7]] == [
        "plugin acme_faithkit",
        "explainer deviation",
        "relation same-direction",
        "discretizer top",
        "discretizer top-2",
        "estimator smoothed",
        "command acme-columns",
    ]
    assert re.fullmatch(
        r"acme-faithkit: \d{3} checks, all passed, \d\d not tried \(-v says why\)\.", lines[-1]
    )
    assert "the discretizer 'top' is also registered by careless-faithkit" in " ".join(lines[7:-1])


def test_acmes_own_test_runs_the_kit(market, tmp_path):
    project = shutil.copytree(ACME, tmp_path / "acme")  # away from the settings of our own tests
    last_line = market.run("python -m pytest -q -k smoothed", cwd=project).stdout.splitlines()[-1]
    assert re.match(r"\d\d passed, (\d skipped, )?\d{3} deselected", last_line)


def test_broken_plugins_are_lines_of_their_own_and_acme_goes_on_working(market):
    broken = json.loads(market.run("faithkit plugins --json").stdout)["broken"]
    assert {line["distribution"]: line["problem"] for line in broken} == {
        "acme-faithkit": "the discretizer 'top' is also registered by careless-faithkit, so 'top' alone is "
        "ambiguous",
        "careless-faithkit": "the discretizer 'top' is also registered by acme-faithkit, so 'top' alone is "
        "ambiguous",
        "future-faithkit": "future_faithkit was written for extension API 2, but faithkit "
        f"{market_version(market)} speaks 1",
        "lost-faithkit": "cannot be loaded: ModuleNotFoundError: No module named 'a_library_that_nobody_has'",
    }
    assert market.run("faithkit plugins").stderr == ""


def market_version(market):
    return market.run("faithkit --version").stdout.split()[-1]


def test_a_name_that_two_plugins_have_needs_its_distribution(market):
    message = market.run("faithkit show discretizer top", code=1).stderr
    assert "Write 'acme-faithkit/top' or 'careless-faithkit/top'." in message
    assert "from acme-faithkit 2.1.0" in market.run("faithkit show discretizer acme-faithkit/top").stdout


def test_strict_mode_stops_at_the_first_problem(market):
    message = market.run("faithkit plugins", code=1, FAITHKIT_STRICT="1").stderr
    assert message.startswith("error: acme-faithkit (acme): ")


@pytest.mark.parametrize(
    ("distribution", "check", "problem", "advice"),
    [
        ("lost-faithkit", "module_can_be_imported", "'a_library_that_nobody_has'", "name them in requires="),
        ("future-faithkit", "declares_the_api_version", "FAITHKIT_API is 2; expected 1", "Update the older"),
    ],
)
def test_faithkit_check_says_why_a_plugin_cannot_be_loaded(market, distribution, check, problem, advice):
    text = " ".join(market.run(f"faithkit check {distribution}", code=3).stdout.split())
    assert f"failed {check} " in text
    assert problem in text
    assert advice in text
    assert "Why: " in text


def test_faithkit_check_finds_every_promise_that_the_careless_one_breaks(market):
    output = market.run("faithkit check careless-faithkit --json", code=3).stdout
    failed = {c["name"]: set(c["failed"]) for c in json.loads(output)["components"]}
    assert failed == {
        "careless_faithkit": {"listing_imports_nothing_heavy"},
        "careless": {
            "parameters_are_documented",
            "fit_returns_self",
            "global_state_is_untouched",
            "same_seeds_give_the_same_answer",
            "rows_of_another_width_are_refused",
        },
        "top": {"equal_explanations_get_equal_identities"},
    }


def test_the_careless_one_gives_no_number(market):
    process = market.run("faithkit evaluate --data iris --model tree --explainer careless", code=1)
    assert process.stdout == ""
    assert process.stderr.splitlines()[-1].startswith(
        "error: the explainer careless: fit returned None; expected itself."
    )


def test_the_environment_imports_the_wheels(market):
    where = market.run(
        ["python", "-c", "import faithkit, acme_faithkit as a; print(faithkit.__file__, a.__file__)"]
    )
    assert all(Path(path).is_relative_to(market.site) for path in where.stdout.split())
