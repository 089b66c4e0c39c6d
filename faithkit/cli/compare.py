"""`faithkit compare`: measure several explainers and discretizers on the same rows.

`comparing` makes a verb with the options of `faithkit compare`. Plugins use it for verbs that report
something else about a comparison.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import deliver
from faithkit.cli.shared.options import (
    DISCRETIZER_DEFAULT,
    check_components,
    combine,
    id_option,
    input_options,
    measure_options,
    output_options,
    prediction_options,
    running_options,
    use_backend,
)
from faithkit.cli.shared.paths import check_paths
from faithkit.cli.shared.verb import EXPLAINER, MEASURE, Verb, option

if TYPE_CHECKING:
    from faithkit.run.comparisons.comparison import Comparison

_compare_options = combine(
    option(
        "--explainer NAME",
        "explainers",
        heading=EXPLAINER,
        multiple=True,
        required=True,
        help="Compare this explainer (a name, or name:param=value,…); can be given several times.",
    ),
    option(
        "--discretize NAME",
        "discretizers",
        heading=MEASURE,
        multiple=True,
        help="Compare with this discretizer, such as 1fp or sign; can be given several times.  "
        f"{DISCRETIZER_DEFAULT}",
    ),
    input_options,
    measure_options,
    prediction_options,
    id_option,
    running_options,
    output_options,
)


def comparing(function: Callable[..., Any]) -> click.Command:
    """Make a verb of a function that takes a comparison and returns a report.

    The verb has the function's own options, by click's decorators, and then the options of
    `faithkit compare`. It prints the report, or writes it by its methods `to_json`, `to_frame` and `to_html`.

    Examples
    --------
    >>> import click, faithkit
    >>> @faithkit.plugin.comparing
    ... @click.option("--loudly", is_flag=True)
    ... def winners(comparison, loudly):
    ...     return ", ".join(comparison.best()) + "!" * loudly
    >>> [option.name for option in winners.params][:2]
    ['loudly', 'explainers']
    """
    function_params: list[click.Parameter] = getattr(function, "__click_params__", [])

    @functools.wraps(function, updated=())  # without the function's options, which are added first below
    def verb(
        id: str | None,
        inputs: dict[str, Any],
        workers: dict[str, Any],
        output: dict[str, Any],
        **options: Any,
    ) -> None:
        from faithkit.inputs.evaluation_inputs import prepare
        from faithkit.inputs.predictions.outcome import parse_outcome
        from faithkit.run.api import compare

        function_options = {
            param.name: options.pop(param.name) for param in function_params if param.expose_value
        }
        check_components(options)
        options["discretizers"] = options["discretizers"] or None
        paths = check_paths(output)
        outcome, *_ = parse_outcome(options["outcome"], options["agree"], options["range"])
        prepared = prepare(outcome=outcome, id=id, **inputs)
        with use_backend(**workers):
            comparison = compare(**prepared.evaluation_arguments(), ids=prepared.ids, **options)
        deliver(function(comparison, **function_options), paths)

    command = click.command(cls=Verb)(_compare_options(verb))
    command.params[:0] = reversed(function_params)  # click keeps the last one first
    return command


@comparing
def command(comparison: "Comparison") -> "Comparison":
    """Compare explainers and discretizers on the same rows and predictions.

    Every explainer explains once. Differences are paired. Systems that the sample cannot tell from the best
    one are marked as best.
    """
    return comparison


command.epilog = """\b
Examples:
  faithkit compare --data iris --explainer shap --explainer tree
  faithkit compare --explainer shap --discretize 1fp --discretize sign --samples 100"""
