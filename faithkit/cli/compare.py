"""`faithkit compare`: several explainers and discretizers on the same rows, and which may be the best.

What it takes and how it delivers is `comparing`, which plugins make verbs with: those that say something else
about a comparison.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import deliver
from faithkit.cli.shared.options import (
    OWN_DISCRETIZER,
    begin,
    configured_backend,
    loading,
    measuring,
    naming,
    option,
    output,
    predicting,
    running,
    together,
)
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.streams import Verb

if TYPE_CHECKING:
    from faithkit.run.comparisons.comparison import Comparison

_asked = together(
    loading,
    option(
        "--explainer NAME",
        "explainers",
        multiple=True,
        required=True,
        help="Compare this explainer: a name, or name:param=value,…. Can be given several times.",
    ),
    option(
        "--discretize NAME",
        "discretizers",
        multiple=True,
        help=f"Compare this discretizer, too. Can be given several times.  {OWN_DISCRETIZER}",
    ),
    predicting,
    measuring,
    naming,
    running,
    output,
)


def comparing(function: Callable[..., Any]) -> click.Command:
    """Make a verb of a function that is given a comparison, and returns what is to be told of it.

    The verb has the options of `faithkit compare`, after those that the function has by click's own
    decorators. What is returned is printed, or written by its methods `to_json`, `to_frame` and `to_html`,
    as the person asks.

    Examples
    --------
    >>> import click, faithkit
    >>> @faithkit.plugin.comparing
    ... @click.option("--loudly", is_flag=True)
    ... def winners(compared, loudly):
    ...     return ", ".join(compared.best()) + "!" * loudly
    >>> [option.name for option in winners.params][:2]
    ['loudly', 'data']
    """
    own: list[click.Parameter] = getattr(function, "__click_params__", [])

    @functools.wraps(function, updated=())  # its options come first, whatever click keeps them in
    def verb(
        id: str | None,
        loading: dict[str, Any],
        workers: dict[str, Any],
        output: dict[str, Any],
        **options: Any,
    ) -> None:
        from faithkit.inputs.evaluation_inputs import prepare
        from faithkit.inputs.predictions.outcome import checked
        from faithkit.run.api import compare

        more = {param.name: options.pop(param.name) for param in own if param.expose_value}
        begin(options)
        options["discretizers"] = options["discretizers"] or None
        paths = check_paths(output)
        kind, *_ = checked(options["outcome"], options["agree"], options["range"])
        situation = prepare(outcome=kind, id=id, **loading)
        with configured_backend(**workers):
            found = compare(**situation.question(), ids=situation.ids, **options)
        deliver(function(found, **more), paths)

    made = click.command(cls=Verb)(_asked(verb))
    made.params[:0] = reversed(own)  # click has the last one first
    return made


@comparing
def command(compared: "Comparison") -> "Comparison":
    """Compare explainers and discretizers on the same rows and predictions.

    Every explainer explains once. Differences are paired; what the sample cannot tell from the best is
    marked as the best, too.
    """
    return compared
