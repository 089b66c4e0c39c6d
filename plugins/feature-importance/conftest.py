"""PyTorch is an optional extra: the doctests of its part run where it is installed."""

import importlib.util

collect_ignore = (
    [] if importlib.util.find_spec("torch") else ["faithkit_feature_importance/gradients/torch_modules.py"]
)
