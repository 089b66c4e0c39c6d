"""List the installed components of one kind: ``.. faithkit-components:: explainer``.

Every component becomes a link target, so that any page can write ``:component:`explainer shap```.
"""

import inspect

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.util.docutils import SphinxDirective
from type_links import link

from faithkit.extension.creation import EMPTY, Parameter, parameters
from faithkit.extension.entries import Entry
from faithkit.extension.registry import KINDS, registry


def facts(entry: Entry) -> list[str]:
    """Return the declaration of a component as lines of reStructuredText."""
    component = entry.component
    presets = ", ".join(f"``{name}={value!r}``" for name, value in component.params.items())
    lines = [f"{component.summary}", "", f"From `{entry.distribution}`."]
    if component.kinds:
        verb = "Makes" if entry.kind == "explainer" else "Reads"
        lines[-1] += f" {verb} explanations of kind {_codes(component.kinds)}."
    if entry.kind == "explainer":
        lines[-1] += f" Explains {_codes(component.inputs)}."
    if component.requires:
        lines[-1] += f" Needs {_codes(component.requires)}."
    if presets:
        lines[-1] += f" Sets {presets}."
    return [*lines, ""]


def _codes(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def documentation(entry: Entry) -> list[str]:
    """Return the factory's docstring without its examples, rendered by napoleon and `type_links`."""
    factory = entry.component.load()
    text = inspect.getdoc(factory) or ""
    for unwanted in ("Examples\n--------", "Attributes\n----------"):
        text = text.partition(unwanted)[0]
    as_list = Config(napoleon_use_param=False)  # a component is not a Python object, so it has no fields
    lines = NumpyDocstring(text, as_list, what="class", obj=factory).lines()
    link(None, "class", "", factory, None, lines)
    return lines


def signature_part(parameter: Parameter) -> str:
    """Return a parameter as in a signature, with the presets of the component."""
    value = parameter.default if parameter.preset is EMPTY else parameter.preset
    return parameter.name if value is EMPTY else f"{parameter.name}={value!r}"


class Components(SphinxDirective):
    """List every component of one kind."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Render one description for each component."""
        kind = self.arguments[0]
        if kind not in KINDS:
            raise self.error(f"no such kind: {kind}; there are {', '.join(KINDS)}")
        lines: list[str] = []
        for entry in registry().entries(kind):
            lines += self._entry(entry)
        return self.parse_text_to_nodes("\n".join(lines))

    def _entry(self, entry: Entry) -> list[str]:
        signature = ", ".join(map(signature_part, parameters(entry))) if entry.kind != "command" else ""
        body = facts(entry)
        if entry.kind != "command":
            body += documentation(entry)
        head = f".. component:: {entry.kind} {entry.component.name} {signature}".rstrip()
        return [head, "", *(f"   {line}".rstrip() for line in body), ""]


def parse(env: BuildEnvironment, text: str, node: addnodes.desc_signature) -> str:
    """Render ``explainer shap n_samples=100`` as a signature, and return the name of the link target."""
    kind, name, *rest = text.split(" ", 2)
    node += addnodes.desc_annotation(f"{kind} ", f"{kind} ")
    node += addnodes.desc_name(name, name)
    if rest:
        node += addnodes.desc_annotation(f"  {rest[0]}", f"  {rest[0]}")
    return f"{kind} {name}"


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive and the object type `component`."""
    app.add_object_type("component", "component", objname="component", parse_node=parse)
    app.add_directive("faithkit-components", Components)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
