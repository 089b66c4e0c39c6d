"""A column of dates is numbers to explainers and dates to the model, and rules say it in dates."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from faithkit_logged_reasons import parse_rule
from looping import one_test
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import faithkit
from faithkit import Rule
from faithkit.inputs.date_texts import with_dates
from faithkit.inputs.evaluation_inputs import prepare
from faithkit.plugin import Encoder, Interval

RNG = np.random.default_rng(0)
N = 120
DAYS = pd.to_datetime("2024-01-01") + pd.to_timedelta(RNG.integers(0, 200, N), "D")
X = pd.DataFrame({"signed": DAYS, "income": RNG.normal(size=N).round(2)})
X.loc[::20, "signed"] = pd.NaT
Y = np.where((X["signed"] < "2024-04-10") & (X["income"] > -0.5), "keep", "leave")


def day_numbers(dates):
    """Fails on anything but dates."""
    return pd.DataFrame({name: (dates[name] - pd.Timestamp("2024-01-01")).dt.days for name in dates})


def pipeline(model):
    days = make_pipeline(FunctionTransformer(day_numbers), SimpleImputer())
    return make_pipeline(
        make_column_transformer((days, ["signed"]), remainder="passthrough"), StandardScaler(), model
    )


FOREST = pipeline(RandomForestClassifier(5, max_depth=4, random_state=0)).fit(X, Y)
LINE = pipeline(LogisticRegression()).fit(X, Y)


class Deadline:
    """A model that gives the labels, and is faster than a forest."""

    classes_ = np.array(["keep", "leave"])

    def predict_proba(self, rows):
        days = day_numbers(rows[["signed"]])["signed"].fillna(200)
        keep = np.where((days < 100) & (rows["income"] > -0.5), 0.9, 0.3 - days / 1000)
        return np.column_stack([keep, 1 - keep])

    def predict(self, rows):
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


DTYPES = {
    "nanoseconds": "datetime64[ns]",
    "seconds": "datetime64[s]",
    "a time zone": pd.DatetimeTZDtype("us", "Europe/Berlin"),
    "Arrow": pd.ArrowDtype(pa.timestamp("ns")),
    "Arrow with a time zone": pd.ArrowDtype(pa.timestamp("us", "Europe/Berlin")),
    "Arrow days": pd.ArrowDtype(pa.date32()),
}


def dates(dtype):
    texts = ["2024-01-05", "1969-12-31", "2031-05-06", None]
    hours = [] if "date32" in str(dtype) else ["2024-01-05 13:14:15"]
    naive = pd.Series(pd.to_datetime([*texts, *hours], format="ISO8601"))
    zone = getattr(dtype, "tz", None) or getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None)
    return (naive.dt.tz_localize(str(zone)) if zone else naive).astype(dtype)


@one_test
@pytest.mark.parametrize("name", DTYPES)
def test_dates_come_back_as_they_were(name):
    column = dates(DTYPES[name])
    table = pd.DataFrame({"when": column, "x": 1.0})
    encoder = Encoder(table)
    codes = encoder.encode(table)
    assert np.isnan(codes[3, 0])
    pd.testing.assert_frame_equal(encoder.decode(codes), table)


def test_codes_of_dates_are_days_in_utc():
    table = pd.DataFrame({"when": pd.to_datetime(["1970-01-03", "1969-12-31 12:00"], format="ISO8601")})
    assert Encoder(table).encode(table).tolist() == [[2.0], [-0.5]]
    berlin = table.assign(when=table["when"].dt.tz_localize("Etc/GMT-6"))  # six hours before UTC's midnight
    assert Encoder(berlin).encode(berlin).tolist() == [[1.75], [-0.75]]


def test_what_is_no_date_is_refused_where_the_background_has_dates():
    encoder = Encoder(X)
    with pytest.raises(faithkit.errors.InputError, match="the background has dates there"):
        encoder.encode(X.assign(signed=3.0))


@one_test
@pytest.mark.parametrize(
    "explainer",
    [
        "shap", "lime", "gradient", "anchors", "empirical-anchors", "tree", "dice", "nearest-neighbor",
        "nearest-counterfactual",
    ],
)  # fmt: skip
def test_explainers_take_dates(explainer):
    model = {"gradient": LINE, "shap": FOREST}.get(explainer, Deadline())
    result = faithkit.evaluate(model, X.iloc[19:21], explainer=explainer, background=X.iloc[:40])
    assert result.n == 2
    assert result.unexplained == (explainer == "dice")  # which changes whole rows only: row 20 has no date


@one_test
@pytest.mark.parametrize("explainer", ["tree", "anchors", "empirical-anchors"])
def test_rules_say_dates_and_hold_for_their_own_rows(explainer):
    result = faithkit.evaluate(Deadline(), X.iloc[:3], explainer=explainer, background=X.iloc[:60])
    rules = result.rows.explanations.values
    for row, rule in enumerate(rules):
        assert rule.covers(X.iloc[[row]]).all()
        assert parse_rule(str(rule), X).covers(X).tolist() == rule.covers(X).tolist()
        assert Rule.from_json(rule.to_json()) == rule
    assert any("2024-0" in str(rule) for rule in rules)


def test_an_interval_of_dates_is_written_as_it_was_cut():
    assert str(Interval("signed", high=1.5 + 1e-13, dates=True)) == "signed ≤ 1970-01-02 12:00:00"
    assert "dates" not in Interval("age", high=1.5).to_json()


def test_dates_of_a_time_zone_are_written_in_it_and_read_back():
    berlin = X.assign(signed=X["signed"].dt.tz_localize("Europe/Berlin"))
    rule = Encoder(berlin).rule([Interval("signed", high=19830 - 2 / 24)])  # two hours before midnight in UTC
    assert str(rule) == "signed ≤ 2024-04-17 00:00:00+02:00"
    assert rule.covers(berlin).tolist() == (X["signed"] <= "2024-04-17").tolist()
    assert parse_rule(str(rule), berlin) == rule
    assert Rule.from_json(rule.to_json()) == rule


def test_date_objects_are_dates_to_explainers_and_date_objects_to_the_model():
    """So pandas reads the days of a Parquet file."""
    rows = X.assign(signed=X["signed"].dt.date.astype(object).where(X["signed"].notna(), None))

    def model(table):
        assert all(value is None or type(value) is date for value in table["signed"])
        return [value is not None and value < date(2024, 4, 10) for value in table["signed"]]

    encoder = Encoder(rows)
    assert encoder.categorical == ()
    assert encoder.decode(encoder.encode(rows))["signed"].tolist() == rows["signed"].tolist()
    result = faithkit.evaluate(model, rows.iloc[:10], "tree", background=rows)
    assert result.unexplained == 0
    assert any("signed ≤ 2024-0" in str(rule) for rule in result.rows.explanations.values)
    own = zip(range(10), result.rows.explanations.values, strict=True)
    assert all(rule.covers(rows.iloc[[row]]).all() for row, rule in own)


def explain_by_ones(rows):
    """Explain every row by the same vector."""
    return np.ones((len(rows), 2))


@one_test
@pytest.mark.parametrize("explainer", [explain_by_ones, "tree:max_depth=1", "dice", "nearest-counterfactual"])
def test_pairs_of_every_kind_show_dates(explainer):
    result = faithkit.evaluate(
        Deadline(),
        X.iloc[:12],
        explainer=explainer,
        background=X.iloc[:40],
        pool=None if explainer is explain_by_ones else X.iloc[12:],
    )
    shown = str(result.contradictions(3))
    assert "00:00:00" not in shown
    assert "signed = 2024-0" in shown or "signed = missing" in shown


@pytest.fixture
def files(tmp_path):
    """The same rows in all formats, dates in CSV and JSON Lines as texts."""
    rows = X.assign(label=Y)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    rows.to_json(tmp_path / "rows.jsonl", orient="records", lines=True, date_format="iso")
    rows.to_parquet(tmp_path / "rows.parquet")
    return tmp_path


def test_a_model_of_dates_is_evaluated_alike_on_a_file_of_texts(files, monkeypatch):
    monkeypatch.setattr("faithkit.inputs.evaluation_inputs.load_model", lambda *_, **options: Deadline())
    inputs_of_files = [
        prepare(str(files / name), "label", model="forest.pkl", background=str(files / name), samples=8)
        for name in ("rows.parquet", "rows.csv", "rows.jsonl")
    ]
    for explainer in ("empirical-anchors", "nearest-neighbor"):
        whole, *others = (
            faithkit.evaluate(**inputs.evaluation_arguments(), explainer=explainer)
            for inputs in inputs_of_files
        )
        assert whole.unexplained < 5
        assert all(other.measures == whole.measures for other in others), explainer


def test_texts_that_a_model_reads_stay_texts():
    table = pd.DataFrame({"since": ["2024-01-05", "2023-07-01", None]})

    def by_year(rows):
        return rows["since"].astype(str).str[:4] > "2023"

    assert with_dates(table, lambda rows: rows["since"].str[:4].fillna("")) is table
    assert with_dates(table, lambda rows: rows["since"] == "2024-01-05").equals(with_dates(table, by_year))
    assert with_dates(table, lambda rows: rows["since"].map(type).astype(str)) is table  # answers differ
    february = pd.DataFrame({"since": ["2024-02-30"]})
    assert with_dates(february, lambda rows: rows["since"].dt.year) is february


def test_a_background_that_has_no_dates_is_refused(files, monkeypatch):
    monkeypatch.setattr("faithkit.inputs.evaluation_inputs.load_model", lambda *_, **options: Deadline())
    X.assign(signed="soon").to_csv(files / "soon.csv", index=False)
    with pytest.raises(
        faithkit.errors.InputError, match=r"column 'signed' of .*soon.csv does not hold dates"
    ):
        prepare(str(files / "rows.csv"), "label", model="forest.pkl", background=str(files / "soon.csv"))


@one_test
@pytest.mark.parametrize("model", ["gradient-boosting", "logistic", "knn"])
def test_default_models_take_dates_as_numbers(tmp_path, model):
    """One boundary between two dates is learnt, which names of days do not show."""
    days = pd.DataFrame({"signed": pd.date_range("2024-01-01", periods=300)})
    days["label"] = np.where(days["signed"] < "2024-06-01", "before", "after")
    days.to_csv(tmp_path / "days.csv", index=False)
    inputs = prepare(str(tmp_path / "days.csv"), "label", model=model)
    assert inputs.X["signed"].dtype.kind == "M"
    right = inputs.model.predict(inputs.X) == np.where(inputs.X["signed"] < "2024-06-01", "before", "after")
    assert right.mean() > 0.95
