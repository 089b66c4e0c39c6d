"""Show explanations for people: weights in words and as bars, words and conditions marked in rows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from faithkit.explanations.predicates import Contains
from faithkit.measure.witnesses import ExplanationView, Weight
from faithkit.report.formats import format_three_digits
from faithkit.report.sheets.sheet import TEXT, Pieces, RowTable, ShownExplanation, WeightBar
from faithkit.wording import join_words, value_text

MAX_NAMED = 5  # weights in a sentence, and patches that are outlined
MAX_BARS = 8
LIMIT_FORMAT = ".6g"  # of the limits in a condition


def show_explanation(
    view: ExplanationView, number: int | None = None, is_swapped: bool = False
) -> ShownExplanation:
    """Return an explanation in words, and as bars if it has more than a few weights.

    Examples
    --------
    >>> weights = (Weight("debt", -0.5), Weight("income", 0.25))
    >>> show_explanation(ExplanationView("…", weights, speaks_for="churn")).sentence
    'income (+0.25) pushes towards churn, debt (−0.5) away from it'
    """
    place = "" if number is None else f"{number}. "
    words, where = describe_weights(view), scope_sentence(view)
    sentence = place + words + (f". It applies where {where}" if where else "")
    if not view.weights or (view.are_signs and len(view.weights) <= MAX_NAMED):
        return ShownExplanation(sentence, place + words, scope=where)
    target = view.speaks_for
    title = f"{view.noun} that push towards {target} or away from it" if target else f"{view.noun} by size"
    ends = (f"away from {target}", f"towards {target}") if target else ("below 0", "above 0")
    has_more = len(view.weights) > MAX_BARS
    return ShownExplanation(
        sentence,
        place + title[0].upper() + title[1:],
        _bars(view.weights[:MAX_BARS], view.are_signs),
        ends,
        where,
        view.text if has_more else None,
        is_swapped,
    )


def scope_sentence(view: ExplanationView) -> str | None:
    """Return the conditions under which weights apply to other rows; None for rules, which say them."""
    if view.is_rule or not view.conditions:
        return None
    return " and ".join(format(predicate, LIMIT_FORMAT) for predicate in view.conditions)


def describe_weights(view: ExplanationView) -> str:
    """Return the largest weights in words, with the class that they speak for.

    Without a class it is the explanation's own text. What a discretizer left no weights of is its text as
    well, with the class.

    Examples
    --------
    >>> signs = tuple(Weight(name, 1.0) for name in ("age", "income"))
    >>> describe_weights(ExplanationView("…", signs, speaks_for="yes", are_signs=True))
    'age and income push towards yes'
    >>> describe_weights(ExplanationView("…", (Weight("age", -2.0),), speaks_for="yes"))
    'age (−2) pushes away from yes'
    """
    shown, n_more = view.weights[:MAX_NAMED], len(view.weights) - MAX_NAMED
    more = f"; {n_more} more push less" if n_more > 0 and not view.are_signs else ""
    more = f"; {n_more} more" if n_more > 0 and view.are_signs else more
    if not view.weights and view.are_importances and view.speaks_for is not None:
        return f"{view.text} (importances for {view.speaks_for})"
    if not view.weights or (view.speaks_for is None and not more):
        return view.text
    if view.speaks_for is None:
        return (
            ", ".join(f"{weight.name} = {value_text(weight.value)}" for weight in shown)
            + f" and {n_more} smaller"
        )
    towards = [_weight_text(weight, view.are_signs) for weight in shown if weight.value > 0]
    away = [_weight_text(weight, view.are_signs) for weight in shown if weight.value < 0]
    parts = [f"{join_words(towards)} {_verb(towards)} towards {view.speaks_for}"] if towards else []
    if away:
        rest = "away from it" if towards else f"{_verb(away)} away from {view.speaks_for}"
        parts.append(f"{join_words(away)} {rest}")
    return ", ".join(parts) + more


def _verb(names: Sequence[str]) -> str:
    return "pushes" if len(names) == 1 else "push"


def _weight_text(weight: Weight, is_sign: bool) -> str:
    name = weight.name
    if weight.box is not None:
        is_pixel = all(stop - start == 1 for start, stop in weight.box)
        name = f"{'pixel' if is_pixel else 'patch'} {name}"
    return name if is_sign else f"{name} ({_number(weight.value)})"


def _number(value: float) -> str:
    return f"{'+' if value > 0 else '−'}{format_three_digits(abs(value))}"


def _bars(weights: Sequence[Weight], are_signs: bool) -> list[WeightBar]:
    """Return bars on a common scale; negative bars end at 0, and positive bars start there."""
    low, high = (pick(0.0, *(weight.value for weight in weights)) for pick in (min, max))
    width = high - low
    return [
        WeightBar(
            weight.name,
            ("+" if weight.value > 0 else "−") if are_signs else _number(weight.value),
            (min(weight.value, 0.0) - low) / width,
            abs(weight.value) / width,
            weight.value > 0,
        )
        for weight in weights
    ]


def mark_rows(
    view: ExplanationView,
    heads: Sequence[str],
    values: Sequence[Mapping[str, Any] | None],
    images: Sequence[Any],
    is_swapped: bool = False,
) -> RowTable:
    """Put rows side by side, and mark what an explanation names and what differs.

    Unknown values are None, and so are images of rows that are none. If `is_swapped`, what speaks for the
    class has the second colour.

    Examples
    --------
    >>> from faithkit.explanations.predicates import Interval
    >>> view = ExplanationView("age ≤ 40", conditions=(Interval("age", high=40),))
    >>> mark_rows(view, ["row 0 → yes", "row 3 → no"], [{"age": 31}, {"age": 28}], []).values
    [('age ≤ 40', True, [[('31', 'named differs')], [('28', 'named differs')]])]
    """
    conditions = _conditions(view)
    named = {*conditions, *(weight.name for weight in view.weights[:MAX_NAMED])}
    rows = [row for row in values if row is not None]
    names = list(rows[0]) if rows and len(rows) == len(heads) else []
    lines = [
        (conditions.get(name, name), name in named, _mark_values(view, name, names, rows)) for name in names
    ]
    outlines = [
        (weight.box, weight.value > 0) for weight in view.weights[:MAX_NAMED] if weight.box is not None
    ]
    known = [image for image in images if image is not None]
    has_images = len(known) == len(heads)
    return RowTable(
        heads,
        lines,
        known if has_images else (),
        outlines,
        _caption(view, len(outlines)) if has_images or names == [TEXT] else "",
        is_swapped,
    )


def _mark_values(
    view: ExplanationView, name: str, names: list[str], rows: Sequence[Mapping[str, Any]]
) -> list[Pieces]:
    values = [value_text(row[name]) for row in rows]
    if names == [TEXT]:
        return [mark_words(text, view) for text in values]
    marks = {"named": name in _conditions(view), "differs": len(set(values)) > 1}
    return [[(text, " ".join(mark for mark, is_set in marks.items() if is_set))] for text in values]


def _conditions(view: ExplanationView) -> dict[str, str]:
    """Return the conditions on each column, in words."""
    texts: dict[str, list[str]] = {}
    for predicate in view.conditions:
        if not isinstance(predicate, Contains):
            texts.setdefault(str(predicate.column), []).append(format(predicate, LIMIT_FORMAT))
    return {column: " and ".join(parts) for column, parts in texts.items()}


def _caption(view: ExplanationView, n_outlined: int) -> str:
    """Say what is outlined, and what dashes mean."""
    weights = view.weights[: n_outlined or None]
    lines = [f"Outlined: the {n_outlined} largest."] if 0 < n_outlined < len(view.weights) else []
    if any(weight.value < 0 for weight in weights):
        lines.append(f"Dashed: away from {view.speaks_for}." if view.speaks_for else "Dashed: below 0.")
    return " ".join(lines)


def mark_words(text: str, view: ExplanationView) -> Pieces:
    """Cut a text into pieces, and mark the words that an explanation names.

    Examples
    --------
    >>> view = ExplanationView("…", conditions=(Contains("good", "word"),))
    >>> mark_words("A Good, goodish film", view)
    [('A ', ''), ('Good', 'for'), (', goodish film', '')]
    """
    words = [
        (_pattern(predicate.token, predicate.tokenizer), "for")
        for predicate in view.conditions
        if isinstance(predicate, Contains)
    ]
    if view.noun == "words":
        words += [
            (_pattern(weight.name, "word"), "for" if weight.value > 0 else "against")
            for weight in view.weights
        ]
    spans = sorted((match.span(), mark) for pattern, mark in words for match in pattern.finditer(text))
    pieces, end = [], 0
    for (start, stop), mark in spans:
        if start >= end:
            pieces += [(text[end:start], ""), (text[start:stop], mark)]
            end = stop
    return [(piece, mark) for piece, mark in (*pieces, (text[end:], "")) if piece]


def _pattern(word: str, tokenizer: str) -> re.Pattern[str]:
    """Return the pattern of a word; the tokenizer "word" has lower case, and ends words at other signs."""
    word, boundary = word.strip() or word, r"\S" if tokenizer == "whitespace" else r"\w"
    flags = re.IGNORECASE if tokenizer == "word" and word == word.lower() else 0
    return re.compile(rf"(?<!{boundary}){re.escape(word)}(?!{boundary})", flags)


def mark_in_line(pieces: Pieces) -> str:
    """Return a text with stars around its marked words, for a terminal.

    Examples
    --------
    >>> mark_in_line([("A ", ""), ("good", "for"), (" film", "")])
    'A *good* film'
    """
    return "".join(f"*{text}*" if mark else text for text, mark in pieces)
