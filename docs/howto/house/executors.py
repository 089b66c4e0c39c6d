"""An executor for a machine that is shared."""

import time

import faithkit


class Polite:
    """Explain in this process, and leave the machine to others for a part of the time.

    Parameters
    ----------
    share : float
        The part of the time that explaining takes, above 0 and at most 1.

    Examples
    --------
    >>> X = faithkit.load_dataset("iris").X
    >>> def is_wide(X):
    ...     return X["petal width (cm)"] > 1.6
    >>> result = faithkit.evaluate(is_wide, X, is_wide, executor=Polite(share=0.9))
    >>> result.consistency.value
    1.0
    """

    name = "polite"

    def __init__(self, share: float = 0.5) -> None:
        if not 0 < share <= 1:
            raise faithkit.errors.ParameterError(
                f"polite: share must be a number above 0 and at most 1, got {share!r}."
            )
        self.share = share

    def run(self, job, chunks):
        """Yield each chunk with its result, and then rest."""
        for chunk in chunks:
            started = time.perf_counter()
            yield chunk, faithkit.plugin.explain_chunk(job, chunk)
            time.sleep((time.perf_counter() - started) * (1 / self.share - 1))
