"""Each broken plugin is one readable line, and everything else goes on working."""

import pytest
from consoles import run
from looping import one_test
from on_path import faithkit_with, install

import faithkit
from faithkit.errors import PluginError, UnknownComponentError
from faithkit.extension.registry import PluginProblem, Registry


def test_an_import_error_is_one_line(broken_by):
    assert broken_by("import_error") == [
        "demo (main): cannot be loaded: ModuleNotFoundError: No module named 'a_library_that_nobody_has'. "
        "Reinstall it or what it needs, or remove it: pip uninstall demo"
    ]


def test_a_module_that_calls_exit_is_one_line(broken_by):
    assert broken_by("exits_when_imported") == [
        "demo (main): cannot be loaded: SystemExit: 3. "
        "Reinstall it or what it needs, or remove it: pip uninstall demo"
    ]


def test_a_module_without_an_api_version_is_left_out(broken_by):
    assert broken_by("no_api_version") == [
        "demo (main): no_api_version does not say which extension API it was written for. "
        "Add the line FAITHKIT_API = 1 to it, or update: pip install --upgrade demo"
    ]


def test_a_newer_api_version_asks_for_a_newer_faithkit(broken_by):
    assert broken_by("other_api_version") == [
        "demo (main): other_api_version was written for extension API 2, "
        f"but faithkit {faithkit.__version__} speaks 1. "
        "Update the older of the two: git pull in the source tree of faithkit"
    ]


def test_an_older_api_version_asks_for_a_newer_plugin(broken_by):
    (line,) = broken_by("older_api_version")
    assert line.endswith("speaks 1. Update the older of the two: pip install --upgrade demo")


def test_a_misspelt_hook_is_answered_with_a_guess(broken_by):
    assert broken_by("wrong_hook_name") == [
        "demo (main): @hookimpl is on faithkit_explainer(), and there is no such hook. "
        "Did you mean 'faithkit_explainers'?"
    ]


def test_a_forgotten_decorator_is_noticed(broken_by):
    assert broken_by("unmarked_hook") == [
        "demo (main): faithkit_explainers() lacks @hookimpl and is never called. "
        "Decorate it with @faithkit.plugin.hookimpl, or rename it if it is no hook"
    ]


def test_a_hook_that_raises_is_one_line_even_if_its_message_is_not(broken_by):
    assert broken_by("hook_that_raises") == [
        "demo (main): faithkit_explainers() failed: RuntimeError: the licence server does not answer. "
        "Its explainers are left out. Update it, or tell its authors: pip install --upgrade demo"
    ]


def test_a_hook_that_raises_costs_only_its_own_components(plugin):
    registry = Registry(entry_points=[plugin("hook_that_raises")])
    assert registry.names("explainer") == ()
    assert registry.names("relation") == ("spared",)


def test_a_problem_line_says_that_hooks_take_no_arguments(broken_by):
    (line,) = broken_by("hook_with_arguments")
    assert line.startswith("demo (main): does not fit the hooks: PluginValidationError: ")
    assert "config" in line
    assert line.endswith("Hooks take no arguments")


def test_a_hook_that_forgets_to_return_is_noticed(broken_by):
    assert broken_by("hook_that_returns_none") == [
        "demo (main): faithkit_explainers() failed: it gave NoneType, expected an iterable of Component: "
        "yield them. Its explainers are left out. "
        "Update it, or tell its authors: pip install --upgrade demo"
    ]


def test_a_value_that_is_no_component_is_named_and_its_neighbours_are_kept(broken_by, plugin):
    assert broken_by("not_a_component") == [
        "demo (main): faithkit_explainers() gave dict, expected Component. "
        "Yield faithkit.plugin.Component(name=…, factory='module:attribute', summary=…)"
    ]
    assert Registry(entry_points=[plugin("not_a_component")]).names("explainer") == ("beside",)


HEAD = "import os, sys\nimport faithkit\nFAITHKIT_API = 1\n"
COMPONENT = "faithkit.plugin.Component(name='one', factory='collections:Counter', summary='One.')"


def write_plugin(items, before=""):
    return f"{HEAD}{before}\n@faithkit.plugin.hookimpl\ndef faithkit_explainers():\n    return {items}\n"


def test_the_same_mistake_twice_is_one_line(plugin, tmp_path, monkeypatch):
    (tmp_path / "two_numbers.py").write_text(write_plugin("[1, 2]"))
    monkeypatch.syspath_prepend(tmp_path)
    (line,) = Registry(entry_points=[plugin("two_numbers")]).broken
    assert "faithkit_explainers() gave int, expected Component." in str(line)


def test_ctrl_c_is_not_the_plugins_doing(plugin, tmp_path, monkeypatch):
    (tmp_path / "interrupted.py").write_text("raise KeyboardInterrupt")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        Registry(entry_points=[plugin("interrupted")])


