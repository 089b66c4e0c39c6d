"""Convert reason codes to rules, with a table of what each code claims about its row.

The explanation of a row is the conjunction of the claims of its codes. A code whose claim no column can show
makes the explanation of its row missing: without that claim, the rule would say less than the reasons do.
"""

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import faithkit
from faithkit import Explanations, Rule
from faithkit.errors import InputError, warn
from faithkit.plugin import (
    NoneOf,
    OneOf,
    RowContext,
    did_you_mean,
    join_few,
    join_words,
    take_rows,
)
from faithkit_logged_reasons.rule_texts import parse_rule
from faithkit_logged_reasons.vocabulary import Column, Vocabulary

_FALSE_REASON = "false reason"  # how the remark about a false reason begins
_MAX_EXAMPLES = 3
_EXAMPLE = 'R12 = "delinquencies > 2"'


def parse_reasons(
    codes: Any,
    claims: Mapping[Any, str] | str | PathLike[str],
    X: Any,
    *,
    separator: str | None = None,
) -> Explanations:
    """Convert reason codes to rules: the explanation of a row is the conjunction of what its codes claim.

    Parameters
    ----------
    codes : DataFrame, Series, or sequence of n values
        The codes of each row, in one or several columns. A value has one code, a list of codes, or several
        codes with a `separator` between them. An empty value is no reason.
    claims : mapping of codes to texts, or path
        What each code claims about its row, as conditions on the columns of X: ``{"R12": "delinquencies >
        2"}``; or a TOML file with such lines. A code with an empty text claims nothing that X can show.
    X : DataFrame or other rows
        The instances.
    separator : str, optional
        What stands between the codes of a value.

    Returns
    -------
    faithkit.Explanations
        Rules, for the relation `in-scope`. A row without a reason, or with a code that has no claim, is
        missing. `remarks` names the codes without a claim, and the false reasons: the codes whose claims
        their own row does not satisfy.

    Raises
    ------
    InputError
        If a code is not among the claims, or a claim is no condition on the columns of X.

    Examples
    --------
    >>> import faithkit_logged_reasons
    >>> X = pd.DataFrame({"delinquencies": [4, 0, 1], "income": [900, 400, 800]})
    >>> claims = {"R12": "delinquencies > 2", "R20": "income < 500"}
    >>> codes = ["R12", "R12;R20", None]
    >>> explanations = faithkit_logged_reasons.parse_reasons(codes, claims, X, separator=";")
    >>> print(*explanations.values, sep=" | ")
    delinquencies > 2 | delinquencies > 2 and income < 500 | None
    >>> explanations.remarks.tolist()
    [None, 'false reason R12', None]
    """
    return faithkit.plugin.adapt(codes, X=X, adapter="reason-codes", claims=claims, separator=separator)


class ReasonCodes:
    """Read codes of reasons as rules: the conjunction of what the codes of a row claim about it.

    Parameters
    ----------
    claims : mapping of codes to texts, or path
        What each code claims about its row, as conditions on the columns of X; or a TOML file with a line
        such as ``R12 = "delinquencies > 2"`` for each code. A code with an empty text claims nothing.
    separator : str, optional
        What stands between the codes of a value, such as ";".
    """

    def __init__(self, claims: Mapping[Any, str] | str | PathLike[str], separator: str | None = None) -> None:
        self._source, self._claim_by_code = _load_claims(claims)
        self._separator = separator

    def takes(self, texts: Sequence[str | tuple[str, ...]]) -> bool:
        """Return whether all codes have a line among the claims."""
        code_sets = (_split_value(text, self._separator) for text in texts)
        return set(chain.from_iterable(code_sets)) <= set(self._claim_by_code)

    def explanations(self, values: Any, context: RowContext) -> Explanations:
        """Return the rule of each row, with remarks about codes without a claim and about false reasons."""
        X, reasons = context.X, StatedReasons.of(values, self._separator)
        if X is None:
            raise InputError(
                "codes make claims about rows, which are missing: give them as X (CLI: --features)."
            )
        _check_codes(reasons, self._claim_by_code, self._source)
        vocabulary = Vocabulary.of(X)
        rule_by_code = {
            code: _parse_claim(code, claim, vocabulary, self._source) if claim else None
            for code, claim in self._claim_by_code.items()
        }
        for code in sorted(set(chain.from_iterable(reasons.code_sets))):
            _warn_about_unknown_words(code, rule_by_code[code], vocabulary, self._source)
        rules = np.fromiter(
            (_conjoin([rule_by_code[code] for code in codes]) for codes in reasons.code_sets), dtype=object
        )
        return Explanations.of(
            rules[reasons.set_of_row],
            kind="rule",
            relation="in-scope",
            instances=X,
            remarks=_remark_codes(reasons, rule_by_code, X),
        )

    def notes(self, explanations: Explanations, ids: "pd.Series[Any] | None") -> tuple[str, ...]:
        """Return a note that names some rows with false reasons, so that people can look at them."""
        return note_false_reasons(explanations, ids)


