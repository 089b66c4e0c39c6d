"""The configuration of Sphinx. The build needs no network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import faithkit

project = "faithkit"
author = "the faithkit developers"
release = faithkit.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.doctest",
    "sphinx.ext.intersphinx",
    "sphinx_click",
    "matplotlib.sphinxext.plot_directive",
    "local_inventories",
    "type_links",
    "component_pages",
    "check_pages",
    "schema_pages",
    "verdict_pages",
    "option_names",
    "mathml",
    "notebook_pages",
]
exclude_patterns = ["_build", "_ext", "inventories"]
default_role = "code"

html_theme = "furo"
html_title = f"faithkit {release}"
html_static_path = ["_static"]
html_css_files = ["faithkit.css"]
html_copy_source = False
html_math_renderer = "mathml"  # MathJax would be loaded from the network

autodoc_typehints = "none"  # the docstrings describe types in words
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
napoleon_google_docstring = False
napoleon_preprocess_types = False  # type_links does it: "list of str" is prose, not a class
napoleon_custom_sections = [("Attributes", "params_style")]
doctest_path = [
    str(Path(__file__).parent / part) for part in ("tutorials", "howto")
]  # modules that pages show
doctest_test_doctest_blocks = ""  # pytest runs docstrings, each in its own module

# the build draws pictures from their code
plot_formats = ["svg"]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False
plot_rcparams = {"svg.hashsalt": "faithkit", "figure.constrained_layout.use": True}
plot_apply_rcparams = True
