"""Draw wrong edits from the syntax trees of the code: `python tests/mutants/draw.py [N]` prints the first N.

Every comparison, sum, product, number, condition and returned value is as likely as every other, and the order is
fixed by SEED and by the code: a tree that has changed since gives another order. `edits.toml` names the commit whose
draws it holds.
"""

import ast
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 38
ROOT = Path(__file__).parents[2]
WINGS = (
    "faithkit/measure",
    "faithkit/run",
    "faithkit/inputs",
    "faithkit/report",
    "plugins/scoped-rules/faithkit_scoped_rules",
    "plugins/feature-importance/faithkit_feature_importance",
    "plugins/example-based/faithkit_example_based",
)
LEFT_OUT = ("faithkit/run/explaining",)  # rewritten at the time of the draw

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
OPERATIONS = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.BitAnd: "|", ast.BitOr: "&"}
ANNOTATIONS = {"annotation", "returns", "decorator_list"}


@dataclass(frozen=True)
class Draw:
    """An edit of one node: the whole lines around it, before and after."""

    file: str
    line: int
    kind: str
    search: str
    replace: str


class Source:
    """The text of a file, and the places of its syntax tree in it."""

    def __init__(self, path: Path) -> None:
        self.file = path.relative_to(ROOT).as_posix()
        self.data = path.read_bytes()
        self.tree = ast.parse(self.data)
        self.lines = self.data.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[
            node.end_lineno - 1
        ] + node.end_col_offset

    def segment(self, node: ast.AST) -> str:
        """Return the text of a node."""
        begin, end = self.place(node)
        return self.data[begin:end].decode()

    def draw(self, begin: int, end: int, text: str, kind: str) -> Draw:
        """Put text in place of that between two places, and name as many lines before it as make it unique."""
        first = self.data.count(b"\n", 0, begin)
        last = self.data.count(b"\n", 0, end) + 1
        start, stop = self.starts[first], self.starts[last]
        line = first + 1
        while self.data.count(self.data[start:stop].strip()) > 1:
            first -= 1
            start = self.starts[first]
        wrong = self.data[start:begin] + text.encode() + self.data[end:stop]
        return Draw(self.file, line, kind, self.data[start:stop].decode().strip(), wrong.decode().strip())


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk through what runs: no types, decorators or strings in braces."""
    yield tree
    for field, value in ast.iter_fields(tree):
        if field in ANNOTATIONS:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from nodes(child)


def draws_from(source: Source) -> Iterator[Draw]:
    """List each edit of a file."""
    for node in nodes(source.tree):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in COMPARISONS:
                yield between(source, left, right, COMPARISONS[type(operator)], "comparison")
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATIONS:
                yield between(source, left, right, OPERATIONS[type(operator)], "operation")
            case ast.BoolOp(op=operator, values=[left, right]):
                yield between(
                    source, left, right, "or" if isinstance(operator, ast.And) else "and", "and, or"
                )
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield source.draw(*source.place(node), source.segment(operand), "not")
            case ast.Constant(value=bool(value)):
                yield source.draw(*source.place(node), str(not value), "constant")
            case ast.Constant(value=int(value) | float(value)):
                yield source.draw(*source.place(node), repr(value + 1), "constant")
            case ast.If(test=test) | ast.IfExp(test=test):
                if ast.unparse(test) != "TYPE_CHECKING":
                    yield source.draw(*source.place(test), f"not ({source.segment(test)})", "condition")
            case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
                yield source.draw(*source.place(value), "None", "returned value")


def between(source: Source, left: ast.expr, right: ast.expr, sign: str, kind: str) -> Draw:
    """Put another sign between two operands, whatever brackets are around them."""
    begin, end = source.place(left)[1], source.place(right)[0]
    gap = source.data[begin:end].decode()
    brackets = gap[: len(gap) - len(gap.lstrip(") \n"))], gap[len(gap.rstrip("( \n")) :]
    return source.draw(begin, end, f"{brackets[0]}{sign}{brackets[1]}", kind)


def drawn() -> list[Draw]:
    """Return all edits of all wings, in the order in which they are drawn."""
    files = sorted(file for wing in WINGS for file in (ROOT / wing).rglob("*.py"))
    edits = [
        draw
        for file in files
        if not file.relative_to(ROOT).as_posix().startswith(LEFT_OUT)
        for draw in draws_from(Source(file))
    ]
    random.Random(SEED).shuffle(edits)
    return edits


def main() -> None:
    """Print the first draws as tables of `edits.toml`, without tests."""
    n_draws = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    edits = drawn()
    print(f"# {n_draws} of {len(edits)} draws")
    for number, draw in enumerate(edits[:n_draws], 1):
        print(
            f"\n[[drawn]] # {number}\nfile = {draw.file!r}\nsearch = {quoted(draw.search)}\n"
            f"replace = {quoted(draw.replace)}\nwhy = 'line {draw.line}: {draw.kind}'\ntests = []"
        )


def quoted(text: str) -> str:
    """Write text in TOML as it stands."""
    return f"'''\n{text}'''" if "\n" in text or "'" in text else f"'{text}'"


if __name__ == "__main__":
    main()