@attrs.frozen(eq=False)
class StatedReasons:
    """The codes of each row: all distinct sets of codes, and the position of each row's set among them.

    Examples
    --------
    >>> reasons = StatedReasons.of(pd.DataFrame({"first": [7, 7, None], "second": ["A ", None, ""]}))
    >>> [reasons.code_sets[number] for number in reasons.set_of_row]
    [('7', 'A'), ('7',), ()]
    """

    code_sets: list[tuple[str, ...]]
    set_of_row: NDArray[np.int64]

    @classmethod
    def of(cls, codes: Any, separator: str | None = None) -> "StatedReasons":
        """Read the codes of a table, or of a column."""
        is_table = isinstance(codes, pd.DataFrame)
        table = codes if is_table else pd.DataFrame({"codes": _as_objects(codes)})
        columns = [_factorize_values(table.iloc[:, j]) for j in range(table.shape[1])]
        numbers = np.column_stack([value_numbers for value_numbers, _ in columns])
        codes_by_number = [
            [*(_split_value(value, separator) for value in values), ()] for _, values in columns
        ]
        distinct_rows, set_of_row = np.unique(numbers, axis=0, return_inverse=True)
        code_sets = []
        for row in distinct_rows:  # an empty value has the number −1, which selects the last item
            stated = (codes[number] for codes, number in zip(codes_by_number, row, strict=True))
            code_sets.append(tuple(sorted(set(chain.from_iterable(stated)))))
        return cls(code_sets, set_of_row.reshape(-1))

    def find_rows(self, code: str) -> NDArray[np.intp]:
        """Return the rows that state a code."""
        is_stated = np.array([code in codes for codes in self.code_sets], dtype=bool)
        return np.flatnonzero(is_stated[self.set_of_row])


def read_claims(path: str | PathLike[str]) -> dict[str, Any]:
    r"""Read the claim of each code from a TOML file; the claim is empty if no column can show it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "reasons.toml")
    >>> _ = path.write_text('R12 = "delinquencies > 2"\nR99 = ""  # other reasons\n')
    >>> read_claims(path)
    {'R12': 'delinquencies > 2', 'R99': ''}
    """
    try:
        claims = tomllib.loads(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"cannot read the reasons in {path} ({error.strerror}). Check the path.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(
            f"{path} is no TOML: {error}. Expected a line such as {_EXAMPLE} for each code, with the claim "
            "in quotes."
        ) from None
    for code, claim in claims.items():
        if isinstance(claim, dict):
            raise InputError(
                f"{code!r} in {path} is a table; expected a line such as {_EXAMPLE} for each code. Leave "
                'headings out, and quote a code with a dot in it: "A.1" = "…".'
            )
    return claims


