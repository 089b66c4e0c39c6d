"""Error message of both glass-box explainers for scikit-learn pipelines."""


def advise_on_pipeline(explainer: str, parts: str, model_name: str) -> str:
    """Return the message that rejects a pipeline and says what to pass instead.

    Examples
    --------
    >>> advise_on_pipeline("ebm", "terms", "Pipeline")
    'ebm explains a model by its own terms, and those of a Pipeline are about columns that it makes ...'
    """
    return (
        f"{explainer} explains a model by its own {parts}, and those of a {model_name} are about columns "
        "that it makes first: give its last step as the model, and as rows what the steps before make of "
        "yours."
    )
