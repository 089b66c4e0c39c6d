"""Sphinx's configuration: offline, warnings are errors."""

import faithkit

project = "faithkit"
author = "the faithkit developers"
release = faithkit.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.doctest"]
html_theme = "furo"
html_title = f"faithkit {release}"
exclude_patterns = ["_build"]
default_role = "code"
doctest_test_doctest_blocks = ""  # docstrings are run by pytest, each in its own module
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False
# "array, DataFrame or list of str" describes what is accepted; it is not a reference
nitpick_ignore_regex = [("py:class", ".*"), ("py:exc", ".*")]
