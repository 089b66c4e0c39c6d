"""`faithkit compare`: measure several explainers and discretizers on the same rows.

`comparison_command` makes a verb with the options of `faithkit compare`. Plugins use it for verbs that report
something else about a comparison.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from faithkit.cli.shared.delivery import check_outputs, deliver
from faithkit.cli.shared.options import (
    DISCRETIZER_DEFAULT,
    check_components,
    estimate_options,
    id_option,
    input_options,
    output_options,
    prediction_options,
    prepare_inputs,
    running_options,
)
from faithkit.cli.shared.origin import add_origin
from faithkit.cli.shared.verb import EXPLAINER, MEASURE, build_verb, combine, option, own_params

if TYPE_CHECKING:
    from faithkit.run.comparisons.comparison import Comparison

_OF_ONE_EXPLAINER = re.compile(r"([a-z0-9/-]+)=(.+)")  # the parameters of a relation come after a colon


def _parse_relations(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> Any:
    """Return one relation for all explainers, or a mapping of explainers to their relations."""
    matches = [(_OF_ONE_EXPLAINER.fullmatch(text), text) for text in texts]
    common = [text for match, text in matches if match is None]
    if len(texts) > 1 and common:
        raise click.UsageError(
            f"--relation is given {len(texts)} times: name the explainer of each, "
            f"--relation shap={common[0]}."
        )
    return common[0] if common else {match[1]: match[2] for match, _ in matches if match} or None


_compare_options = combine(
    option(
        "--explainer NAME",
        EXPLAINER,
        "Compare this explainer (a name, or name:param=value,…); can be given several times.",
        "explainers",
        multiple=True,
        required=True,
    ),
    option(
        "--discretize NAME",
        MEASURE,
        "Compare with this discretizer, such as 1fp or sign; can be given several times.  "
        f"{DISCRETIZER_DEFAULT}",
        "discretizers",
        multiple=True,
    ),
    input_options,
    option(
        "--relation [EXPLAINER=]NAME",
        MEASURE,
        "Use this relation for sufficiency, for all explainers or for one (shap=same-top-features:k=2); "
        "can be given several times, once for each explainer.",
        "relation",
        multiple=True,
        callback=_parse_relations,
    ),
    estimate_options,
    prediction_options,
    id_option,
    running_options,
    output_options,
)


def comparison_command(function: Callable[..., Any]) -> click.Command:
    """Turn a function that takes a comparison and returns a report into a verb.

    The verb has the function's own options, by click's decorators, and then the options of
    `faithkit compare`. It prints the report, and writes the files of --out.

    Examples
    --------
    >>> import click, faithkit
    >>> @faithkit.plugin.comparison_command
    ... @click.option("--loudly", is_flag=True)
    ... def winners(comparison, loudly):
    ...     return ", ".join(comparison.best()) + "!" * loudly
    >>> [option.name for option in winners.params][:2]
    ['loudly', 'explainers']
    """

    def verb(
        id: str | None,
        inputs: dict[str, Any],
        output: dict[str, Any],
        **options: Any,
    ) -> None:
        from faithkit.run.api import compare

        own_options = {
            param.name: options.pop(param.name) for param in own_params(function) if param.expose_value
        }
        check_components(options)
        options["discretizers"] = options["discretizers"] or None
        outputs = check_outputs(**output)
        prepared = prepare_inputs(inputs, options, id=id)
        comparison = compare(**prepared.evaluation_arguments(), ids=prepared.ids, **options)
        comparison = add_origin(comparison, inputs, prepared)
        deliver(function(comparison, **own_options), outputs)

    return build_verb(function, verb, _compare_options)


@comparison_command
def command(comparison: "Comparison") -> "Comparison":
    """Compare explainers and discretizers on the same rows and predictions.

    Every explainer explains once. Differences are paired. The report recommends one system, or says why none
    can be recommended. A system without sufficiency is listed apart if another one has it. An explainer that
    fails is left out, with the reason.
    """
    return comparison


command.epilog = """\b
Examples:
  faithkit compare --data iris --explainer shap --explainer tree
  faithkit compare --explainer shap --discretize 1fp --discretize sign --samples 100"""
