"""Classes of results: estimates, comparisons, plans and pair.

`results.pyi` lists the names; each is imported at its first use.
"""

import lazy_loader

from faithkit.renamed import with_new_spellings

__getattr__, __dir__, __all__ = lazy_loader.attach_stub("faithkit", __file__)
__getattr__ = with_new_spellings(__name__, __getattr__)
