"""Libraries that are an optional extra: the doctests of their parts run where they are installed."""

import importlib.util

_PARTS = {
    "torch": ("gradients/torch_modules.py", "gradients/torch_adapter.py", "adapters/tensors.py"),
}

collect_ignore = [
    f"faithkit_feature_importance/{part}"
    for library, parts in _PARTS.items()
    if not importlib.util.find_spec(library)
    for part in parts
]
