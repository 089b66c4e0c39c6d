"""Run the doctests of modules with an optional library only if that library is installed."""

import importlib.util

_MODULES = {
    "torch": ("gradients/torch_modules.py", "adapters/tensors.py"),
}

collect_ignore = [
    f"faithkit_feature_importance/{module}"
    for library, modules in _MODULES.items()
    if not importlib.util.find_spec(library)
    for module in modules
]
