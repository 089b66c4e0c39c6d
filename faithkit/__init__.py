"""faithkit measures whether explanations of predictions tell the truth about the model.

`__init__.pyi` lists the names for users, `plugin.pyi` those for authors of plugins, and `results.pyi` the
classes of results. Each name is imported at its first use, so that `import faithkit` and `faithkit --help`
are fast.
"""

import lazy_loader

from faithkit.renamed import with_new_spellings

__version__ = "0.3.0.dev0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = with_new_spellings(__name__, __getattr__)
__all__ += ["__version__"]