def note_false_reasons(explanations: Explanations, ids: "pd.Series[Any] | None") -> tuple[str, ...]:
    """Return a note that names some rows with false reasons, so that people can look at them.

    Examples
    --------
    >>> explanations = parse_reasons(["R1", "R1"], {"R1": "debt > 2"}, pd.DataFrame({"debt": [3, 1]}))
    >>> note_false_reasons(explanations, pd.Series([4711, 4712], name="customer"))
    ('1 of 2 rows state a reason whose claim they do not satisfy, such as row 1 (customer 4712).',)
    """
    remarks = () if explanations.remarks is None else map(str, explanations.remarks)
    rows = [row for row, remark in enumerate(remarks) if remark.startswith(_FALSE_REASON)]
    if not rows:
        return ()
    examples = [
        f"row {row}" if ids is None else f"row {row} ({ids.name} {ids.iloc[row]})"
        for row in rows[:_MAX_EXAMPLES]
    ]
    return (
        f"{len(rows):,} of {len(explanations):,} rows state a reason whose claim they do not satisfy, "
        f"such as {join_words(examples)}.",
    )


def _load_claims(claims: Mapping[Any, str] | str | PathLike[str]) -> tuple[str, dict[str, str]]:
    """Return the name of the claims for messages, and the claims by the text of their codes."""
    if not isinstance(claims, Mapping | str | PathLike):
        raise InputError(
            f"the claims are a {type(claims).__name__}; expected a dictionary of codes and texts, or the "
            f"path of a file with lines such as {_EXAMPLE}."
        )
    source = "the claims" if isinstance(claims, Mapping) else str(claims)
    claim_by_code = claims if isinstance(claims, Mapping) else read_claims(claims)
    stripped_claims: dict[str, str] = {}
    for code, claim in claim_by_code.items():
        if not isinstance(claim, str):
            raise InputError(
                f"the claim of {code!r} in {source} is {claim!r:.60}; expected a text, such as {_EXAMPLE}."
            )
        text = _code_text(code)
        if text in stripped_claims:
            raise InputError(f"the code {text!r} is twice in {source}, up to blanks and types: drop one.")
        stripped_claims[text] = claim.strip()
    return source, stripped_claims


def _as_objects(values: Iterable[Any]) -> NDArray[Any]:
    return np.fromiter(values, dtype=object)


def _factorize_values(column: pd.Series) -> tuple[NDArray[Any], Iterable[Any]]:
    """Return a number for each value of a column, and the distinct values by number; lists become tuples."""
    if column.dtype != object:
        codes, distinct = pd.factorize(column)
        return codes, distinct
    values = (tuple(value) if isinstance(value, list | set | np.ndarray) else value for value in column)
    try:
        codes, distinct = pd.factorize(_as_objects(values))
        return codes, distinct
    except TypeError as error:
        raise InputError(
            f"codes cannot be read ({error}): give a code, or a list of codes, in each row."
        ) from None


def _split_value(value: Any, separator: str | None) -> tuple[str, ...]:
    parts: Iterable[Any] = value if isinstance(value, tuple) else [value]
    if isinstance(value, str):
        items = _parse_list(value)
        parts = items if items is not None else value.split(separator) if separator else [value]
    return tuple(text for text in map(_code_text, parts) if text)


def _parse_list(text: str) -> list[Any] | None:
    """Return the items of a list in JSON, which is how JSON Lines are read; None for any other text."""
    try:
        items = json.loads(text) if text.startswith("[") else None
    except ValueError:
        return None
    return items if isinstance(items, list) else None


def _code_text(code: Any) -> str:
    """Return a code as people write it; pandas converts integers to floats if values are missing."""
    if pd.isna(code):
        return ""
    return repr(float(code)).removesuffix(".0") if isinstance(code, float) else str(code).strip()


def _check_codes(reasons: StatedReasons, claims: Mapping[str, str], source: str) -> None:
    unknown = sorted(set(chain.from_iterable(reasons.code_sets)) - set(claims))
    if unknown:
        suggestion = did_you_mean(unknown[0], claims)
        raise InputError(
            f"rows state codes that are not in {source}: {join_few(map(repr, unknown))} (row "
            f"{reasons.find_rows(unknown[0])[0]} states {unknown[0]!r}).{suggestion and ' '}{suggestion} Add "
            f"what each code claims, such as {_EXAMPLE}, or an empty text if no column can show it."
        )