def test_the_listing_is_json_whatever_plugins_print(tmp_path):
    loud = "print('printed')\nos.write(1, b'written')\nsys.__stdout__.write('past the redirection')\n"
    install(tmp_path, "loud", write_plugin(f"[{COMPONENT}]", loud))
    process = faithkit_with(tmp_path, "plugins", "--json")
    assert (process.returncode, process.stdout[:1], process.stdout[-2:]) == (0, "{", "}\n")
    assert "past the redirection" in process.stderr


def test_a_distribution_without_metadata_is_named_after_its_package(tmp_path, monkeypatch):
    install(tmp_path, "damaged", write_plugin(f"[{COMPONENT}]"))
    (tmp_path / "damaged-1.0.dist-info" / "METADATA").unlink()
    monkeypatch.syspath_prepend(tmp_path)
    assert Registry().find("explainer", "one").qualified == "damaged/one"


def test_a_problem_line_repeats_the_error_of_a_bad_component(broken_by):
    assert broken_by("bad_name") == [
        "demo (main): faithkit_explainers() failed: a component's name must be lower-case letters, digits "
        "and dashes, not starting with a dash. Got 'Bad_Name' instead: rename it, for example to 'bad-name'. "
        "Its explainers are left out. Update it, or tell its authors: pip install --upgrade demo"
    ]


def test_a_name_given_twice_by_one_distribution_is_used_for_neither(broken_by, plugin):
    assert broken_by("same_name_twice") == [
        "demo (main): registers the explainer 'twin' 2 times ('healthy:Scaled' and 'healthy:anything'); "
        "none is used. Each needs a name of its own"
    ]
    registry = Registry(entry_points=[plugin("same_name_twice")])
    assert registry.names("explainer") == ("single",)
    with pytest.raises(UnknownComponentError, match="no explainer 'demo/twin' is installed"):
        registry.find("explainer", "demo/twin")


@one_test
@pytest.mark.parametrize("module", ["factory_that_raises", "factory_import_error", "missing_requirement"])
def test_problems_that_only_creation_finds_are_not_listed(broken_by, module):
    assert broken_by(module) == []


def test_many_broken_plugins_do_not_hide_each_other(plugin, healthy):
    modules = ["import_error", "wrong_hook_name", "hook_that_raises", "not_a_component", "bad_name"]
    points = [plugin(module, f"demo-{number}") for number, module in enumerate(modules)]
    registry = Registry(entry_points=[*points, healthy])
    assert [line.distribution for line in registry.broken] == [f"demo-{number}" for number in range(5)]
    assert registry.create("explainer", "twice").factor == 2


def test_a_broken_line_stays_one_line_whatever_it_is_made_of():
    assert (
        str(PluginProblem("d", "e", "first\n  second.", "third\tfourth"))
        == "d (e): first second. third fourth"
    )


def test_strict_mode_raises_the_first_problem_with_its_cause(plugin, monkeypatch):
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    with pytest.raises(PluginError, match=r"demo \(main\): cannot be loaded: ModuleNotFoundError") as caught:
        Registry(entry_points=[plugin("import_error")])
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_strict_mode_raises_for_a_clash_too(plugin, monkeypatch):
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    with pytest.raises(PluginError, match="'popular' is also registered by demo-b"):
        Registry(entry_points=[plugin("clash_a", "demo-a"), plugin("clash_b", "demo-b")])


def test_strict_mode_accepts_plugins_without_problems(kernel, healthy, monkeypatch):
    monkeypatch.setenv("FAITHKIT_STRICT", "1")
    assert Registry(entry_points=[kernel, healthy]).broken == []


@pytest.fixture
def broken_site(site):
    install(site, "lost", "import a_library_that_nobody_has")


LOST = (
    "lost (main): cannot be loaded: ModuleNotFoundError: No module named 'a_library_that_nobody_has'. "
    "Reinstall it or what it needs, or remove it: pip uninstall lost"
)


@pytest.mark.usefixtures("broken_site")
def test_the_default_registry_warns_of_a_plugin_that_is_left_out():
    with pytest.warns(faithkit.errors.FaithkitWarning) as caught:
        assert "majority" in faithkit.plugin.registry().names("estimator")
    assert [str(warning.message) for warning in caught] == [f"a plugin is left out: {LOST}"]


@pytest.mark.usefixtures("broken_site")
def test_the_command_line_warns_in_one_line_and_goes_on():
    result = run("show", "estimator", "majority")
    assert (result.exit_code, result.stderr) == (0, f"warning: a plugin is left out: {LOST}\n")


@pytest.mark.usefixtures("broken_site")
def test_the_listing_names_a_broken_plugin_and_shows_its_traceback_with_debug():
    listing = run("plugins")
    assert (listing.exit_code, listing.stderr) == (0, "")
    assert listing.stdout.endswith(f"problems\n  {LOST}\n")
    with_traceback = run("plugins", "--debug")
    assert with_traceback.stdout == listing.stdout
    assert with_traceback.stderr.startswith(f"\n{LOST}\nTraceback (most recent call last):\n")
    assert 'lost.py", line 1, in <module>' in with_traceback.stderr
