"""faithkit measures whether explanations of predictions tell the truth about the model.

The public API is flat, and `__init__.pyi` lists it. Names are imported when they are first used, so that
`import faithkit`, and with it every plugin's module and `faithkit --help`, costs next to nothing.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__all__ += ["__version__"]
