"""Reason codes: rows that satisfy the stated reasons and got another decision, and reasons that are false."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from faithkit_logged_reasons import parse_reasons
from faithkit_logged_reasons.reason_codes import ReasonCodes
from looping import one_test

import faithkit
from faithkit.cli import main
from faithkit.errors import FaithkitWarning, InputError, ParameterError

N = 90
ROWS = np.arange(N)
X = pd.DataFrame({"late": ROWS % 5, "debt": ROWS % 7 / 10, "job": np.where(ROWS % 2, "clerk", "cook")})
CLAIMS = {"12": "late > 2", "7": "debt < 0.3 and job = cook", "99": ""}
HOLDS = {
    12: lambda person: person["late"] > 2,
    7: lambda person: person["debt"] < 0.3 and person["job"] == "cook",
}
PEOPLE = X.to_dict("records")
# a refusal needs one of the reasons and an even number; those who are approved have no reason
REASONS = [[code for code, holds in HOLDS.items() if holds(PEOPLE[row]) and row % 4 < 3] for row in ROWS]
DECISIONS = np.where([len(codes) > 0 for codes in REASONS], "refused", "approved")
REFUSED, APPROVED = np.flatnonzero(DECISIONS == "refused"), np.flatnonzero(DECISIONS == "approved")


def score_refusals(explanations):
    pool = X.iloc[APPROVED], DECISIONS[APPROVED]
    return faithkit.score(DECISIONS[REFUSED], explanations.take(REFUSED), X=X.iloc[REFUSED], pool=pool)


def test_sufficiency_compares_rows_that_satisfy_all_stated_reasons():
    shares = []
    for row in REFUSED:
        like = [i for i in ROWS if i != row and all(HOLDS[code](PEOPLE[i]) for code in REASONS[row])]
        shares.append(np.mean(DECISIONS[like] == "refused"))
    result = score_refusals(parse_reasons(REASONS, CLAIMS, X))
    assert result.sufficiency.value == pytest.approx(np.mean(shares))
    assert 0.5 < result.sufficiency.value < 0.9
    assert result.remarks == result.why_unexplained == {}
    assert "nothing was tested" not in result.next_steps[0]


def pad_codes():
    return [[*codes, None, None][:2] for codes in REASONS]


FORMS = {
    "integers in two columns": (pd.DataFrame(pad_codes(), dtype="Int64"), None),
    "floats in two columns": (pd.DataFrame(pad_codes(), dtype=float), None),
    "an array with blanks": (np.array([[f"{code} " if code else "  " for code in pair] for pair in pad_codes()]), None),
    "texts with a separator": (pd.Series([" ; ".join(map(str, codes)) for codes in REASONS]), ";"),
    "a code stated twice": ([[*codes, *codes[::-1]] for codes in REASONS], None),
    "lists in JSON": ([json.dumps(list(map(str, codes))) for codes in REASONS], None),
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("codes", "separator"), FORMS.values(), ids=FORMS)
def test_codes_may_be_written_in_any_form(codes, separator):
    explanations = parse_reasons(codes, CLAIMS, X, separator=separator)
    expected = parse_reasons(REASONS, CLAIMS, X)
    assert explanations.values.tolist() == expected.values.tolist()
    assert explanations.missing.tolist() == (DECISIONS == "approved").tolist()


# --- codes without a claim, and false reasons ---------------------------------------------------------------


def test_a_code_without_a_claim_leaves_its_row_unexplained_even_beside_a_claim():
    explanations = parse_reasons(["99", "12;99", "12"], CLAIMS, X[3:6], separator=";")
    assert explanations.missing.tolist() == [True, True, False]
    assert explanations.remarks.tolist() == [
        "reason 99 without a claim",
        "reason 99 without a claim",
        "false reason 12",
    ]


def test_false_reasons_are_counted_by_their_codes():
    rows = pd.DataFrame({"late": [3, 1, 1, 0], "debt": [0.1, 0.1, 0.9, 0.9], "job": "cook"})
    codes = [[12, 7], [12, 7], [12, 7], [7, 12, 99]]
    explanations = parse_reasons(codes, CLAIMS, rows)
    result = faithkit.score(["no", "no", "yes", "yes"], explanations, X=rows)
    assert result.remarks == {"false reason 12": 1, "false reasons 12 and 7": 1}
    assert result.why_unexplained == {"false reasons 12 and 7 and reason 99 without a claim": 1}


def test_a_missing_value_satisfies_a_claim_only_if_the_claim_says_so():
    rows = pd.DataFrame({"late": [3, None]})
    strict = parse_reasons([12, 12], {12: "late > 2"}, rows)
    assert strict.remarks.tolist() == [None, "false reason 12"]
    assert parse_reasons([12, 12], {12: "late > 2 (or missing)"}, rows).remarks is None


# --- files --------------------------------------------------------------------------------------------------

TOML = '\ufeff# codes\r\n12 = "late > 2"\r\n7 = "debt < 0.3 and job = cook"\r\n99 = ""\r\n'


def write_csv(frame, path):
    frame.to_csv(path / "log.csv", index=False, lineterminator="\r\n")
    return path / "log.csv"


def write_parquet(frame, path):
    frame.to_parquet(path / "log.parquet")
    return path / "log.parquet"


def write_json_lines(frame, path):
    frame.to_json(path / "log.jsonl", orient="records", lines=True)
    return path / "log.jsonl"


def run_score(*args):
    return CliRunner().invoke(main, ["score", *map(str, args), "--diagnose", "none"])


@pytest.fixture
def claims(tmp_path):
    (tmp_path / "reasons.toml").write_text(TOML, newline="")
    return tmp_path / "reasons.toml"


@one_test
@pytest.mark.parametrize("write", [write_csv, write_parquet, write_json_lines])
def test_a_log_in_any_format_is_measured_as_in_python_and_names_false_reasons(tmp_path, claims, write):
    stated = pd.DataFrame(pad_codes(), dtype=float)
    stated.iloc[REFUSED[0], 1] = 99
    stated.iloc[APPROVED[1]] = [12, 7]  # false, stated for an approval
    log = X.assign(customer=4700 + ROWS, decision=DECISIONS, reason_1=stated[0], reason_2=stated[1])
    roles = ["--prediction", "decision", "--explanation", "reason_*", "--features", "late,debt,job"]
    options = [
        "--as",
        f"reason-codes:claims={claims}",
        "--unexplained",
        "pool",
        "--id",
        "customer",
        "--contradictions",
        1,
    ]
    shown = run_score(write(log, tmp_path), *roles, *options, "--out", tmp_path / "result.json")
    assert shown.exit_code == 0, shown.stderr
    assert "warning" not in shown.stderr
    explained = np.sort([*REFUSED, APPROVED[1]])
    others = np.delete(ROWS, explained)
    expected = faithkit.score(
        DECISIONS[explained],
        parse_reasons(stated, CLAIMS, X).take(explained),
        X=X.iloc[explained],
        pool=(X.iloc[others], DECISIONS[others]),
    ).to_dict()
    payload = json.loads((tmp_path / "result.json").read_text())
    assert payload["measures"]["sufficiency"]["value"] == expected["measures"]["sufficiency"]["value"]
    assert payload["why_unexplained"] == expected["why_unexplained"] == {"reason 99 without a claim": 1}
    assert payload["remarks"] == expected["remarks"]
    assert sum(payload["remarks"].values()) == 1
    row = list(explained).index(APPROVED[1])
    note = f"1 of {len(explained)} rows state a reason whose claim they do not satisfy, such as row {row} (customer"
    assert payload["notes"][0] == f"{note} {4700 + APPROVED[1]})."
    assert "get approved" in shown.stdout


@one_test
@pytest.mark.parametrize("weights", [None, np.arange(1, 91)])
def test_all_rows_without_a_reason_are_scanned_as_one_explanation(weights):
    explanations = parse_reasons([12, *[None] * 89], {12: "late > 2"}, X)
    result = faithkit.score(DECISIONS, explanations, X, weights=weights)
    assert len(result.evidence.counts["sufficiency"].explanations) == 2
    assert result.n_explanations == 90


def test_a_warning_says_that_groups_of_refusals_are_measured_without_the_pool():
    explanations = parse_reasons([12] * 6, {12: "late > 2"}, X[:6])
    result = faithkit.score(["refused"] * 6, explanations, X[:6], pool=(X[6:12], ["approved"] * 6))
    with pytest.warns(faithkit.errors.FaithkitWarning, match="groups are measured without the pool"):
        result.by([0, 1] * 3)


# --- refusals -----------------------------------------------------------------------------------------------

FAULTS = {
    "an unknown code": ([12, "012", 8], CLAIMS, r"not in the claims: '012', '8' \(row 1 states '012'\)\. Did you mean '12'\? Add what"),
    "an unknown column": ([12], {12: "debit > 2"}, r"claim of '12' in the claims cannot be read: .* Did you mean 'debt'\? Write"),
    "a text compared with a number": ([12], {12: "job > 3"}, r"'job' has texts, such as 'cook'\. Write conditions on .* on texts with = or"),
    "a number compared with a text": ([12], {12: "late = often"}, r"Of its columns, 'late' has numbers\. Write"),
    "a code that two claims have": ([12], {12: "late > 2", " 12 ": "late > 3"}, r"the code '12' is twice in the claims"),
    "a list in a list": ([[[12]]], CLAIMS, r"codes cannot be read .*: give a code, or a list of codes, in each row"),
    "claims without codes": ([12], ["late > 2"], r"the claims are a list; expected a dictionary"),
    "a claim that is no text": ([12], {12: 2}, r"the claim of 12 in the claims is 2; expected a text"),
    "a sentence": ([12], {12: "too many"}, r"'too many' names no column\. Available: 'late', 'debt', 'job'\. Write"),
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("codes", "claims", "message"), FAULTS.values(), ids=FAULTS)
def test_codes_and_claims_that_cannot_be_read_are_refused(codes, claims, message):
    with pytest.raises(InputError, match=message):
        parse_reasons(codes, claims, X[: len(codes)])


@one_test
@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("late > 2 and job = Cook", "the word 'Cook', which occurs nowhere in the column 'job'"),
        ("job ≠ Cook", "the word 'Cook', which occurs nowhere in the column 'job'"),
        ("job in {Cook, cook, chef}", "words that occur nowhere in the column 'job': 'Cook', 'chef'"),
    ],
)
def test_a_word_of_a_claim_that_its_column_never_has_is_warned_about(claim, problem):
    message = f"the claim of '12' in the claims has {problem}. The column has 'cook', 'clerk'"
    with pytest.warns(FaithkitWarning, match=re.escape(message)):
        parse_reasons([12] * N, {"12": claim}, X)


def test_numbers_and_claims_that_no_row_states_are_not_warned_about():
    claims = {"12": "late = 77", "7": "job in {cook, clerk}", "8": "job = Cook"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_reasons([12, 7] * (N // 2), claims, X.rename(columns={"late": 1.0}).assign(late=ROWS))


def test_codes_and_rows_that_do_not_belong_together_are_refused():
    with pytest.raises(InputError, match="2 explanations for 90 rows of X"):
        parse_reasons([12, 12], CLAIMS, X)
    with pytest.raises(InputError, match="claims about rows, which are missing: give them as X"):
        parse_reasons([12, 12], CLAIMS, None)
    with_index = X.set_index(np.char.add("c", ROWS.astype(str)))
    with pytest.raises(InputError, match="explanations and X have one index in different orders"):
        parse_reasons(with_index["late"][::-1], CLAIMS, with_index)


FILES = {
    "a claim without quotes": ('12 = "late > 2"\n7 = debt < 0.3\n', r"is no TOML: .*line 2.*with the claim in quotes"),
    "a code twice": ('12 = "late > 2"\n12 = "late > 3"\n', r"is no TOML: .*line 2"),
    "a number": ("12 = 2\n", r"the claim of '12' in .* is 2; expected a text, such as"),
    "a heading": ('[reasons]\n12 = "late > 2"\n', r"'reasons' in .* is a table; .* Leave headings out"),
    "a code with a dot": ('A.1 = "late > 2"\n', r"'A' in .* is a table; .* quote a code with a dot"),
    "another encoding": ('12 = "späte > 2"\n'.encode("latin-1"), "is not UTF-8"),
}  # fmt: skip


@one_test
@pytest.mark.parametrize(("content", "message"), FILES.values(), ids=FILES)
def test_a_file_of_reasons_that_cannot_be_read_is_refused(tmp_path, content, message):
    path = tmp_path / "reasons.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        parse_reasons(REASONS, path, X)
    with pytest.raises(InputError, match=r"cannot read the reasons in .*Check the path"):
        parse_reasons(REASONS, tmp_path / "lost.toml", X)


def test_reasons_without_features_are_refused(tmp_path, claims):
    log = write_parquet(X.assign(decision=DECISIONS, reason=12), tmp_path)
    roles = [
        log,
        "--prediction",
        "decision",
        "--explanation",
        "reason",
        "--as",
        f"reason-codes:claims={claims}",
    ]
    assert "which are missing: give them as X (CLI: --features)" in run_score(*roles).stderr


def test_codes_without_claims_are_refused_with_what_to_write():
    with pytest.raises(ParameterError, match=r"needs the parameter 'claims'\. Write 'reason-codes:claims=…'"):
        faithkit.score(["no"], ["12"], X[:1], adapter="reason-codes")


def test_a_score_reads_codes_with_the_named_adapter(claims):
    codes = [";".join(map(str, codes)) for codes in REASONS]
    result = faithkit.score(DECISIONS, codes, X, adapter=f"reason-codes:claims={claims},separator=;")
    expected = faithkit.score(DECISIONS, parse_reasons(REASONS, CLAIMS, X), X)
    assert result.to_dict()["measures"] == expected.to_dict()["measures"]


def test_codes_are_taken_where_all_of_them_have_a_claim():
    adapter = ReasonCodes(CLAIMS, separator=";")
    assert adapter.takes(["12; 7", "99"])
    assert not adapter.takes(["12", "8"])


def test_codes_are_never_read_unless_that_is_asked_for():
    assert faithkit.score(DECISIONS, ["12"] * N, X).sufficiency is None
