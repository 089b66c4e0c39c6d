"""What a model is called in messages, and how it would be written as code."""

from collections.abc import Sequence
from typing import Any

_SHOWN = 10  # labels that a person may be asked to repeat


def called(model: Any) -> str:
    """Return the name of a function, or of an object's class.

    >>> called(len), called({})
    ('len', 'dict')
    """
    return getattr(model, "__name__", None) or type(model).__name__


def written(model: Any) -> str:
    """Return what a model's answers come from, as one would write it.

    >>> written(len), written(lambda X: X), written(object())
    ('len', 'f', 'f')
    """
    if callable(getattr(model, "predict", None)):
        return "model.predict"
    name = str(getattr(model, "__name__", ""))
    return name if name.isidentifier() else "f"


def as_list(classes: int | Sequence[Any]) -> str:
    """Return labels as code: those given, or as many whole numbers.

    >>> as_list(2), as_list(["no", "yes"]), as_list(40)
    ('[0, 1]', "['no', 'yes']", 'range(40)')
    """
    labels = list(range(classes)) if isinstance(classes, int) else list(classes)
    return repr(labels) if len(labels) <= _SHOWN else f"range({len(labels)})"


def as_option(classes: int) -> str:
    """Return the option that names as many classes.

    >>> as_option(2), as_option(40)
    ('--classes 0,1', '--classes NAME,NAME,…')
    """
    return f"--classes {','.join(map(str, range(classes))) if classes <= _SHOWN else 'NAME,NAME,…'}"