def _parse_claim(code: str, claim: str, vocabulary: Vocabulary, source: str) -> Rule:
    try:
        return parse_rule(claim, vocabulary)
    except InputError as error:
        contents = [
            _describe_content(column)
            for name, column in vocabulary.columns.items()
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", claim)
        ]
        named = f"Of its columns, {join_few(contents)}."
        hint = named if contents else _suggest_column(claim.split()[0], vocabulary)
        raise InputError(
            f"the claim of {code!r} in {source} cannot be read: {error} {hint} Write conditions on the "
            'columns of --features (X), with "and" between them: on numbers with <, ≤, >, ≥ or =, on texts '
            "with = or in {a, b}."
        ) from None


def _suggest_column(word: str, vocabulary: Vocabulary) -> str:
    names = list(vocabulary.columns)
    return did_you_mean(word, names) or f"Available: {join_few(map(repr, names))}."


def _warn_about_unknown_words(code: str, rule: Rule | None, vocabulary: Vocabulary, source: str) -> None:
    """Warn about words of a claim that no row has in their column, such as misspelt ones."""
    column_by_name = {column.name: column for column in vocabulary.columns.values()}
    for predicate in () if rule is None else rule.predicates:
        if not isinstance(predicate, OneOf | NoneOf):
            continue
        column = column_by_name[predicate.column]
        values = set(chain.from_iterable(column.values_by_text.values()))
        words = [f"{word!r:.40}" for word in predicate.values if word not in values]
        if words and not column.is_numeric:
            subject = f"the word {words[0]}, which occurs" if len(words) == 1 else "words that occur"
            rest = "" if len(words) == 1 else f": {join_few(words)}"
            examples = join_few(f"{text!r:.40}" for text in column.values_by_text)
            warn(
                f"the claim of {code!r} in {source} has {subject} nowhere in the column "
                f"{predicate.column!r}{rest}. The column has {examples}: write words as in the column.",
            )


def _describe_content(column: Column) -> str:
    """Describe the content of a column; for texts, by the first that is not a number."""
    if column.is_numeric:
        content = "dates" if column.has_dates else "True or False" if column.values_by_text else "numbers"
        return f"{column.name!r} has {content}"
    example = next((text for text in column.values_by_text if not re.fullmatch(r"[\d.+-]*", text)), "")
    return f"{column.name!r} has texts, such as {example!r:.40}"


def _conjoin(rules: Sequence[Rule | None]) -> Rule | None:
    """Return the conjunction of rules; None if there is no rule, or one of them is unknown."""
    known = [rule for rule in rules if rule is not None]
    if not rules or len(known) < len(rules):
        return None
    return Rule(chain.from_iterable(rule.predicates for rule in known))


def _remark_codes(
    reasons: StatedReasons, rule_by_code: Mapping[str, Rule | None], X: Any
) -> NDArray[Any] | None:
    """Return a remark for each row with false reasons or with codes without a claim; None if there is none.

    A reason is false if the row that states it does not satisfy its claim.
    """
    false_codes, unclaimed_codes = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for code, rule in sorted(rule_by_code.items()):
        rows, codes_by_row = reasons.find_rows(code), unclaimed_codes
        if rule is not None:
            rows, codes_by_row = rows[~rule.covers(take_rows(X, rows))], false_codes
        for row in rows:
            codes_by_row[row].append(code)
    if not false_codes and not unclaimed_codes:
        return None
    remarks = np.full(len(reasons.set_of_row), None, dtype=object)
    for row in {**false_codes, **unclaimed_codes}:
        false_text = _name_reasons(_FALSE_REASON + "{} {}", false_codes[row])
        unclaimed_text = _name_reasons("reason{} {} without a claim", unclaimed_codes[row])
        remarks[row] = " and ".join(filter(None, (false_text, unclaimed_text)))
    return remarks


def _name_reasons(template: str, codes: Sequence[str]) -> str:
    """Return a part of a remark, without a colon, because a colon would end the remark."""
    plural = "" if len(codes) == 1 else "s"
    return template.format(plural, join_words(codes).replace(": ", " ")) if codes else ""
