"""Classes of results: estimates, comparisons, plans and witnesses.

`results.pyi` lists the names; each is imported at its first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("faithkit", __file__)
